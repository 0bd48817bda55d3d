"""Compiles flat code: a closure for each instruction, and the straight runs between places where threads may converge.

In: `code.Code`. Out: `Executable`, which every launch of the kernel shares.
"""

import numpy as np

from ptxsim.definedness.assignment import analyse
from ptxsim.definedness.steps import Definedness
from ptxsim.engine.barrier_marks import barrier_marks
from ptxsim.engine.executable import Executable
from ptxsim.engine.handlers import HANDLERS
from ptxsim.instructions.arithmetic import arithmetic_step
from ptxsim.instructions.control import CONTROL
from ptxsim.linking.code import Code
from ptxsim.machine.cta import Batch, Step
from ptxsim.machine.rounds import marked
from ptxsim.machine.site import Site
from ptxsim.wgmma.registers import watched


def compile_code(code: Code) -> Executable:
    """The kernel as closures.

    Raises:
        PtxError: an instruction, modifier or operand that the simulator does not know, with its line.
    """
    sites = [Site(instruction, index, code) for index, instruction in enumerate(code.instructions)]
    steps = watched(sites, [_step(site) for site in sites])
    starts = [routine.start for routine in code.routines.values() if routine.start >= 0]
    assignment = analyse(sites, code.kernel.start)
    definedness = Definedness(assignment)
    steps = [definedness.step(site, step) for site, step in zip(sites, steps, strict=True)]
    guarded = [definedness.guard(site, _guarded(site, step)) for site, step in zip(sites, steps, strict=True)]
    for site in sites:
        site.forget_flows()
    after_return = {site.index: site.after_return for site in sites if site.after_return is not None}
    run_end = _run_ends(sites, starts)
    steps = [*guarded, _fall_off]
    for at, marks in barrier_marks(sites, run_end).items():
        steps[at] = marked(steps[at], marks)
    return Executable(code, steps, run_end, after_return, assignment.tracked, sites)


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
    """For each instruction where its straight run ends: after control flow, and before what is jumped to."""
    leaders = {target for site in sites for target in site.targets} | set(starts)
    leaders |= {site.index + 1 for site in sites if site.instruction.opcode in CONTROL}
    ends = [len(sites) + 1] * (len(sites) + 1)
    for index in range(len(sites) - 1, -1, -1):
        ends[index] = index + 1 if index + 1 in leaders else ends[index + 1]
    return ends


def _guarded(site: Site, step: Step) -> Step:
    """The instruction with its guard: lanes for which it is off do nothing."""
    guard = site.instruction.guard
    if guard is None or site.instruction.opcode == "bra":
        return step
    read, negated, following = site.reader(guard.register, "pred"), guard.negated, site.index + 1

    def guarded(batch: Batch) -> bool | None:
        chosen = read(batch)
        mask = batch.mask & (~chosen if negated else chosen)
        count = np.count_nonzero(mask)
        if not count:
            return None
        if count == np.count_nonzero(batch.mask):
            return step(batch)
        if step(batch.narrowed(mask)):
            batch.narrowed(batch.mask & ~mask).proceed(following)
            return True
        return None

    return guarded
