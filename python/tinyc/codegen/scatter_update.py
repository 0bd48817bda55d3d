"""Code for one update of a `tiny.scatter`: put or add it at its position, or note that this is out of range."""

from collections.abc import Callable

from tinyc.codegen import scalars
from tinyc.codegen.elements import Elements, IndexValues
from tinyc.dialects.tiny import ops as tiny
from tinyc.mlir import ir, scf
from tinyc.vocabulary.attributes import tensor_type


def write_scatter(
    elements: Elements, op: tiny.ScatterOp, index: IndexValues, output: ir.Value, update: ir.Value | None = None
) -> None:
    """Emit the update of element `index` of the updates into `output`, which holds the data already.

    It is computed where it is needed, unless it is given.
    """
    element = tensor_type(op.output.type).element

    def put(target: IndexValues) -> None:
        value = elements.at(op.updates, index) if update is None else update
        if op.op.value == "add":
            value = scalars.elementwise("add", element, [elements.load(output, target), value])
        elements.store(output, target, value)

    at_target(elements, op, index, put)


def at_target(elements: Elements, op: tiny.ScatterOp, index: IndexValues, emit: Callable[[IndexValues], None]) -> None:
    """Emit `emit(target)` where update `index` has a target, and a report where its position has none."""
    axis, rank = op.axis.value, tensor_type(op.index.type).rank
    at = index[axis : axis + rank]
    chosen, inside = elements.selected(op, at)
    branch = scf.IfOp(inside, has_else=True)
    with elements.block(branch.then_block):
        emit((*index[:axis], chosen, *index[axis + rank :]))
        scf.yield_([])
    assert branch.else_block is not None  # asked for above
    with elements.block(branch.else_block):
        elements.report_out_of_range(op, chosen, at)
        scf.yield_([])
