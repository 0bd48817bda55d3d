"""The nest of a product (`analysis.cpu_product`): the sums of a tile of rows and columns at a time.

The axis that is summed up is walked in panels, some products at a time. What a tile reads of the right operand in a
panel is packed first, and of the left one for a few rows, in the type of the sums: an element of an operand is computed
once for a tile. Each sum takes its terms in order; panels are filled up with zeros, which change no sum.
"""

from contextlib import AbstractContextManager, ExitStack

from tinyc.analysis.cpu_product import CpuProduct
from tinyc.codegen import scalars
from tinyc.codegen.elements import Elements, IndexValues
from tinyc.codegen.reduction_steps import accumulator_element, initial
from tinyc.dialects.region.kernel import Kernel
from tinyc.dialects.region.to_loops.axis_values import AxisValues, index_at, values_at
from tinyc.dialects.region.to_loops.lanes import row_memory
from tinyc.dialects.region.to_loops.turns import TILE, Neighbours, loops_over
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.mlir import arith, ir, memref
from tinyc.target import GENERIC_CPU
from tinyc.vocabulary.attributes import tensor_type

#: Rows whose sums are added to at a time, and products that are added to each: they are in registers together.
UNROLLED = 4


def product_nest(elements: Elements, kernel: Kernel, product: CpuProduct, low: ir.Value, high: ir.Value) -> None:
    """Compute the tiles of a product, and what is behind it."""
    with ExitStack() as stack:
        turn = loops_over(elements, stack, product.tiles, product.tiles, low, high)
        _Tile(elements, kernel, product, turn).emit()


