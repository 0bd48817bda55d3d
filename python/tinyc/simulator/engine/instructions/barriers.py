"""The barriers of a CTA: `bar`, `barrier`, and `bar.warp.sync`; the barrier of a cluster is `cluster_barrier`'s.

A barrier counts threads. Aligned forms count whole warps, whose lanes must all come to the same instruction; where they
cannot, the finding is `barrier-divergence`, and the barrier takes what has come. Source: PTX ISA, "Parallel
Synchronization and Communication Instructions": `bar`, `barrier`, `bar.warp.sync`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from tinyc.simulator.engine.batch import Batch
from tinyc.simulator.engine.cta import WARP, Cta, Wait
from tinyc.simulator.engine.gather import gather, members_of
from tinyc.simulator.engine.instructions import cluster_barrier
from tinyc.simulator.engine.mbarrier.objects import mbarriers
from tinyc.simulator.engine.observer import Phase
from tinyc.simulator.engine.site import Read, Site, Step
from tinyc.simulator.syntax import Negated, Operand, Slot

_BARRIERS = 16
_REDUCTIONS = ("popc", "and", "or")


@dataclass(eq=False)
class Barrier:
    """One `phase` of a barrier: who has come, how many threads it takes (None: all of the CTA), who waits."""

    number: int
    expected: int | None
    at: int
    phase: Phase
    count: int = 0
    lanes: np.ndarray = field(default_factory=lambda: np.zeros((0, WARP), bool))
    true_lanes: int = 0
    wait: Wait | None = None
    results: list[Callable[[int, bool], None]] = field(default_factory=list)


@dataclass(frozen=True)
class Form:
    """One barrier instruction; `count` is None where all threads of the CTA take part."""

    at: int
    waits: bool
    aligned: bool
    number: Read
    count: Read | None
    predicate: Read | None = None
    finish: Callable[[Batch, int, bool], None] | None = None


def barrier(site: Site) -> Step:
    """`bar{.cta}.sync a{, b};` and its kin, `bar.warp.sync mask;`, `barrier.cluster.…`."""
    words = list(site.instruction.modifiers)
    if words[:1] == ["warp"]:
        return _warp_barrier(site)
    if words[:1] == ["cluster"]:
        return cluster_barrier.cluster_barrier(site)
    if words[:1] == ["cta"]:
        del words[0]
    aligned = site.instruction.opcode == "bar"
    if "aligned" in words and not aligned:
        words.remove("aligned")
        aligned = True
    if words in (["sync"], ["arrive"]):
        return _step(_plain(site, words[0] == "sync", aligned))
    if len(words) == 3 and words[0] == "red" and words[1] in _REDUCTIONS:
        return _step(_reduction(site, words[1], words[2], aligned))
    site.unknown()


def _plain(site: Site, waits: bool, aligned: bool) -> Form:
    operands = site.instruction.operands
    if len(operands) not in ((1, 2) if waits else (2,)):
        site.fail("a barrier takes its number and, where not all threads of the CTA take part, their count")
    count = site.reader(operands[1], "u32") if len(operands) == 2 else None
    return Form(site.index, waits, aligned, _number(site, operands[0]), count)


def _reduction(site: Site, kind: str, type_name: str, aligned: bool) -> Form:
    operands = site.instruction.operands
    if type_name != ("u32" if kind == "popc" else "pred") or len(operands) not in (3, 4):
        site.unknown()
    write = site.writer(operands[0], type_name)
    source = operands[-1]
    if not isinstance(source, Slot | Negated):
        site.fail("a predicate is expected")

    def finish(batch: Batch, true_lanes: int, every: bool) -> None:
        value = np.uint32(true_lanes) if kind == "popc" else np.bool_(every if kind == "and" else true_lanes > 0)
        write(batch, np.full((1, 1), value))

    count = site.reader(operands[2], "u32") if len(operands) == 4 else None
    return Form(site.index, True, aligned, _number(site, operands[1]), count, site.reader(source, "pred"), finish)


def _number(site: Site, operand: Operand) -> Read:
    return site.reader(operand, "u32")


def _step(form: Form) -> Step:
    def step(batch: Batch):
        there: Batch | None = batch
        if form.aligned:
            there = gather(batch, form.at, np.ones_like(batch.mask))
        if there is not None:
            _arrive_all(form, there)
        return True

    return step


def _arrive_all(form: Form, batch: Batch) -> None:
    """Let the lanes arrive, those of each barrier number and thread count together."""
    batch.proceed(form.at + 1)
    numbers, counts = form.number(batch), form.count(batch) if form.count else np.zeros((1, 1), np.uint32)
    if numbers.size == counts.size == 1:
        _arrive_at(form, batch, int(numbers[0, 0]), int(counts[0, 0]))
        return
    numbers, counts = (np.broadcast_to(each, batch.mask.shape) for each in (numbers, counts))
    for number, count in {(int(n), int(c)) for n, c in zip(numbers[batch.mask], counts[batch.mask], strict=True)}:
        lanes = batch.mask & (numbers == number) & (counts == count)
        _arrive_at(form, batch if (lanes == batch.mask).all() else batch.narrowed(lanes), number, count)


def _arrive_at(form: Form, batch: Batch, number: int, count: int) -> None:
    """Let lanes arrive at one barrier; warps that are more than its phase lacks come one after the other."""
    if number >= _BARRIERS:
        batch.report("barrier-divergence", f"there is no barrier {number}; a CTA has {_BARRIERS}")
    elif form.count and _overfills(batch, number, count):
        for warp in np.flatnonzero(batch.mask.any(axis=1)).tolist():
            lanes = batch.mask & (np.arange(len(batch.mask)) == warp)[:, None]
            _arrive(form, batch.narrowed(lanes), number, count)
    else:
        _arrive(form, batch, number, count if form.count else None)


def _overfills(batch: Batch, number: int, count: int) -> bool:
    """Return whether the warps of a batch are more than the current phase of a barrier lacks."""
    known = batch.cta.barriers.get(number)
    return WARP * int(batch.mask.any(axis=1).sum()) + (known.count if known else 0) > count


def _arrive(form: Form, batch: Batch, number: int, expected: int | None) -> None:
    cta = batch.cta
    if expected is not None and (expected == 0 or expected % WARP):
        batch.report("barrier-divergence", f"barrier {number} is given {expected} threads, which are no whole warps")
        return
    state = cta.barriers.get(number)
    if state is None:
        phases = cta.extensions.setdefault("barrier phases", {})
        phases[number] = phases.get(number, 0) + 1
        phase = Phase("barrier", cta, number, phases[number])
        state = Barrier(number, expected, form.at, phase, lanes=cta.no_lanes())
        cta.barriers[number] = state
    elif _total(cta, state.expected) != _total(cta, expected):
        text = (
            f"barrier {number} is for {_total(cta, expected)} threads here, for {_total(cta, state.expected)} elsewhere"
        )
        batch.report("barrier-divergence", text)
    _count(form, batch, state)
    if state.count < _total(cta, state.expected):
        return
    if state.count > _total(cta, state.expected):
        batch.report("barrier-divergence", f"more than {_total(cta, state.expected)} threads come to barrier {number}")
    _complete(cta, state)


def _total(cta: Cta, expected: int | None) -> int:
    return cta.launch.thread_count if expected is None else expected


def _count(form: Form, batch: Batch, state: Barrier) -> None:
    """Add the lanes of `batch` to a barrier; aligned forms count warps, whatever lanes they have."""
    cta = batch.cta
    came = cta.no_lanes()
    came[batch.warps] = batch.mask
    state.lanes |= came
    rows = batch.warps[batch.mask.any(axis=1)]
    if not form.aligned:
        state.count += int(batch.mask.sum())
    elif state.expected is None:
        state.count += int(cta.alive[rows].sum())
    else:
        state.count += WARP * len(rows)
    cta.launch.observer.arrived(cta, state.phase, came)
    if form.predicate is not None:
        state.true_lanes += int((form.predicate(batch) & batch.mask).sum())
    if form.finish is not None:
        finish = form.finish
        state.results.append(lambda true_lanes, every: finish(batch, true_lanes, every))
    if form.waits:
        if state.wait is None:
            state.wait = Wait(cta.no_lanes(), form.at, f"barrier {state.number}")
        cta.block(batch, form.at + 1, state.wait)


def _complete(cta: Cta, state: Barrier) -> None:
    """End the phase: results are written, who waits goes on."""
    del cta.barriers[state.number]
    for result in state.results:
        result(state.true_lanes, state.true_lanes == int(state.lanes.sum()))
    if state.wait is not None:
        cta.launch.observer.departed(cta, state.phase, state.wait.lanes)
    if state.wait is not None:
        cta.release(state.wait)
    cta.launch.barriers += 1
    cta.launch.progress += not cta.launch.watched


def resolve_stall(cta: Cta, last_resort: bool = False) -> bool:
    """Let a CTA none of whose threads can run go on where a barrier is misused; return whether it can.

    While a thread waits for what another CTA may do, it may still come to the barrier that the others of its warp are
    at; `last_resort` says that no CTA can run.
    """
    if _take_without_exited(cta) or cluster_barrier.resolve_exits(cta):
        return True
    waits_outside = mbarriers(cta).has_waiters or cluster_barrier.has_waiters(cta)
    return (last_resort or not waits_outside) and _take_partial_warps(cta)


def _take_partial_warps(cta: Cta) -> bool:
    """Let lanes that wait at an aligned barrier for the rest of their warp arrive without it."""
    for at, lanes in sorted(cta.gathering.items()):
        instruction = cta.launch.program.code.instructions[at]
        if instruction.opcode in ("bar", "barrier") and "warp" not in instruction.modifiers:
            message = "only a part of the warp comes to this barrier"
            cta.launch.findings.add("barrier-divergence", message, cta, at, lanes)
            cta.partial.add(at)
            cta.ready |= lanes
            del cta.gathering[at]
            return True
    return False


def _take_without_exited(cta: Cta) -> bool:
    """Complete a barrier of all threads for which every thread has come that has not exited."""
    for state in list(cta.barriers.values()):
        gone = cta.exists & ~cta.alive & ~state.lanes
        if state.expected is None and gone.any() and not (cta.alive & ~state.lanes).any():
            message = f"barrier {state.number} is for all threads of the CTA, and these have exited without it"
            cta.launch.findings.add("barrier-divergence", message, cta, state.at, gone)
            _complete(cta, state)
            return True
    return False


def _warp_barrier(site: Site) -> Step:
    if site.instruction.modifiers != ("warp", "sync") or len(site.instruction.operands) != 1:
        site.unknown()
    read, at = site.reader(site.instruction.operands[0], "u32"), site.index

    def step(batch: Batch):
        members = members_of(batch, read(batch))
        there = gather(batch, at, members)
        if there is None:
            return True
        masks = np.broadcast_to(read(there), there.mask.shape)
        for mask in np.unique(masks[there.mask]).tolist():
            batch.launch.observer.gathered(there, there.mask & (masks == mask))
        there.proceed(at + 1)
        return True

    return step


HANDLERS = {"bar": barrier, "barrier": barrier}
