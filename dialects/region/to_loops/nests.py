"""Loop nests of a kernel: pointwise, reduction, scan, scatter and top-k.

Each nest covers the outputs' elements once. `low` and `high` bound the parallel outer loop, which runs over the
elements of `Kernel.parallel_extents`, row-major, or over tiles of them.
"""

from contextlib import ExitStack

from tinyc.analysis.patterns.scan import Scan
from tinyc.codegen import scalars, scatter_update, top_k
from tinyc.codegen.elements import Elements, IndexValues
from tinyc.codegen.reduction_steps import accumulator_element, initial, joined, reduced_shape
from tinyc.dialects.region.kernel import TILE, Kernel
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.mlir import arith, ir, memref
from tinyc.mlir.locations import here
from tinyc.vocabulary.attributes import tensor_type


def pointwise_nest(elements: Elements, kernel: Kernel, low: ir.Value, high: ir.Value) -> None:
    """Compute each output element by itself."""
    for yielding in kernel.yields:
        with ExitStack() as stack:
            shape = tensor_type(yielding.value.type).shape
            outer, start, end = _outer_loops(elements, stack, kernel, shape, low, high)
            innermost = stack.enter_context(elements.loop(start, end, below=_innermost(shape)))
            index = (*outer, innermost) if shape else ()
            elements.store(yielding.buffer, index, elements.at(yielding.value, index))


def _innermost(shape: tuple[Dim, ...]) -> Dim:
    """The extent of the innermost axis; a scalar's is 1."""
    return shape[-1] if shape else 1


def _outer_loops(
    elements: Elements, stack: ExitStack, kernel: Kernel, shape: tuple[Dim, ...], low: ir.Value, high: ir.Value
) -> tuple[IndexValues, ir.Value, ir.Value]:
    """Open the loops over all axes of `shape` but the innermost; give the index in them, and the range of that one.

    The range of a scalar's is that of the parallel loop, which has one turn.
    """
    parallel = kernel.parallel_extents
    if len(parallel) == len(shape):  # before the innermost axis are only axes of one element, if any
        return (elements.index(0),) * (len(shape) - 1), low, high
    return (
        _loops_over(elements, stack, parallel, shape[:-1], low, high),
        elements.index(0),
        elements.extent(shape[-1]),
    )


def _loops_over(
    elements: Elements,
    stack: ExitStack,
    parallel: tuple[Dim, ...],
    shape: tuple[Dim, ...],
    low: ir.Value,
    high: ir.Value,
) -> IndexValues:
    """Open the loops over `shape`, which begins with the axes `parallel` of the parallel loop; give the index."""
    turn = stack.enter_context(elements.loop(low, high, below=extents.product(parallel)))
    inner = stack.enter_context(elements.loops(shape[len(parallel) :]))
    return (*elements.delinearized(turn, parallel), *inner)


def reduction_nest(elements: Elements, kernel: Kernel, op: tiny.ReduceOp, low: ir.Value, high: ir.Value) -> None:
    """Accumulate a tile of neighbouring elements along the innermost output axis, then finish and store each."""
    (yielding,) = kernel.yields
    shape = tensor_type(yielding.value.type).shape
    kind = ir.MemRefType.get([TILE if shape else 1], scalars.register_type(accumulator_element(op)))
    accumulators = memref.alloca(kind, [], [], loc=here("acc"))
    with ExitStack() as stack:
        outer, start, end = _outer_loops(elements, stack, kernel, shape, low, high)
        if kernel.splits_tiles:
            start, end = (arith.muli(each, elements.index(TILE)) for each in (start, end))
            end = arith.minsi(end, elements.extent(shape[-1]))
        tile = stack.enter_context(elements.loop(start, end, TILE, below=_innermost(shape)))
        count = arith.minsi(elements.index(TILE), arith.subi(end, tile))

        def at(offset: ir.Value) -> IndexValues:
            return (*outer, elements.moved(tile, offset)) if shape else ()

        with elements.loop(0, count, below=TILE) as offset:
            memref.store(initial(op), accumulators, [offset])
        with elements.loops(reduced_shape(op)) as reduced, elements.loop(0, count, below=TILE) as offset:
            so_far = memref.load(accumulators, [offset])
            term = elements.term(op, joined(op, at(offset), reduced))
            memref.store(elements.combined(op, so_far, term), accumulators, [offset])
        with elements.loop(0, count, below=TILE) as offset:
            elements.reduced[op.output] = lambda _: elements.finished(op, memref.load(accumulators, [offset]))
            index = at(offset)
            elements.store(yielding.buffer, index, elements.at(yielding.value, index))


def scan_nest(elements: Elements, kernel: Kernel, op: tiny.ReduceOp, scan: Scan, low: ir.Value, high: ir.Value) -> None:
    """Walk the axis of the scan; for a tile of neighbouring rows, keep what each has so far, and store it at each step.

    The rows are neighbours along the innermost axis. Where that is the one that is walked, they are one row.
    """
    (yielding,) = kernel.yields
    shape = tensor_type(op.output.type).shape
    extent, after = shape[scan.axis], shape[scan.axis + 1 :]
    kind = ir.MemRefType.get([TILE if after else 1], scalars.register_type(accumulator_element(op)))
    accumulators = memref.alloca(kind, [], [], loc=here("acc"))
    with ExitStack() as stack:
        before = _loops_over(elements, stack, kernel.parallel_extents, shape[: scan.axis], low, high)
        between = stack.enter_context(elements.loops(after[:-1]))
        end = _innermost(after)
        tile = stack.enter_context(elements.loop(0, end, TILE))
        count = arith.minsi(elements.index(TILE), arith.subi(elements.extent(end), tile))
        with elements.loop(0, count, below=TILE) as offset:
            memref.store(initial(op), accumulators, [offset])
        with elements.loop(0, extent) as step, elements.loop(0, count, below=TILE) as offset:
            position = elements.mirrored(step, extent) if scan.reverse else step
            index = (*before, position, *between, *([elements.moved(tile, offset)] if after else []))
            so_far = memref.load(accumulators, [offset])
            with_this = elements.combined(op, so_far, elements.scanned(op, scan, index))
            memref.store(with_this, accumulators, [offset])
            result = elements.finished(op, so_far if scan.exclusive else with_this)
            elements.reduced[op.output] = lambda _: result
            elements.store(yielding.buffer, index, elements.at(yielding.value, index))


def scatter_nest(elements: Elements, kernel: Kernel, op: tiny.ScatterOp, low: ir.Value, high: ir.Value) -> None:
    """Copy the data, then put or add the updates in row-major order."""
    (yielding,) = kernel.yields
    parallel = kernel.parallel_extents
    with ExitStack() as stack:
        index = _loops_over(elements, stack, parallel, tensor_type(op.data.type).shape, low, high)
        elements.store(yielding.buffer, index, elements.at(op.data, index))
    with ExitStack() as stack:
        index = _loops_over(elements, stack, parallel, tensor_type(op.updates.type).shape, low, high)
        scatter_update.write_scatter(elements, op, index, yielding.buffer)


def topk_nest(elements: Elements, kernel: Kernel, op: tiny.TopkOp, low: ir.Value, high: ir.Value) -> None:
    """Find the best elements of each row along the axis."""
    outputs: dict[ir.Value, ir.Value] = {yielding.value: yielding.buffer for yielding in kernel.yields}
    with ExitStack() as stack:
        row = _loops_over(elements, stack, kernel.parallel_extents, op.row_extents, low, high)
        top_k.write_topk(elements, op, row, outputs)
