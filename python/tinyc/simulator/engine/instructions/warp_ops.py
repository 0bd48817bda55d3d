"""Exchange between the lanes of a warp: `shfl`, `vote`, `match`, `redux`, `activemask`, `elect`.

Source: PTX ISA, "Data Movement and Conversion Instructions" (`shfl.sync`), "Parallel Synchronization and Communication
Instructions" (the others).
"""

from collections.abc import Callable

import numpy as np

from tinyc.simulator.engine.batch import Batch
from tinyc.simulator.engine.definedness.flow import from_lane, taken, vote_of, whole_warp
from tinyc.simulator.engine.gather import gather, members_of
from tinyc.simulator.engine.site import Read, Site, Step
from tinyc.simulator.syntax import Immediate, Operand, Pair, Sink

_LANES = np.arange(32)
_LANE_BITS = np.uint32(1) << np.arange(32, dtype=np.uint32)
_ALL_LANES = 0xFFFFFFFF
_NO_SINK = Sink()


def _together(site: Site, mask: Operand, act: Callable[[Batch, np.ndarray], None]) -> Step:
    """Return the step that lets the lanes which `mask` names meet, and then acts: `act(batch, members [n, 32])`."""
    read, at = site.reader(mask, "b32"), site.index
    site.decides(mask, "a member mask")
    site.meets = True
    whole_warp_meets = isinstance(mask, Immediate) and mask.bits & _ALL_LANES == _ALL_LANES

    def act_with_states(batch: Batch, members: np.ndarray) -> None:
        site.when_met(batch)
        act(batch, members)

    def step(batch: Batch):
        if whole_warp_meets and batch.dense:
            return act_with_states(batch, batch.mask)
        members = members_of(batch, read(batch))
        there = gather(batch, at, members)
        if there is None:
            return True
        if there is batch:
            _require_membership(batch, members)
            act_with_states(batch, members)
            return None
        members = members_of(there, read(there))
        _require_membership(there, members)
        act_with_states(there, members)
        there.proceed(at + 1)
        return True

    return step


def _require_membership(batch: Batch, members: np.ndarray) -> None:
    outside = batch.mask & ~members
    if outside.any():
        batch.report("barrier-divergence", "lanes execute this that its member mask does not name", outside)


def _ballot(lanes: np.ndarray) -> np.ndarray:
    """Return the lanes of each warp as bits: [n, 32] bool to [n, 1] u32."""
    return np.where(lanes, _LANE_BITS, np.uint32(0)).sum(axis=1, dtype=np.uint32, keepdims=True)


def shuffle(site: Site) -> Step:
    """`shfl.sync.mode.b32 d{|p}, a, b, c, membermask;`."""
    words, operands = site.instruction.modifiers, site.instruction.operands
    if len(words) != 3 or words[0] != "sync" or words[2] != "b32" or words[1] not in _SOURCES or len(operands) != 5:
        site.unknown()
    target, valid = (
        (operands[0].first, operands[0].second) if isinstance(operands[0], Pair) else (operands[0], _NO_SINK)
    )
    write, write_valid = site.writer(target, "b32"), site.writer(valid, "pred")
    read, offset, clamp = (site.reader(operand, "b32") for operand in operands[1:4])
    source = _source(words[1], offset, clamp, all(isinstance(operand, Immediate) for operand in operands[2:4]))

    def act(batch: Batch, members: np.ndarray) -> None:
        values = np.broadcast_to(read(batch), batch.mask.shape)
        lane, inside = source(batch)
        _require_source(batch, members, lane)
        write(batch, taken(values, lane))
        write_valid(batch, np.broadcast_to(inside, batch.mask.shape))

    site.passes_on(operands[1:4], (target,), from_lane(lambda batch: source(batch)[0]))
    site.passes_on(operands[2:4], (valid,))
    return _together(site, operands[4], act)


def _source(mode: str, offset: Read, clamp: Read, fixed: bool) -> Callable[[Batch], tuple[np.ndarray, np.ndarray]]:
    """Return how to get the lane that each lane reads, and whether that is inside of its segment.

    Shapes: [1, 32] where all warps have the same, or [n, 32]; where offset and clamp are `fixed`, it is computed once.
    """
    source_lane, known = _SOURCES[mode], []

    def source(batch: Batch) -> tuple[np.ndarray, np.ndarray]:
        if known:
            return known[0]
        steps, clamps = offset(batch).astype(np.int64) & 31, clamp(batch).astype(np.int64)
        segment, bound = clamps >> 8 & 31, clamps & 31
        most = (_LANES & segment) | (bound & ~segment)
        lane, inside = source_lane(steps, segment, most)
        found = np.where(inside, lane, _LANES), inside
        if fixed:
            known.append(found)
        return found

    return source


