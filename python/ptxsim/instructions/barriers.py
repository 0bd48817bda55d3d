"""The barriers of a CTA: `bar`, `barrier`, and `bar.warp.sync`; the barrier of a cluster is `cluster_barrier`'s.

A barrier counts threads. Aligned forms count whole warps, whose lanes must all come to the same instruction in the same
round, and so must all warps where the barrier is one of the whole CTA; warps at a barrier with a thread count may be at
several ("Different warps may execute different forms"). Otherwise the finding is `barrier-divergence`, and the barrier
takes what has come. Source: PTX ISA, "Parallel Synchronization and Communication Instructions": `bar`, `barrier`,
`bar.warp.sync`.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ptxsim.instructions import cluster_barrier
from ptxsim.machine.convergence import converge, converge_warps
from ptxsim.machine.cta import Batch, Cta, Read, Step, Wait
from ptxsim.machine.findings import OTHER_LINES
from ptxsim.machine.observer import Other, Phase
from ptxsim.machine.rounds import check_rounds
from ptxsim.machine.site import Site
from ptxsim.machine.warp import WARP
from ptxsim.mbarrier.objects import mbarriers
from ptxsim.parsing.syntax import Instruction, Negated, Operand, Slot

_BARRIERS = 16
_REDUCTIONS = ("popc", "and", "or")


@dataclass(eq=False)
class _Open:
    """The `phase` that a barrier is in: who has come, how many threads it takes (None: all of the CTA), who waits.

    `at` is the instruction to which the first have come, and `aligned` what it says; `apart`: others came to another.
    """

    number: int
    expected: int | None
    at: int
    aligned: bool
    phase: Phase
    lanes: np.ndarray
    apart: bool = False
    count: int = 0
    true_lanes: int = 0
    wait: Wait | None = None
    results: list[Callable[[int, bool], None]] = field(default_factory=list)


class _Barriers:
    """The barriers of a CTA, by their number: the phases to which threads have come, and how many each has had."""

    def __init__(self, cta: Cta) -> None:
        self.open: dict[int, _Open] = {}
        self.phases: Counter[int] = Counter()


@dataclass(frozen=True)
class _Awaited:
    """What the threads at a barrier wait for, as a finding says it."""

    cta: Cta
    state: _Open

    def __str__(self) -> str:
        count, total = self.state.count, _total(self.cta, self.state.expected)
        return f"barrier {self.state.number} ({count} of {total} threads have arrived)"


@dataclass(frozen=True)
class _Form:
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


def _plain(site: Site, waits: bool, aligned: bool) -> _Form:
    operands = site.operands(*((1, 2) if waits else (2,)))
    count = site.reader(operands[1], "u32") if len(operands) == 2 else None
    return _Form(site.index, waits, aligned, _number(site, operands[0]), count)


def _reduction(site: Site, kind: str, type_name: str, aligned: bool) -> _Form:
    if type_name != ("u32" if kind == "popc" else "pred"):
        site.unknown()
    operands = site.operands(3, 4)
    write = site.writer(operands[0], type_name)
    source = operands[-1]
    if not isinstance(source, Slot | Negated):
        site.fail("a predicate is expected")

    def finish(batch: Batch, true_lanes: int, every: bool) -> None:
        value = np.uint32(true_lanes) if kind == "popc" else np.bool_(every if kind == "and" else true_lanes > 0)
        write(batch, np.full((1, 1), value))

    count = site.reader(operands[2], "u32") if len(operands) == 4 else None
    return _Form(site.index, True, aligned, _number(site, operands[1]), count, site.reader(source, "pred"), finish)


def _number(site: Site, operand: Operand) -> Read:
    return site.reader(operand, "u32")


def _step(form: _Form) -> Step:
    def step(batch: Batch) -> bool:
        there = converge_warps(batch, form.at) if form.aligned else batch
        if there is not None:
            _arrive_all(form, there)
        return True

    return step


def _arrive_all(form: _Form, batch: Batch) -> None:
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


def _arrive_at(form: _Form, batch: Batch, number: int, count: int) -> None:
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
    """Whether the warps of a batch are more than the current phase of a barrier lacks."""
    known = batch.cta.state_of(_Barriers).open.get(number)
    return WARP * int(batch.mask.any(axis=1).sum()) + (known.count if known else 0) > count


def _arrive(form: _Form, batch: Batch, number: int, expected: int | None) -> None:
    cta = batch.cta
    if expected is not None and (expected == 0 or expected % WARP):
        batch.report("barrier-divergence", f"barrier {number} is given {expected} threads, which are no whole warps")
        return
    barriers = cta.state_of(_Barriers)
    state = barriers.open.get(number)
    if state is None:
        barriers.phases[number] += 1
        phase = Phase("barrier", cta, number, barriers.phases[number])
        state = barriers.open[number] = _Open(number, expected, form.at, form.aligned, phase, cta.no_lanes())
    elif _total(cta, state.expected) != _total(cta, expected):
        text = (
            f"barrier {number} is for {_total(cta, expected)} threads here, for {_total(cta, state.expected)} elsewhere"
        )
        batch.report("barrier-divergence", text)
    elif expected is None and form.at != state.at and (form.aligned or state.aligned):
        state.apart = True
        text = f"all threads of the CTA must be at one aligned barrier; some are at number {number} at {OTHER_LINES}"
        other = Other(state.at, cta.number, int(np.flatnonzero(state.lanes)[0]))
        cta.report("barrier-divergence", text, form.at, batch.in_cta(), other=other)
    _count(form, batch, state)
    if state.count < _total(cta, state.expected):
        return
    if state.count > _total(cta, state.expected):
        batch.report("barrier-divergence", f"more than {_total(cta, state.expected)} threads come to barrier {number}")
    _complete(cta, state)


def _total(cta: Cta, expected: int | None) -> int:
    return cta.launch.thread_count if expected is None else expected


def _count(form: _Form, batch: Batch, state: _Open) -> None:
    """Add the lanes of `batch` to a barrier; aligned forms count warps, whatever lanes they have."""
    cta = batch.cta
    came = batch.in_cta()
    state.lanes |= came
    rows = batch.warps[batch.mask.any(axis=1)]
    if not form.aligned:
        state.count += int(batch.mask.sum())
    elif state.expected is None:
        state.count += int(cta.alive[rows].sum())
    else:
        state.count += WARP * len(rows)
        check_rounds(cta, form.at, came, batch.whole_warps(), "warp")
    cta.launch.observer.arrived(cta, state.phase, came)
    if form.predicate is not None:
        state.true_lanes += int((form.predicate(batch) & batch.mask).sum())
    if form.finish is not None:
        finish = form.finish
        state.results.append(lambda true_lanes, every: finish(batch, true_lanes, every))
    if form.waits:
        if state.wait is None:
            state.wait = Wait(cta.no_lanes(), form.at, _Awaited(cta, state))
        cta.block(batch, form.at + 1, state.wait)


def _complete(cta: Cta, state: _Open) -> None:
    """End the phase: results are written, who waits goes on."""
    if state.expected is None and state.aligned and not state.apart:
        check_rounds(cta, state.at, state.lanes, cta.exists, "CTA")
    del cta.state_of(_Barriers).open[state.number]
    for result in state.results:
        result(state.true_lanes, state.true_lanes == int(state.lanes.sum()))
    if state.wait is not None:
        cta.launch.observer.departed(cta, state.phase, state.wait.lanes)
        cta.release(state.wait)
        state.wait = None
    cta.launch.barriers += 1
    cta.launch.progress += not cta.launch.watched


def resolve_stall(cta: Cta, last_resort: bool = False) -> bool:
    """Let a CTA none of whose threads can run go on where a barrier is misused; return whether it can.

    While a thread waits for what another CTA may do, it may still come to the barrier that the others of its warp are
    at; `last_resort` says that no CTA can run.
    """
    if _release_by_exits(cta) or cluster_barrier.resolve_exits(cta):
        return True
    waits_outside = mbarriers(cta).has_waiters or cluster_barrier.has_waiters(cta)
    return (last_resort or not waits_outside) and _take_partial_warps(cta)


def _take_partial_warps(cta: Cta) -> bool:
    """Let lanes that wait at an aligned barrier for the rest of their warp arrive without it."""
    for at, members in sorted(cta.converging.items()):
        instruction = cta.launch.code.instructions[at]
        if instruction.opcode in ("bar", "barrier") and not _is_warp_barrier(instruction):
            lanes = members != 0
            message = "only a part of the warp comes to this barrier"
            cta.report("barrier-divergence", message, at, lanes)
            cta.partial.add(at)
            cta.repeat(lanes)
            del cta.converging[at]
            return True
    return False


def _release_by_exits(cta: Cta) -> bool:
    """Complete a barrier of all threads that only threads which have exited hold up. Source: PTX ISA, `exit`."""
    for state in list(cta.state_of(_Barriers).open.values()):
        if state.expected is None and not (cta.alive & ~state.lanes).any():
            _complete(cta, state)
            return True
    return False


def _warp_barrier(site: Site) -> Step:
    """`bar.warp.sync mask;`: lanes with one mask converge, at whichever of these barriers each of them is."""
    if site.instruction.modifiers != ("warp", "sync"):
        site.unknown()
    (mask,) = site.operands(1)
    place = next(at for at, other in enumerate(site.code.instructions) if _is_warp_barrier(other))
    return converge(site, lambda batch: batch.launch.observer.converged(batch, batch.mask), mask, place)


def _is_warp_barrier(instruction: Instruction) -> bool:
    return instruction.opcode in ("bar", "barrier") and instruction.modifiers[:1] == ("warp",)


HANDLERS = {"bar": barrier, "barrier": barrier}
