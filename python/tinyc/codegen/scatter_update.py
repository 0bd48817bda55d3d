"""Code for one update of a `tiny.scatter`: put or add it where its position says, or note that this is no place."""

from collections.abc import Callable
from typing import Any

from tinyc.codegen import scalars
from tinyc.codegen.elements import Elements, Index
from tinyc.dialects.tiny.attributes import arguments, tensor_type
from tinyc.mlir import scf


def write(elements: Elements, op: Any, index: Index, output: Any) -> None:
    """Emit the update of element `index` of the updates into `output`, which holds the data already."""
    element = tensor_type(op.operation.results[0].type).element

    def put(target: Index, update: Any) -> None:
        if arguments(op)["op"] == "add":
            update = scalars.elementwise("add", element, [elements.load(output, target), update])
        elements.store(output, target, update)

    at_target(elements, op, index, put)


def at_target(elements: Elements, op: Any, index: Index, emit: Callable[[Index, Any], None]) -> None:
    """Emit `emit(target, update)` where update `index` has a target, and a report where its position has none."""
    data, positions, updates = op.operation.operands
    axis, rank = arguments(op)["axis"], tensor_type(positions.type).rank
    chosen, inside = elements.selected(positions, index[axis : axis + rank], tensor_type(data.type).shape[axis])
    branch = scf.IfOp(inside, has_else=True)
    with elements.block(branch.then_block):
        emit((*index[:axis], chosen, *index[axis + rank :]), elements.at(updates, index))
        scf.yield_([])
    with elements.block(branch.else_block):
        elements.report_out_of_range(chosen)
        scf.yield_([])
