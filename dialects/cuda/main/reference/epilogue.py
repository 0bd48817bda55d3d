"""`tgpu.epilogue` and the matrix product that it finishes, or sums that another kernel has left, element by element."""

from tinyc.codegen import scalars
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
    operands = operands_of(op) if workspace is None else None
    with elements.loops(result.shape) as index:
        rows, columns, batches = places = tuple(
            SidePlace(tuple(result.shape[axis] for axis in axes), tuple(index[axis] for axis in axes))
            for axes in (sides_of(op)[side] for side in ("rows", "columns", "batches"))
        )
        if operands is not None:
            total = sum_of_products(elements, operands, places, accumulator)
        else:
            total = elements.load(workspace, place_of_sum(elements, places))
        finished = scalars.cast(total, accumulator, result.element)
        elements.reduced[op.accumulated] = lambda _: finished
        for argument, source in residuals_of(op):
            value = source.element(elements, (rows, columns, batches), tensor_type(argument.type).element)
            elements.reduced[argument] = lambda _, value=value: value
        store_results(elements, op, index)