def _up(steps: np.ndarray, segment: np.ndarray, most: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    lane = _LANES - steps
    return lane, lane >= most


def _down(steps: np.ndarray, segment: np.ndarray, most: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    lane = _LANES + steps
    return lane, lane <= most


def _butterfly(steps: np.ndarray, segment: np.ndarray, most: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    lane = _LANES ^ steps
    return lane, lane <= most


def _indexed(steps: np.ndarray, segment: np.ndarray, most: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    lane = (_LANES & segment) | (steps & ~segment)
    return lane, lane <= most


_SOURCES = {"up": _up, "down": _down, "bfly": _butterfly, "idx": _indexed}


def _require_source(batch: Batch, members: np.ndarray, lane: np.ndarray) -> None:
    """Report lanes that read from a lane that does not take part: what they get is undefined."""
    if batch.dense:
        return
    absent = batch.mask & ~taken(batch.mask, lane)
    if absent.any():
        batch.report("uninitialized", "a lane is read that does not take part in the shuffle", absent)


def vote(site: Site) -> Step:
    """`vote.sync.all|any|uni.pred d, {!}a, membermask;`, `vote.sync.ballot.b32 d, {!}a, membermask;`."""
    words, operands = site.instruction.modifiers, site.instruction.operands
    if words not in {*(("sync", mode, "pred") for mode in ("all", "any", "uni")), ("sync", "ballot", "b32")}:
        site.unknown()
    if len(operands) != 3:
        site.unknown()
    write, read, mode = site.writer(operands[0], words[2]), site.reader(operands[1], "pred"), words[1]
    rule = vote_of(read, deciding=mode == "any") if mode in ("all", "any") else whole_warp
    site.passes_on((operands[1],), (operands[0],), rule)

    def act(batch: Batch, members: np.ndarray) -> None:
        true = np.broadcast_to(read(batch), batch.mask.shape)
        some = np.any(true & batch.mask, axis=1, keepdims=True)
        every = np.all(true | ~batch.mask, axis=1, keepdims=True)
        if mode == "ballot":
            write(batch, _ballot(true & batch.mask))
        else:
            write(batch, {"all": every, "any": some, "uni": every | ~some}[mode])

    return _together(site, operands[2], act)


def match(site: Site) -> Step:
    """`match.any.sync.type d, a, membermask;`, `match.all.sync.type d{|p}, a, membermask;`."""
    words, operands = site.instruction.modifiers, site.instruction.operands
    if len(words) != 3 or words[0] not in ("any", "all") or words[1] != "sync" or words[2] not in ("b32", "b64"):
        site.unknown()
    if len(operands) != 3 or (isinstance(operands[0], Pair) and words[0] == "any"):
        site.unknown()
    target, agree = (
        (operands[0].first, operands[0].second) if isinstance(operands[0], Pair) else (operands[0], _NO_SINK)
    )
    write, write_agree = site.writer(target, "b32"), site.writer(agree, "pred")
    read = site.reader(operands[1], words[2])
    site.passes_on((operands[1],), (target, agree), whole_warp)
    all_agree = words[0] == "all"

    def act(batch: Batch, members: np.ndarray) -> None:
        values = np.broadcast_to(read(batch), batch.mask.shape)
        equal = (values[:, :, None] == values[:, None, :]) & batch.mask[:, None, :]
        bits = np.where(equal, _LANE_BITS, np.uint32(0)).sum(axis=2, dtype=np.uint32)
        if all_agree:
            bits = np.where(bits == _ballot(batch.mask), bits, np.uint32(0))
        write(batch, bits)
        write_agree(batch, bits != 0)

    return _together(site, operands[2], act)


_REDUCTIONS: dict[tuple[str, str], tuple[np.ufunc, np.dtype]] = {
    **{("add", kind): (np.add, np.dtype(np.uint32)) for kind in ("u32", "s32")},
    **{(name, "u32"): (function, np.dtype(np.uint32)) for name, function in (("min", np.minimum), ("max", np.maximum))},
    **{(name, "s32"): (function, np.dtype(np.int32)) for name, function in (("min", np.minimum), ("max", np.maximum))},
    ("and", "b32"): (np.bitwise_and, np.dtype(np.uint32)),
    ("or", "b32"): (np.bitwise_or, np.dtype(np.uint32)),
    ("xor", "b32"): (np.bitwise_xor, np.dtype(np.uint32)),
}


def reduce(site: Site) -> Step:
    """`redux.sync.op.type d, a, membermask;`."""
    words, operands = site.instruction.modifiers, site.instruction.operands
    if len(words) != 3 or words[0] != "sync" or words[1:] not in _REDUCTIONS or len(operands) != 3:
        site.unknown()
    function, kind = _REDUCTIONS[words[1], words[2]]
    write, read = site.writer(operands[0], words[2]), site.reader(operands[1], words[2])
    site.passes_on((operands[1],), (operands[0],), whole_warp)

    def act(batch: Batch, members: np.ndarray) -> None:
        values = np.broadcast_to(read(batch), batch.mask.shape).view(kind)
        rows = [
            function.reduce(row[lanes]) if lanes.any() else kind.type(0)
            for row, lanes in zip(values, batch.mask, strict=True)
        ]
        write(batch, np.array(rows, kind).view(np.uint32)[:, None])

    return _together(site, operands[2], act)


def active_mask(site: Site) -> Step:
    """`activemask.b32 d;`."""
    if site.instruction.modifiers != ("b32",) or len(site.instruction.operands) != 1:
        site.unknown()
    write = site.writer(site.instruction.operands[0], "b32")
    return lambda batch: write(batch, _ballot(batch.mask))


def elect(site: Site) -> Step:
    """`elect.sync d|p, membermask;`: the lowest lane of the mask is the leader."""
    operands = site.instruction.operands
    if site.instruction.modifiers != ("sync",) or len(operands) != 2 or not isinstance(operands[0], Pair):
        site.unknown()
    write, write_leads = site.writer(operands[0].first, "b32"), site.writer(operands[0].second, "pred")

    def act(batch: Batch, members: np.ndarray) -> None:
        leader = batch.mask.argmax(axis=1)[:, None]
        write(batch, leader.astype(np.uint32))
        write_leads(batch, leader == _LANES)

    return _together(site, operands[1], act)


HANDLERS = {
    "shfl": shuffle,
    "vote": vote,
    "match": match,
    "redux": reduce,
    "activemask": active_mask,
    "elect": elect,
}
