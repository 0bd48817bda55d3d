"""Exchange between the lanes of a warp: `shfl`, `vote`, `match`, `redux`, `activemask`, `elect`.

Source: PTX ISA, "Data Movement and Conversion Instructions" (`shfl.sync`), "Parallel Synchronization and Communication
Instructions" (the others).
"""

from collections.abc import Callable

import numpy as np

from ptxsim.machine.convergence import ballot, converge
from ptxsim.machine.cta import Batch, Read, Step
from ptxsim.machine.flow import from_lane, taken, vote_of, whole_warp
from ptxsim.machine.site import Site
from ptxsim.machine.warp import LANES
from ptxsim.parsing.syntax import Immediate, Operand, Pair, Sink


def _results(operand: Operand) -> tuple[Operand, Operand]:
    """The place of the result, and of the predicate that may stand beside it, `d|p`."""
    return (operand.first, operand.second) if isinstance(operand, Pair) else (operand, Sink())


def shuffle(site: Site) -> Step:
    """`shfl.sync.mode.b32 d{|p}, a, b, c, membermask;`."""
    words = site.instruction.modifiers
    if len(words) != 3 or words[0] != "sync" or words[2] != "b32" or words[1] not in _SOURCES:
        site.unknown()
    operands = site.operands(5)
    target, valid = _results(operands[0])
    write, write_valid = site.writer(target, "b32"), site.writer(valid, "pred")
    read, offset, clamp = (site.reader(operand, "b32") for operand in operands[1:4])
    source = _source(words[1], offset, clamp, all(isinstance(operand, Immediate) for operand in operands[2:4]))

    def act(batch: Batch) -> None:
        values = np.broadcast_to(read(batch), batch.mask.shape)
        lane, inside = source(batch)
        _require_source(batch, lane)
        write(batch, taken(values, lane))
        write_valid(batch, np.broadcast_to(inside, batch.mask.shape))

    site.passes_on(operands[1:4], (target,), from_lane(lambda batch: source(batch)[0]))
    site.passes_on(operands[2:4], (valid,))
    return converge(site, act, operands[4])


def _source(mode: str, offset: Read, clamp: Read, fixed: bool) -> Callable[[Batch], tuple[np.ndarray, np.ndarray]]:
    """The reader of the lane that each lane reads, and whether that is inside of its segment.

    Shapes: [1, 32] where all warps have the same, or [n, 32]; where offset and clamp are `fixed`, it is computed once.
    """
    source_lane, known = _SOURCES[mode], []

    def source(batch: Batch) -> tuple[np.ndarray, np.ndarray]:
        if known:
            return known[0]
        steps, clamps = offset(batch).astype(np.int64) & 31, clamp(batch).astype(np.int64)
        segment, bound = clamps >> 8 & 31, clamps & 31
        most = (LANES & segment) | (bound & ~segment)
        lane, inside = source_lane(steps, segment, most)
        found = np.where(inside, lane, LANES), inside
        if fixed:
            known.append(found)
        return found

    return source