class _Tile:
    """The code of one tile, `turn` being its place among those along each loop."""

    def __init__(self, elements: Elements, kernel: Kernel, product: CpuProduct, turn: IndexValues) -> None:
        self.elements, self.product, self.op = elements, product, product.op
        self.outputs: dict[ir.Value, list[ir.Value]] = {}
        for each in kernel.yields:
            self.outputs.setdefault(each.value, []).append(each.buffer)
        self.rows = self._run(turn[product.row_loop], GENERIC_CPU.tile_rows, product.rows)
        self.columns = self._run(turn[product.column_loop], TILE, product.columns)
        self.at = list(turn)
        self.row_axis, self.column_axis = (
            product.phase.loops[each] for each in (product.row_loop, product.column_loop)
        )
        element = accumulator_element(product.op)
        self.depth = GENERIC_CPU.tile_depth_bytes // element.size_bytes
        register = scalars.register_type(element)
        self.sums = row_memory(GENERIC_CPU.tile_rows * TILE, register, "sums")
        self.left = row_memory(UNROLLED * self.depth, register, "left")
        self.right = row_memory(self.depth * TILE, register, "right")

    def emit(self) -> None:
        """Emit the sums, panel by panel, and then what is behind them."""
        elements, rows = self.elements, self._filled(self.rows.count)
        with elements.loop(0, rows, below=GENERIC_CPU.tile_rows) as row, self._along_columns() as column:
            memref.store(initial(self.op), self.sums, [self._slot(row, TILE, column)])
        with elements.loop(0, self.product.depth, self.depth) as first:
            count = self._count(first, self.depth, self.product.depth)
            self._pack_right(first, count)
            with elements.loop(0, rows, UNROLLED, below=GENERIC_CPU.tile_rows) as row:
                self._pack_left(row, first, count)
                self._multiply(row, self._filled(count))
        with elements.loop(0, self.rows.count, below=GENERIC_CPU.tile_rows) as row:
            self._finish(row)

    # --- packing ------------------------------------------------------------------------------------------------------

    def _pack_right(self, first: ir.Value, count: ir.Value | int) -> None:
        """Pack a panel of the right operand."""
        elements, filled = self.elements, self._filled(count)
        with elements.loop(0, count, below=self.depth) as k, self._along_columns() as column:
            at = {self.column_axis: elements.moved(self.columns.first, column)}
            element = self._factor(self.product.right, first, k, at)
            memref.store(element, self.right, [self._slot(k, TILE, column)])
        if filled != count:
            with elements.loop(count, filled, below=self.depth) as k, self._along_columns() as column:
                memref.store(initial(self.op), self.right, [self._slot(k, TILE, column)])

    def _pack_left(self, row: ir.Value, first: ir.Value, count: ir.Value | int) -> None:
        """Pack a panel of the rows of the left operand from `row` on."""
        elements, filled, rows = self.elements, self._filled(count), self.rows.count
        near: ir.Value | int = UNROLLED
        if filled != count or self._filled(rows) != rows:
            with elements.loop(0, UNROLLED) as i, elements.loop(0, filled, below=self.depth) as k:
                memref.store(initial(self.op), self.left, [self._slot(i, self.depth, k)])
            end = elements.index(rows) if isinstance(rows, int) else rows
            near = arith.minsi(elements.index(UNROLLED), arith.subi(end, row))
        with elements.loop(0, near, below=UNROLLED) as i, elements.loop(0, count, below=self.depth) as k:
            at = {self.row_axis: elements.moved(self.rows.first, elements.moved(row, i))}
            element = self._factor(self.product.left, first, k, at)
            memref.store(element, self.left, [self._slot(i, self.depth, k)])

    def _factor(self, factor: ir.Value, first: ir.Value, k: ir.Value, at: AxisValues) -> ir.Value:
        """An element of an operand: product `k` of the panel from `first` on, at a row or a column."""
        elements, phase = self.elements, self.product.phase
        summed = elements.delinearized(elements.moved(first, k), phase.reduced_extents)
        around = dict(zip(phase.loops, self.at, strict=True))
        here = {**around, **dict(zip(phase.reduced, summed, strict=True)), **at}
        element = elements.at(factor, index_at(elements, self.op.operand, self.product.kernel.dims, here))
        return scalars.cast(element, tensor_type(factor.type).element, accumulator_element(self.op))

    # --- sums ---------------------------------------------------------------------------------------------------------

    def _multiply(self, row: ir.Value, count: ir.Value | int) -> None:
        """Add the products of a panel to the sums of the rows from `row` on."""
        elements, near = self.elements, range(UNROLLED)
        with elements.loop(0, count, UNROLLED, below=self.depth) as k, self._along_columns() as column:
            rights = [memref.load(self.right, [self._slot(elements.moved(k, j), TILE, column)]) for j in near]
            for i in near:
                slot = [self._slot(elements.moved(row, i), TILE, column)]
                total = memref.load(self.sums, slot)
                for j in near:
                    at = self._slot(elements.index(i), self.depth, elements.moved(k, j))
                    factors = [memref.load(self.left, [at]), rights[j]]
                    term = scalars.elementwise("mul", accumulator_element(self.op), factors)
                    total = elements.combined(self.op, total, term)
                memref.store(total, self.sums, slot)

    # --- results ------------------------------------------------------------------------------------------------------

    def _finish(self, row: ir.Value) -> None:
        """Compute what is behind the sums of a row, and store what is written."""
        elements, counters, op, kernel = self.elements, self.elements.counters, self.op, self.product.kernel

        def finished(index: IndexValues) -> ir.Value:
            here = values_at(elements, op.operand, kernel.dims, index, set(op.axes))
            column = counters.expression(here[self.column_axis]) - counters.expression(self.columns.first)
            return elements.finished(op, memref.load(self.sums, [self._slot(row, TILE, counters.value(column))]))

        elements.reduced[op.output] = finished
        at = list(self.at)
        at[self.product.row_loop] = elements.moved(self.rows.first, row)
        with self._along_columns() as column:
            at[self.product.column_loop] = elements.moved(self.columns.first, column)
            for phase in kernel.loops.phases:
                value, is_sum = kernel.value(phase), phase is self.product.phase
                here = dict(zip(phase.loops, at, strict=True))
                index = index_at(elements, op.operand if is_sum else value, kernel.dims, here)
                if is_sum:
                    index = tuple(each for axis, each in enumerate(index) if axis not in tuple(op.axes))
                for buffer in self.outputs.get(value, ()):
                    elements.store(buffer, index, elements.at(value, index))

    # --- where things are ---------------------------------------------------------------------------------------------

    def _run(self, number: ir.Value, size: int, extent: Dim) -> Neighbours:
        """The elements of tile `number` along an axis."""
        counters = self.elements.counters
        first = counters.value(counters.expression(number) * size)
        return Neighbours(first, self._count(first, size, extent))

    def _count(self, first: ir.Value, size: int, extent: Dim) -> ir.Value | int:
        """How many there are from `first` on, at most `size`."""
        if extents.divide(extent, size) is not None:
            return size
        if isinstance(extent, int) and extent < size:
            return extent
        return arith.minsi(self.elements.index(size), arith.subi(self.elements.extent(extent), first))

    def _filled(self, count: ir.Value | int) -> ir.Value | int:
        """A number of rows or products, filled up to a multiple of `UNROLLED`."""
        if isinstance(count, int):
            return -(-count // UNROLLED) * UNROLLED
        size, more = self.elements.index(UNROLLED), self.elements.index(UNROLLED - 1)
        return arith.muli(arith.divui(arith.addi(count, more), size), size)

    def _along_columns(self) -> AbstractContextManager[ir.Value]:
        """Emit the innermost loop over the columns of the tile."""
        return self.elements.loop(0, self.columns.count, below=TILE)

    def _slot(self, row: ir.Value, width: int, column: ir.Value) -> ir.Value:
        """Where an element of packed rows is."""
        counters = self.elements.counters
        return counters.value(counters.expression(row) * width + counters.expression(column))
