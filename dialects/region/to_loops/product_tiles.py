"""The nest of a product (`analysis.cpu_product`): the sums of a tile of rows and columns at a time.

The axis that is summed up is walked in panels. What a tile reads of the right operand in a panel is packed first, a few
vectors of columns beside each other, and of the left one for a few rows, in the type of the sums: an element of an
operand is computed once for a tile. The micro-kernel has the sums of those rows and columns in registers and adds the
products of a panel to them, each sum in order. Rows and columns are filled up with zeros, which nobody reads.
"""

import functools
import operator
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack

from tinyc.analysis.cpu_product import CpuProduct
from tinyc.codegen import scalars
from tinyc.codegen.elements import Elements, IndexValues
from tinyc.codegen.reduction_steps import accumulator_element, initial
from tinyc.dialects.region.kernel import Kernel
from tinyc.dialects.region.to_loops.axis_values import AxisValues, index_at, values_at
from tinyc.dialects.region.to_loops.lanes import row_memory
from tinyc.dialects.region.to_loops.micro_kernel import MicroKernel
from tinyc.dialects.region.to_loops.turns import Neighbours, loops_over
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.mlir import arith, ir, memref
from tinyc.target import GENERIC_CPU, VectorUnit
from tinyc.vocabulary.attributes import tensor_type

#: Neighbours that are packed of a line before those of the next one.
_BLOCK = 16
_ROWS, _COLUMNS = GENERIC_CPU.tile_rows, GENERIC_CPU.tile_columns


def product_nest(
    elements: Elements, kernel: Kernel, product: CpuProduct, unit: VectorUnit, low: ir.Value, high: ir.Value
) -> None:
    """Compute the tiles of a product, and what is behind it, in vectors of `unit`."""
    with ExitStack() as stack:
        turn = loops_over(elements, stack, product.tiles, product.tiles, low, high)
        _Tile(elements, kernel, product, unit, turn).emit()