def _up(steps: np.ndarray, segment: np.ndarray, most: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    lane = LANES - steps
    return lane, lane >= most


def _down(steps: np.ndarray, segment: np.ndarray, most: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    lane = LANES + steps
    return lane, lane <= most


def _butterfly(steps: np.ndarray, segment: np.ndarray, most: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    lane = LANES ^ steps
    return lane, lane <= most


def _indexed(steps: np.ndarray, segment: np.ndarray, most: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    lane = (LANES & segment) | (steps & ~segment)
    return lane, lane <= most


_SOURCES = {"up": _up, "down": _down, "bfly": _butterfly, "idx": _indexed}


def _require_source(batch: Batch, lane: np.ndarray) -> None:
    """Report lanes that read from a lane that does not take part: what they get is undefined."""
    if batch.dense:
        return
    absent = batch.mask & ~taken(batch.mask, lane)
    if absent.any():
        batch.report("uninitialized", "a lane is read that does not take part in the shuffle", absent)


def vote(site: Site) -> Step:
    """`vote.sync.all|any|uni.pred d, {!}a, membermask;`, `vote.sync.ballot.b32 d, {!}a, membermask;`."""
    words = site.instruction.modifiers
    if words not in {*(("sync", mode, "pred") for mode in ("all", "any", "uni")), ("sync", "ballot", "b32")}:
        site.unknown()
    operands = site.operands(3)
    write, read, mode = site.writer(operands[0], words[2]), site.reader(operands[1], "pred"), words[1]
    rule = vote_of(read, deciding=mode == "any") if mode in ("all", "any") else whole_warp
    site.passes_on((operands[1],), (operands[0],), rule)

    def act(batch: Batch) -> None:
        true = np.broadcast_to(read(batch), batch.mask.shape)
        some = np.any(true & batch.mask, axis=1, keepdims=True)
        every = np.all(true | ~batch.mask, axis=1, keepdims=True)
        if mode == "ballot":
            write(batch, ballot(true & batch.mask))
        else:
            write(batch, {"all": every, "any": some, "uni": every | ~some}[mode])

    return converge(site, act, operands[2])


def match(site: Site) -> Step:
    """`match.any.sync.type d, a, membermask;`, `match.all.sync.type d{|p}, a, membermask;`."""
    words = site.instruction.modifiers
    if len(words) != 3 or words[0] not in ("any", "all") or words[1] != "sync" or words[2] not in ("b32", "b64"):
        site.unknown()
    operands = site.operands(3)
    if isinstance(operands[0], Pair) and words[0] == "any":
        site.unknown()
    target, agree = _results(operands[0])
    write, write_agree = site.writer(target, "b32"), site.writer(agree, "pred")
    read = site.reader(operands[1], words[2])
    site.passes_on((operands[1],), (target, agree), whole_warp)
    all_agree = words[0] == "all"

    def act(batch: Batch) -> None:
        values = np.broadcast_to(read(batch), batch.mask.shape)
        equal = (values[:, :, None] == values[:, None, :]) & batch.mask[:, None, :]
        bits = ballot(equal)[..., 0]
        if all_agree:
            bits = np.where(bits == ballot(batch.mask), bits, np.uint32(0))
        write(batch, bits)
        write_agree(batch, bits != 0)

    return converge(site, act, operands[2])


_REDUCTIONS: dict[tuple[str, str], tuple[np.ufunc, np.dtype]] = {
    **{("add", kind): (np.add, np.dtype(np.uint32)) for kind in ("u32", "s32")},
    **{(name, "u32"): (function, np.dtype(np.uint32)) for name, function in (("min", np.minimum), ("max", np.maximum))},
    **{(name, "s32"): (function, np.dtype(np.int32)) for name, function in (("min", np.minimum), ("max", np.maximum))},
    ("and", "b32"): (np.bitwise_and, np.dtype(np.uint32)),
    ("or", "b32"): (np.bitwise_or, np.dtype(np.uint32)),
    ("xor", "b32"): (np.bitwise_xor, np.dtype(np.uint32)),
}


def compile_redux(site: Site) -> Step:
    """`redux.sync.op.type d, a, membermask;`."""
    words = site.instruction.modifiers
    if len(words) != 3 or words[0] != "sync" or words[1:] not in _REDUCTIONS:
        site.unknown()
    operands = site.operands(3)
    function, kind = _REDUCTIONS[words[1], words[2]]
    write, read = site.writer(operands[0], words[2]), site.reader(operands[1], words[2])
    site.passes_on((operands[1],), (operands[0],), whole_warp)

    def act(batch: Batch) -> None:
        values = np.broadcast_to(read(batch), batch.mask.shape).view(kind)
        rows = [
            function.reduce(row[lanes]) if lanes.any() else kind.type(0)
            for row, lanes in zip(values, batch.mask, strict=True)
        ]
        write(batch, np.array(rows, kind).view(np.uint32)[:, None])

    return converge(site, act, operands[2])


def active_mask(site: Site) -> Step:
    """`activemask.b32 d;`."""
    if site.instruction.modifiers != ("b32",):
        site.unknown()
    (target,) = site.operands(1)
    write = site.writer(target, "b32")
    return lambda batch: write(batch, ballot(batch.mask))


def elect(site: Site) -> Step:
    """`elect.sync d|p, membermask;`: the lowest lane of the mask is the leader."""
    if site.instruction.modifiers != ("sync",):
        site.unknown()
    results, mask = site.operands(2)
    if not isinstance(results, Pair):
        site.fail("elect.sync gives a leader and a predicate: d|p")
    write, write_leads = site.writer(results.first, "b32"), site.writer(results.second, "pred")

    def act(batch: Batch) -> None:
        leader = batch.mask.argmax(axis=1)[:, None]
        write(batch, leader.astype(np.uint32))
        write_leads(batch, leader == LANES)

    return converge(site, act, mask)


HANDLERS = {
    "shfl": shuffle,
    "vote": vote,
    "match": match,
    "redux": compile_redux,
    "activemask": active_mask,
    "elect": elect,
}
