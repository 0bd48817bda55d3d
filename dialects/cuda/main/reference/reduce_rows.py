"""`tgpu.reduce_rows`, row after row: each reduction as a loop, then what is made of them element by element."""

from tinyc.analysis.poly_core.fused_loops import Phase
from tinyc.codegen.elements import IndexValues, initial
from tinyc.dialects.gpu.expand.flat_elements import FlatElements
from tinyc.dialects.gpu.expand.loop_steps import LoopSteps
from tinyc.dialects.gpu.statements import ReduceRowsOp
from tinyc.dialects.tiny import ops as tiny
from tinyc.mlir import ir


def compute(elements: FlatElements, op: ReduceRowsOp) -> None:
    """Compute the phases of each row one after the other."""
    steps = LoopSteps.of(op, elements)
    with elements.loops(steps.extents) as row:
        for phase in steps.found.loops.phases:
            if phase.is_reduction:
                _reduce(elements, steps, phase, row)
            else:
                with elements.loops(phase.inner_extents) as inner:
                    _store(elements, steps, phase, steps.index(phase, row, inner))


def _reduce(elements: FlatElements, steps: LoopSteps, phase: Phase, row: IndexValues) -> None:
    """Compute the reduction of a phase, which is kept for those behind it."""
    op = steps.found.value(phase).owner
    assert isinstance(op, tiny.ReduceOp)  # what else reduces has no fused loops

    def add(inner: IndexValues, so_far: list[ir.Value]) -> list[ir.Value]:
        return [elements.combined(op, so_far[0], elements.term(op, steps.index(phase, row, inner)))]

    (total,) = elements.carried(phase.reduced_extents, [initial(op)], add)
    finished = elements.finished(op, total)
    elements.reduced[op.output] = lambda _: finished
    if op.output in steps.yields:
        _store(elements, steps, phase, steps.kept_index(phase, op, row))


def _store(elements: FlatElements, steps: LoopSteps, phase: Phase, index: IndexValues) -> None:
    """Write an element of what a phase yields."""
    value = steps.found.value(phase)
    for each in steps.yields[value]:
        elements.store(each.buffer, index, elements.at(value, index))
