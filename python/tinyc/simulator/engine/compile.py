"""Compiles flat code: a closure for each instruction, and the straight runs between places where threads may meet.

In: `code.Code`. Out: `Executable`, which every launch of the kernel shares.
"""

from dataclasses import dataclass, field

import numpy as np

from tinyc.simulator.code import Code
from tinyc.simulator.engine.arithmetic import arithmetic_step
from tinyc.simulator.engine.assignment import Assignment, analyse
from tinyc.simulator.engine.batch import Batch
from tinyc.simulator.engine.control import CONTROL
from tinyc.simulator.engine.handlers import HANDLERS
from tinyc.simulator.engine.site import Site, Step


@dataclass(frozen=True)
class Executable:
    """A kernel as closures: `steps[pc]`, `run_end[pc]` (where the straight run that `pc` is in ends), calls' ends."""

    code: Code
    steps: list[Step]
    run_end: list[int]
    after_return: dict[int, Step]
    tracked: frozenset[int]
    _runs: dict[int, tuple[tuple[int, Step], ...]] = field(default_factory=dict)

    @property
    def entry(self) -> int:
        """The first instruction of the kernel."""
        return self.code.kernel.start

    def run(self, start: int) -> tuple[tuple[int, Step], ...]:
        """Return the instructions from `start` on that threads execute without looking for others."""
        if start not in self._runs:
            self._runs[start] = tuple((at, self.steps[at]) for at in range(start, self.run_end[start]))
        return self._runs[start]


def compile_code(code: Code) -> Executable:
    """Return the kernel as closures.

    Raises:
        PtxError: an instruction, modifier or operand that the simulator does not know, with its line.
    """
    sites = [Site(instruction, index, code) for index, instruction in enumerate(code.instructions)]
    steps = [_step(site) for site in sites]
    starts = [routine.start for routine in code.routines.values() if routine.start >= 0]
    assignment = analyse(sites, code.kernel.start)
    if assignment.tracked:
        steps = [_tracked(site, step, assignment) for site, step in zip(sites, steps, strict=True)]
    guarded = [_guarded(site, step, assignment) for site, step in zip(sites, steps, strict=True)]
    after_return = {site.index: site.after_return for site in sites if site.after_return is not None}
    return Executable(code, [*guarded, _fall_off], _run_ends(sites, starts), after_return, assignment.tracked)


def _step(site: Site) -> Step:
    handler = HANDLERS.get(site.instruction.opcode)
    if handler is not None:
        return handler(site)
    step = arithmetic_step(site)
    if step is None:
        site.unknown()
    return step


def _fall_off(batch: Batch) -> bool:
    """End the threads: a kernel without `ret` has come to its end."""
    batch.cta.exit(batch)
    return True


def _run_ends(sites: list[Site], starts: list[int]) -> list[int]:
    """Return for each instruction where its straight run ends: after control flow, and before what is jumped to."""
    leaders = {target for site in sites for target in site.targets} | set(starts)
    leaders |= {site.index + 1 for site in sites if site.instruction.opcode in CONTROL}
    ends = [len(sites) + 1] * (len(sites) + 1)
    for index in range(len(sites) - 1, -1, -1):
        ends[index] = index + 1 if index + 1 in leaders else ends[index + 1]
    return ends


def _guarded(site: Site, step: Step, assignment: Assignment) -> Step:
    """Return the instruction with its guard: lanes for which it is off do nothing."""
    guard = site.instruction.guard
    if guard is None or site.instruction.opcode == "bra":
        return step
    read, negated, following = site.reader(guard.register, "pred"), guard.negated, site.index + 1

    def guarded(batch: Batch):
        chosen = read(batch)
        mask = batch.mask & (~chosen if negated else chosen)
        if not mask.any():
            return None
        if (mask == batch.mask).all():
            return step(batch)
        if step(batch.narrowed(mask)):
            batch.narrowed(batch.mask & ~mask).proceed(following)
            return True
        return None

    return guarded


def _tracked(site: Site, step: Step, assignment: Assignment) -> Step:
    """Return the instruction with a look at registers that may not be written, and a note of those it writes."""
    unsure = sorted(assignment.unsure.get(site.index, ()))
    writes = sorted(site.writes & assignment.tracked)
    if not unsure and not writes:
        return step
    sources = {slot: sorted(site.copies.get(slot, ())) for slot in writes}

    def tracked(batch: Batch):
        written = batch.cta.written
        for slot in unsure:
            missing = batch.mask & ~batch.select(written[slot])
            if missing.any():
                name = site.code.slots[slot].name
                batch.report("uninitialized", f"register '{name}' is read and was never written", missing)
                batch.narrowed(missing).update(written[slot], True)
        result = step(batch)
        for slot in writes:
            batch.update(written[slot], _copied(batch, written, sources[slot]))
        return result

    return tracked


def _copied(batch: Batch, written: dict[int, np.ndarray], sources: list[int]) -> "np.ndarray | bool":
    if not sources or any(source not in written for source in sources):
        return True
    return np.logical_or.reduce([batch.select(written[source]) for source in sources])
