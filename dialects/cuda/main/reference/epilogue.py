"""`tgpu.epilogue` and the matrix product that it finishes, or sums that another kernel has left, element by element."""

from tinyc.codegen import scalars
from tinyc.codegen.elements import IndexValues
from tinyc.dialects.cuda.main.reference.partial_sums import place_of_sum
from tinyc.dialects.cuda.main.reference.product import (
    FinishingOp,
    SidePlace,
    operands_of,
    partial_sums_of,
    residuals_of,
    sum_of_products,
)
from tinyc.dialects.gpu.dialect import accumulator_tile
from tinyc.dialects.gpu.expand.flat_elements import FlatElements
from tinyc.dialects.gpu.expand.place import sides_of, store_results
from tinyc.vocabulary.attributes import tensor_type


def compute(elements: FlatElements, op: FinishingOp) -> None:
    """Compute each element of the outputs from one accumulator.

    Raises:
        TinycError: `InvalidIr`: the accumulator has not one product, or an operand not one load.
    """
    result, accumulator = tensor_type(op.accumulated.type), accumulator_tile(op.accumulator.type).element
    workspace = partial_sums_of(op.accumulator)
    with elements.loops(result.shape) as index:
        places = (
            _along(op, "rows", index),
            _along(op, "columns", index),
            _along(op, "batches", index),
        )
        if workspace is None:
            total = sum_of_products(elements, operands_of(op), places, accumulator)
        else:
            total = elements.load(workspace, place_of_sum(elements, places))
        finished = scalars.cast(total, accumulator, result.element)
        elements.reduced[op.accumulated] = lambda _: finished
        for argument, source in residuals_of(op):
            value = source.element(elements, places, tensor_type(argument.type).element)
            elements.reduced[argument] = lambda _, value=value: value
        store_results(elements, op, index)


def _along(op: FinishingOp, side: str, index: IndexValues) -> SidePlace:
    """Where an element of the result is along a side."""
    shape, axes = tensor_type(op.accumulated.type).shape, sides_of(op)[side]
    return SidePlace(tuple(shape[axis] for axis in axes), tuple(index[axis] for axis in axes))
