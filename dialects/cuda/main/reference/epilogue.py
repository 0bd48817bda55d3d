"""`tgpu.epilogue` and the matrix product that it finishes, element by element."""

from tinyc.codegen import scalars
from tinyc.codegen.elements import IndexValues
from tinyc.dialects.cuda.main.reference.product import FinishingOp, SidePlace, operands_of, residuals_of
from tinyc.dialects.gpu.dialect import accumulator_tile
from tinyc.dialects.gpu.expand.accumulator import multiply_add
from tinyc.dialects.gpu.expand.flat_elements import FlatElements
from tinyc.dialects.gpu.expand.place import sides_of, store_results
from tinyc.mlir import ir
from tinyc.vocabulary.attributes import tensor_type


def compute(elements: FlatElements, op: FinishingOp) -> None:
    """Compute each element of the outputs from one accumulator.

    Raises:
        TinycError: `InvalidIr`: the accumulator has not one product, or an operand not one load.
    """
    lhs, rhs = operands_of(op)
    result, accumulator = tensor_type(op.accumulated.type), accumulator_tile(op.accumulator.type).element
    summed = lhs.shape("columns")
    with elements.loops(result.shape) as index:
        rows, columns, batches = (
            SidePlace(tuple(result.shape[axis] for axis in axes), tuple(index[axis] for axis in axes))
            for axes in (sides_of(op)[side] for side in ("rows", "columns", "batches"))
        )

        def step(reduction: IndexValues, so_far: list[ir.Value]) -> list[ir.Value]:
            k = SidePlace(summed, tuple(reduction))
            left = lhs.element(elements, (rows, k, batches), accumulator)
            right = rhs.element(elements, (k, columns, batches), accumulator)
            return [multiply_add(accumulator, left, right, so_far[0])]

        (total,) = elements.carried(summed, [scalars.element_constant(accumulator, 0)], step)
        finished = scalars.cast(total, accumulator, result.element)
        elements.reduced[op.accumulated] = lambda _: finished
        for argument, source in residuals_of(op):
            value = source.element(elements, (rows, columns, batches), tensor_type(argument.type).element)
            elements.reduced[argument] = lambda _, value=value: value
        store_results(elements, op, index)