def _most(size: int, extent: Dim, unit: int) -> int:
    """How many of an axis a tile has at the most, whole units of at most `size` together, and one at least."""
    known = min(extent, size) if isinstance(extent, int) else size
    return max(1, -(-known // unit)) * unit


class _Tile:
    """The code of one tile, `turn` being its place among those along each loop."""

    def __init__(
        self, elements: Elements, kernel: Kernel, product: CpuProduct, unit: VectorUnit, turn: IndexValues
    ) -> None:
        self.elements, self.product, self.op = elements, product, product.op
        self.outputs: dict[ir.Value, list[ir.Value]] = {}
        for each in kernel.yields:
            self.outputs.setdefault(each.value, []).append(each.buffer)
        self.rows = self._run(turn[product.row_loop], _ROWS, product.rows)
        self.columns = self._run(turn[product.column_loop], _COLUMNS, product.columns)
        self.at = list(turn)
        self.row_axis, self.column_axis = (
            product.phase.loops[each] for each in (product.row_loop, product.column_loop)
        )
        element = accumulator_element(product.op)
        self.micro = MicroKernel.of(element, unit, product.rows)
        self.depth = _most(GENERIC_CPU.tile_depth_bytes // element.size_bytes, product.depth, 1)
        columns = _most(_COLUMNS, product.columns, self.micro.columns)
        self.pitch = columns + self.micro.lanes  # rows at a power of two would share few sets of a cache
        register = scalars.register_type(element)
        self.sums = row_memory(_most(_ROWS, product.rows, self.micro.rows) * self.pitch, register, "sums")
        self.left = row_memory(self.depth * self.micro.rows, register, "left")
        self.right = row_memory(self.depth * columns, register, "right")

    def emit(self) -> None:
        """Emit the sums, panel by panel, and then what is behind them."""
        elements, micro = self.elements, self.micro
        with elements.loop(0, self.rows.count, micro.rows, below=_ROWS) as row, self._panels() as column:
            micro.store(elements, self.sums, self._sum_slot(row, column), self.pitch, micro.zeros())
        with elements.loop(0, self.product.depth, self.depth) as first:
            count = self._count(first, self.depth, self.product.depth)
            self._pack_right(first, count)
            with elements.loop(0, self.rows.count, micro.rows, below=_ROWS) as row:
                self._pack_left(row, first, count)
                with self._panels() as column:
                    self._multiply(row, column, count)
        with elements.loop(0, self.rows.count, below=_ROWS) as row:
            self._finish(row)

    # --- packing ------------------------------------------------------------------------------------------------------

    def _pack_right(self, first: ir.Value, count: ir.Value | int) -> None:
        """Pack a panel of the right operand: the columns of a micro-kernel beside each other, product by product."""
        elements, width = self.elements, self.micro.columns

        def pack(panel: ir.Value, k: ir.Value, column: ir.Value) -> None:
            at = {self.column_axis: elements.moved(self.columns.first, elements.moved(panel, column))}
            element = self._factor(self.product.right, first, k, at)
            memref.store(element, self.right, [self._right_slot(panel, k, column)])

        with self._panels() as panel:
            near = self._count(panel, width, self.columns.count)
            if self.product.has_columns_inside:
                with elements.loop(0, count, below=self.depth) as k, elements.loop(0, near, below=width) as column:
                    pack(panel, k, column)
            else:
                self._in_blocks(near, width, count, lambda column, k: pack(panel, k, column))
            if near != width:
                with elements.loop(0, count, below=self.depth) as k, elements.loop(near, width, below=width) as column:
                    memref.store(initial(self.op), self.right, [self._right_slot(panel, k, column)])

    def _in_blocks(
        self, near: ir.Value | int, width: int, count: ir.Value | int, pack: Callable[[ir.Value, ir.Value], None]
    ) -> None:
        """Emit loops over `near` lines of `count` neighbours, some of them of each line before more of the first one.

        What is written meanwhile stays in the nearest cache.
        """
        elements = self.elements
        with elements.loop(0, count, _BLOCK, below=self.depth) as block:
            end = elements.moved(block, self._count(block, _BLOCK, count))
            with elements.loop(0, near, below=width) as line, elements.loop(block, end, below=self.depth) as k:
                pack(line, k)

    def _pack_left(self, row: ir.Value, first: ir.Value, count: ir.Value | int) -> None:
        """Pack a panel of the rows of the left operand from `row` on, product by product."""
        elements, height = self.elements, self.micro.rows

        def pack(i: ir.Value, k: ir.Value) -> None:
            at = {self.row_axis: elements.moved(self.rows.first, elements.moved(row, i))}
            element = self._factor(self.product.left, first, k, at)
            memref.store(element, self.left, [self._left_slot(k, i)])

        near = self._count(row, height, self.rows.count)
        if near != height:
            with elements.loop(0, count, below=self.depth) as k, elements.loop(0, height) as i:
                memref.store(initial(self.op), self.left, [self._left_slot(k, i)])
        if self.product.has_rows_inside:
            with elements.loop(0, count, below=self.depth) as k, elements.loop(0, near, below=height) as i:
                pack(i, k)
        else:
            with elements.loop(0, near, below=height) as i, elements.loop(0, count, below=self.depth) as k:
                pack(i, k)

    def _factor(self, factor: ir.Value, first: ir.Value, k: ir.Value, at: AxisValues) -> ir.Value:
        """An element of an operand: product `k` of the panel from `first` on, at a row or a column."""
        elements, phase = self.elements, self.product.phase
        summed = elements.delinearized(elements.moved(first, k), phase.reduced_extents)
        around = dict(zip(phase.loops, self.at, strict=True))
        here = {**around, **dict(zip(phase.reduced, summed, strict=True)), **at}
        element = elements.at(factor, index_at(elements, self.op.operand, self.product.kernel.dims, here))
        return scalars.cast(element, tensor_type(factor.type).element, accumulator_element(self.op))

    # --- sums ---------------------------------------------------------------------------------------------------------

    def _multiply(self, row: ir.Value, column: ir.Value, count: ir.Value | int) -> None:
        """Add the products of a panel to the sums of a micro-kernel."""
        elements, micro = self.elements, self.micro
        slot = self._sum_slot(row, column)
        start = micro.load(elements, self.sums, slot, self.pitch)

        def step(index: IndexValues, sums: list[ir.Value]) -> list[ir.Value]:
            (k,), zero = index, elements.index(0)
            left, right = self._left_slot(k, zero), self._right_slot(column, k, zero)
            return micro.multiplied(elements, (self.left, left), (self.right, right), sums)

        micro.store(elements, self.sums, slot, self.pitch, elements.carried((count,), start, step))

    # --- results ------------------------------------------------------------------------------------------------------

    def _finish(self, row: ir.Value) -> None:
        """Compute what is behind the sums of a row, and store what is written."""
        elements, counters, op, kernel = self.elements, self.elements.counters, self.op, self.product.kernel

        def finished(index: IndexValues) -> ir.Value:
            here = values_at(elements, op.operand, kernel.dims, index, set(op.axes))
            column = counters.expression(here[self.column_axis]) - counters.expression(self.columns.first)
            return elements.finished(op, memref.load(self.sums, [self._sum_slot(row, counters.value(column))]))

        elements.reduced[op.output] = finished
        at = list(self.at)
        at[self.product.row_loop] = elements.moved(self.rows.first, row)
        with elements.loop(0, self.columns.count, below=_COLUMNS) as column:
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

    def _count(self, first: ir.Value, size: int, extent: ir.Value | Dim) -> ir.Value | int:
        """How many there are of an extent from `first` on, a multiple of `size`, at most as many."""
        if not isinstance(extent, ir.Value) and extents.divide(extent, size) is not None:
            return size
        if isinstance(extent, int) and extent < size:
            return extent
        return arith.minsi(self.elements.index(size), arith.subi(self.elements.extent(extent), first))

    def _panels(self) -> AbstractContextManager[ir.Value]:
        """Emit the loop over the first columns of the micro-kernels of the tile."""
        return self.elements.loop(0, self.columns.count, self.micro.columns, below=_COLUMNS)

    def _sum_slot(self, row: ir.Value, column: ir.Value) -> ir.Value:
        return self._slot((row, self.pitch), (column, 1))

    def _left_slot(self, k: ir.Value, row: ir.Value) -> ir.Value:
        return self._slot((k, self.micro.rows), (row, 1))

    def _right_slot(self, panel: ir.Value, k: ir.Value, column: ir.Value) -> ir.Value:
        return self._slot((panel, self.depth), (k, self.micro.columns), (column, 1))

    def _slot(self, *terms: tuple[ir.Value, int]) -> ir.Value:
        """Where an element of packed rows is: the sum of places, each times a number."""
        counters = self.elements.counters
        expressions = [counters.expression(place) * times for place, times in terms]
        return counters.value(functools.reduce(operator.add, expressions))
