"""`tgpu.reduce_rows` for one thread: its part of each phase of a step, and what the threads of a step exchange.

A thread combines what it takes, in the order of its turns; lanes of a warp combine theirs by shuffles, and warps by
shared memory: always in the same order.
"""

import functools

from tinyc.analysis.poly_core.fused_loops import Phase
from tinyc.codegen.elements import initial
from tinyc.diagnostics import TinycError
from tinyc.dialects.gpu.expand.cta_total import CtaTotal
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.loop_steps import LoopSteps
from tinyc.dialects.gpu.expand.online import OnlineSum
from tinyc.dialects.gpu.expand.partial import keep, taken, terms_of
from tinyc.dialects.gpu.expand.step_threads import StepThreads, Turn
from tinyc.dialects.gpu.expand.vector_elements import Inside
from tinyc.dialects.gpu.statements import ReduceRowsOp
from tinyc.dialects.tiny import ops as tiny
from tinyc.mlir import arith, gpu, ir
from tinyc.mlir.locations import around, where


def expand(expansion: Expansion, op: ReduceRowsOp) -> None:
    """Emit the loop over the steps, and in it the phases one after the other.

    Raises:
        TinycError: `NoGpuKernel`: a reduction has several results in a step.
    """
    steps = LoopSteps.of(op, expansion.elements)
    several = next((phase.block.name for phase in steps.found.loops.reductions if phase.inner), None)
    if several is not None:
        message = f"'{op.operation.name}' takes reductions of one result for each row, and '{several}' has several"
        raise TinycError("NoGpuKernel", f"{message}; use 'tgpu.map'", where(around(op)))
    threads = StepThreads(expansion, op, steps, bool(op.unrolled.value))
    totals = CtaTotal(expansion, threads)
    with threads.all_steps():
        phases = list(steps.found.loops.phases)
        while phases:
            phase = phases.pop(0)
            online = OnlineSum.of(threads, phase, phases[0]) if phases else None
            if online is not None:
                _reduce_online(threads, totals, phase, online)
                phases.pop(0)
            else:
                (_reduce if phase.is_reduction else _write)(threads, totals, phase)
        if totals.in_shared_memory:
            gpu.barrier()  # the next step writes where others may still read


def _reduce(threads: StepThreads, totals: CtaTotal, phase: Phase) -> None:
    """Emit the reduction of a phase."""
    op = threads.steps.found.value(phase).owner
    assert isinstance(op, tiny.ReduceOp)  # what else reduces has no fused loops

    def take(turn: Turn, so_far: list[ir.Value]) -> list[ir.Value]:
        return taken(threads, op, so_far, terms_of(threads, op, turn))

    partial = threads.folded(phase, [initial(op)] * threads.totals, take)
    _finish(threads, phase, op, totals.of(op, partial))


def _finish(threads: StepThreads, phase: Phase, op: tiny.ReduceOp, totals: list[ir.Value]) -> None:
    """Keep the results of a reduction for what is behind it, and write them where they are yielded."""
    found = keep(threads, op, totals)
    if op.output in threads.steps.yields:
        _write_totals(threads, phase, op, found)


def _reduce_online(threads: StepThreads, totals: CtaTotal, greatest: Phase, total: OnlineSum) -> None:
    """Emit a maximum and a sum in one pass over the row."""
    maxima, sums = total.totals(totals)
    _finish(threads, greatest, total.greatest, maxima)
    _finish(threads, total.phase, total.total, sums)


def _write_totals(threads: StepThreads, phase: Phase, op: tiny.ReduceOp, found: list[ir.Value]) -> None:
    """Emit the stores of a reduction's results by the first thread of each step."""
    elements, steps = threads.elements, threads.steps
    first = arith.cmpi(arith.CmpIPredicate.eq, threads.lane, elements.index(0))
    indices = [steps.kept_index(phase, op, place) for place in threads.places]
    conditions = [arith.andi(first, there) for there in threads.there or []] or [first]
    lanes = tuple(conditions[min(lane, len(conditions) - 1)] for lane in range(threads.totals))
    are_runs = threads.stripes is None or threads.stripes.are_runs
    every = functools.reduce(arith.andi, dict.fromkeys(lanes))
    inside = Inside(lanes, every, None if are_runs else first, (), None)
    for each in steps.yields[op.output]:
        elements.store_inside(each.buffer, indices, found, inside)


def _write(threads: StepThreads, totals: CtaTotal, phase: Phase) -> None:
    """Emit what a phase writes of the results."""
    elements, steps = threads.elements, threads.steps
    value = steps.found.value(phase)

    def put(turn: Turn, _: list[ir.Value]) -> list[ir.Value]:
        with elements.run(turn.counter, threads.width, turn.inside):
            values = [elements.at(value, turn.indices[lane]) for lane in elements.lanes()]
        for each in steps.yields[value]:
            elements.store_inside(each.buffer, turn.indices, values, turn.inside)
        return []

    threads.folded(phase, [], put)
