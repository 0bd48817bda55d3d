"""Loop nests of kernels that are not computed in steps: inlined, scan, scatter and top-k.

Each nest covers the outputs' elements once. `low` and `high` bound the parallel outer loop, which runs over the
elements of the nest's `parallel`, row-major.
"""

from contextlib import ExitStack

from tinyc.analysis.loop_nest import ElementNest, OrderedNest, ScanNest
from tinyc.codegen import scalars, scatter_update, top_k
from tinyc.codegen.elements import Elements
from tinyc.codegen.reduction_steps import accumulator_element, initial
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.kernel import Kernel
from tinyc.dialects.region.to_loops.axis_values import index_at, values_at
from tinyc.dialects.region.to_loops.lanes import row_memory
from tinyc.dialects.region.to_loops.loop_hints import LoopHints
from tinyc.dialects.region.to_loops.turns import TILE, loops_over, tile_along
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr.axes import Shape
from tinyc.mlir import arith, ir, memref
from tinyc.mlir.locations import here
from tinyc.vocabulary.attributes import tensor_type

#: Elements that top-k compares at once: two vectors of 8.
_COMPARED = 16


def inlined_nest(elements: Elements, kernel: Kernel, nest: ElementNest, low: ir.Value, high: ir.Value) -> None:
    """Compute each element by itself, of outputs of one shape together, with the reductions that they read."""
    hints = LoopHints.of(kernel)
    outputs: dict[Shape, list[region.YieldOp]] = {}
    for each in kernel.yields:
        outputs.setdefault(tensor_type(each.value.type).shape, []).append(each)
    for shape, yields in outputs.items():
        with ExitStack() as stack:
            index = loops_over(elements, stack, nest.parallel, shape, low, high)
            for axis, counter in enumerate(index):
                hints.mark(counter, [axis])
            for yielding in yields:
                elements.store(yielding.buffer, index, elements.at(yielding.value, index))


def scan_nest(elements: Elements, kernel: Kernel, nest: ScanNest, low: ir.Value, high: ir.Value) -> None:
    """Walk the axis of the scan; for a tile of neighbouring rows, keep what each has so far, and store it at each step.

    The rows are neighbours along the innermost axis. Where that is the one that is walked, they are one row.
    """
    op, scan, hints = nest.op, nest.scan, LoopHints.of(kernel)
    shape = tensor_type(op.output.type).shape
    extent, after = shape[scan.axis], shape[scan.axis + 1 :]
    innermost = after[-1] if after else 1
    kind = ir.MemRefType.get([TILE if after else 1], scalars.register_type(accumulator_element(op)))
    accumulators = memref.alloca(kind, [], [], loc=here("acc"))
    with ExitStack() as stack:
        row = loops_over(elements, stack, nest.parallel, nest.rows, low, high)
        before, between = row[: scan.axis], row[scan.axis : -1]
        first, end = elements.index(0), elements.extent(innermost)
        if after and nest.rows[-1] != 1:  # a tile of several
            first = arith.muli(row[-1], elements.index(TILE))
            end = arith.minsi(arith.addi(first, elements.index(TILE)), end)
        near = tile_along(elements, stack, first, end, innermost)
        with elements.loop(0, near.count, below=TILE) as offset:
            memref.store(initial(op), accumulators, [offset])
        with elements.loop(0, extent) as step, elements.loop(0, near.count, below=TILE) as offset:
            hints.mark(step, [scan.axis], is_in_order=True)
            if after:
                hints.mark(offset, [len(shape) - 1])
            for axis, counter in enumerate((*before, step, *between)):
                hints.mark(counter, [axis], is_in_order=axis == scan.axis)
            position = elements.mirrored(step, extent) if scan.reverse else step
            index = (*before, position, *between, *([elements.moved(near.first, offset)] if after else []))
            so_far = memref.load(accumulators, [offset])
            with_this = elements.combined(op, so_far, elements.scanned(op, scan, index))
            memref.store(with_this, accumulators, [offset])
            result = elements.finished(op, so_far if scan.exclusive else with_this)
            elements.reduced[op.output] = lambda _: result
            places = values_at(elements, op.output, nest.dims, index)
            for yielding in kernel.yields:
                at = index_at(elements, yielding.value, nest.dims, places)
                elements.store(yielding.buffer, at, elements.at(yielding.value, at))


def ordered_nest(elements: Elements, kernel: Kernel, nest: OrderedNest, low: ir.Value, high: ir.Value) -> None:
    """Do what an op does in order, for each element of the other axes."""
    if isinstance(nest.op, tiny.ScatterOp):
        _scatter_nest(elements, kernel, nest, nest.op, low, high)
    else:
        _topk_nest(elements, kernel, nest, nest.op, low, high)


def _scatter_nest(
    elements: Elements, kernel: Kernel, nest: OrderedNest, op: tiny.ScatterOp, low: ir.Value, high: ir.Value
) -> None:
    """Copy the data, then put or add the updates in row-major order.

    What is to be computed of updates is computed for a tile of neighbours first, apart from where they go.
    """
    (yielding,) = kernel.yields
    with ExitStack() as stack:
        index = loops_over(elements, stack, nest.parallel, tensor_type(op.data.type).shape, low, high)
        elements.store(yielding.buffer, index, elements.at(op.data, index))
    updates = tensor_type(op.updates.type)
    with ExitStack() as stack:
        if len(nest.parallel) == len(updates.shape) or isinstance(op.updates.owner, region.ReadOp):
            index = loops_over(elements, stack, nest.parallel, updates.shape, low, high)
            scatter_update.write_scatter(elements, op, index, yielding.buffer)
            return
        row = row_memory(TILE, scalars.register_type(updates.element), "updates")
        *outer, last = updates.shape
        before = loops_over(elements, stack, nest.parallel, tuple(outer), low, high)
        tile = tile_along(elements, stack, elements.index(0), elements.extent(last), last)
        with elements.loop(0, tile.count, below=TILE) as near:
            index = (*before, elements.moved(tile.first, near))
            memref.store(elements.at(op.updates, index), row, [near])
        with elements.loop(0, tile.count, below=TILE) as near:
            index = (*before, elements.moved(tile.first, near))
            scatter_update.write_scatter(elements, op, index, yielding.buffer, memref.load(row, [near]))


def _topk_nest(
    elements: Elements, kernel: Kernel, nest: OrderedNest, op: tiny.TopkOp, low: ir.Value, high: ir.Value
) -> None:
    """Find the best elements of each row along the axis."""
    outputs: dict[ir.Value, ir.Value] = {yielding.value: yielding.buffer for yielding in kernel.yields}
    with ExitStack() as stack:
        row = loops_over(elements, stack, nest.parallel, op.row_extents, low, high)
        top_k.write_topk(elements, op, row, outputs, _COMPARED)
