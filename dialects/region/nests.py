"""Loop nests of a kernel: pointwise, reduction, scatter and top-k.

Each nest covers the outputs' elements once. `low` and `high` bound the parallel outer loop (see `contract`).
"""

from contextlib import ExitStack
from typing import Any

from tinyc.analysis.extents import Dim
from tinyc.codegen import scalars, scatter_update, top_k
from tinyc.codegen.elements import Elements, Index, accumulator_element, initial, joined, reduced_shape
from tinyc.dialects.region.contract import splits_axis_0
from tinyc.dialects.region.verify import yields_of
from tinyc.dialects.tiny.attributes import tensor_type
from tinyc.mlir import arith, ir, memref

#: Accumulators that a reduction keeps at a time: neighbours along the innermost output axis, so that the loop over
#: them is the innermost one and vectorises without reordering any sum.
TILE = 128


def pointwise(elements: Elements, kernel: Any, low: Any, high: Any) -> None:
    """Compute each output element by itself."""
    for yielding in yields_of(kernel):
        value, output = yielding.operation.operands
        with ExitStack() as stack:
            index = _outer(elements, stack, tensor_type(value.type).shape, low, high)
            elements.store(output, index, elements.at(value, index))


def _outer(elements: Elements, stack: ExitStack, shape: tuple[Dim, ...], low: Any, high: Any) -> Index:
    """Open the loops over `shape`, the first from `low` below `high`; a scalar is computed once in that range."""
    first = stack.enter_context(elements.loop(low, high))
    if not shape:
        return ()
    return (first, *stack.enter_context(elements.loops(shape[1:])))


def reduction(elements: Elements, kernel: Any, op: Any, low: Any, high: Any) -> None:
    """Accumulate a tile of neighbouring elements along the innermost output axis, then finish and store each."""
    (yielding,) = yields_of(kernel)
    value, output = yielding.operation.operands
    shape = tensor_type(value.type).shape
    kind = ir.MemRefType.get([TILE if shape else 1], scalars.register_type(accumulator_element(op)))
    accumulators = memref.alloca(kind, [], [])
    with ExitStack() as stack:
        outer, (start, end) = _outer_of_tile(elements, stack, shape, low, high)
        tile = stack.enter_context(elements.loop(start, end, TILE))
        count = arith.minsi(elements.index(TILE), arith.subi(end, tile))

        def at(lane: Any) -> Index:
            return (*outer, arith.addi(tile, lane)) if shape else ()

        with elements.loop(elements.index(0), count) as lane:
            memref.store(initial(op), accumulators, [lane])
        with elements.loops(reduced_shape(op)) as reduced, elements.loop(elements.index(0), count) as lane:
            so_far = memref.load(accumulators, [lane])
            memref.store(elements.combined(op, so_far, joined(op, at(lane), reduced)), accumulators, [lane])
        with elements.loop(elements.index(0), count) as lane:
            elements.reduced[op.operation.results[0]] = lambda _: elements.finished(
                op, memref.load(accumulators, [lane])
            )
            index = at(lane)
            elements.store(output, index, elements.at(value, index))


def _outer_of_tile(
    elements: Elements, stack: ExitStack, shape: tuple[Dim, ...], low: Any, high: Any
) -> tuple[Index, tuple[Any, Any]]:
    """Open the loops around the tile; return their indices and the range that the tiles cover."""
    if len(shape) <= 1:
        return (), (low, high)
    outer = _outer(elements, stack, shape[:-1], low, high)
    return outer, (elements.index(0), elements.extent(shape[-1]))


def scatter(elements: Elements, kernel: Any, op: Any, low: Any, high: Any) -> None:
    """Copy the data, then put or add the updates in row-major order."""
    data, _, updates = op.operation.operands
    (yielding,) = yields_of(kernel)
    output = yielding.operation.operands[1]
    with ExitStack() as stack:
        index = _ordered(elements, stack, tensor_type(data.type).shape, splits_axis_0(kernel), low, high)
        elements.store(output, index, elements.at(data, index))
    with ExitStack() as stack:
        index = _ordered(elements, stack, tensor_type(updates.type).shape, splits_axis_0(kernel), low, high)
        scatter_update.write(elements, op, index, output)


def _ordered(elements: Elements, stack: ExitStack, shape: tuple[Dim, ...], split: bool, low: Any, high: Any) -> Index:
    """Open the loops over `shape`: split over axis 0, or all in one turn of the outer loop."""
    if split:
        return _outer(elements, stack, shape, low, high)
    stack.enter_context(elements.loop(low, high))
    return stack.enter_context(elements.loops(shape))


def topk(elements: Elements, kernel: Any, op: Any, low: Any, high: Any) -> None:
    """Find the best elements of each lane along the axis."""
    outputs = {y.operation.operands[0]: y.operation.operands[1] for y in yields_of(kernel)}
    with ExitStack() as stack:
        lane = _ordered(elements, stack, top_k.lanes(op), splits_axis_0(kernel), low, high)
        top_k.write(elements, op, lane, outputs)
