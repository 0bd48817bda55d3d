"""The nest of a product (`analysis.cpu_product`): the sums of a tile of rows and columns at a time.

The axis that is summed up is walked in panels. What a tile reads of the right operand in a panel is packed first, a few
vectors of columns beside each other, or the box of places that windows share, unless it is read in place; and of the
left one for a few rows, in the type of the sums: an element of an operand is computed once for a tile. The micro-kernel
has the sums of those rows and columns in registers and adds the products of a panel to them, each sum in order. Rows
and columns are filled up, with zeros or with what is between the rows of a box, which nobody reads. After the last
panel, what is behind the sums is computed for those rows. Where the CPU adds the products of neighbours at once, what
is packed are words of these (`packed_words`), and sums are in the order of its instructions.
"""

import functools
import operator
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack

from tinyc.analysis.cpu_product import TRANSPOSED_LANES, CpuProduct
from tinyc.codegen import scalars
from tinyc.codegen.elements import Elements, IndexValues
from tinyc.codegen.reduction_steps import initial
from tinyc.dialects.region.kernel import Kernel
from tinyc.dialects.region.to_loops.axis_values import AxisValues, index_at, values_at
from tinyc.dialects.region.to_loops.boxes import Boxes
from tinyc.dialects.region.to_loops.lanes import row_memory
from tinyc.dialects.region.to_loops.loop_hints import mark_unrolled
from tinyc.dialects.region.to_loops.micro_kernel import MicroKernel
from tinyc.dialects.region.to_loops.operands import ProductOperands, RowPlaces
from tinyc.dialects.region.to_loops.packed_words import PackedWords
from tinyc.dialects.region.to_loops.packing import PackedRun, Panels
from tinyc.dialects.region.to_loops.tile_kernel import TileKernel
from tinyc.dialects.region.to_loops.turns import LineRun, TileLines, count_from, line_runs, loops_over
from tinyc.expr import extents
from tinyc.mlir import arith, ir, memref, scf, vector
from tinyc.target import VectorUnit


def product_nest(
    elements: Elements,
    kernel: Kernel,
    product: CpuProduct,
    unit: VectorUnit,
    workspaces: Sequence[ir.Value],
    low: ir.Value,
    high: ir.Value,
) -> None:
    """Compute the tiles of a product, and what is behind it, in vectors of `unit`; `workspaces` are its own memory."""
    with ExitStack() as stack:
        tiles = product.ordered_tiles
        taken = loops_over(elements, stack, tiles[: product.parallel], tiles, low, high)
        turn = tuple(taken[product.order.index(place)] for place in range(len(tiles)))
        _Tile(elements, kernel, product, unit, workspaces, turn).emit()


def _micro_kernel(product: CpuProduct, unit: VectorUnit) -> MicroKernel | TileKernel:
    """The micro-kernel of a product on a CPU with such vectors."""
    dot, rows = product.dot, product.rows.most
    if dot is not None and dot.form.in_tiles:
        return TileKernel.of(dot, rows, product.room_in_panel)
    in_place, lanes = product.reads_right_in_place, product.asked.lanes
    return MicroKernel.of(product.accumulator, unit, rows, is_wide=in_place, lanes=lanes, dot=dot)


class _Tile:
    """The code of one tile, `turn` being its place among those along each loop."""

    def __init__(
        self,
        elements: Elements,
        kernel: Kernel,
        product: CpuProduct,
        unit: VectorUnit,
        workspaces: Sequence[ir.Value],
        turn: IndexValues,
    ) -> None:
        self.elements, self.product, self.op = elements, product, product.op
        self.outputs = kernel.written
        self.at = list(turn)
        around = dict(zip(product.phase.loops, turn, strict=True))
        self.operands = ProductOperands(elements, product.kernel, product.op, around)
        self.rows = TileLines.of(elements, product.rows, turn)
        held = product.box and product.box.extents
        self.columns = TileLines.of(elements, product.columns, turn, held)
        self.micro = _micro_kernel(product, unit)
        last = -(-product.column_slots // self.micro.columns) * self.micro.columns
        assert last <= product.packed_columns  # the last micro-kernel stays in its row
        own, register = list(workspaces), scalars.register_type(product.accumulator)
        self.pitch = product.packed_columns + TRANSPOSED_LANES  # rows at a power of two would share few sets of a cache
        rows, columns, lanes = self.micro.rows, self.micro.columns, self.micro.lanes
        depth, zero = product.room_in_panel, initial(product.op)
        self.right = self.boxes = None
        if product.box is not None:
            self.boxes = Boxes(elements, own.pop(0), product.box)
        elif product.packs_right:
            inside = product.has_columns_inside
            self.right = Panels(
                elements, own.pop(0), columns, product.columns.most, lanes, depth, zero, self.columns.each, inside
            )
        self.left = None
        if not product.reads_left_in_place:
            inside = product.has_rows_inside
            left = own.pop(0) if inside else row_memory(depth * rows, register, "left")
            self.left = Panels(
                elements, left, self.micro.packed_rows, product.rows.most, lanes, depth, zero, self.rows.each, inside
            )
        self.added = None
        if product.dot is not None and product.dot.turns_signs:
            self.added = row_memory(product.packed_columns, register, "added")
        self.sums = own.pop() if own else row_memory(rows * self.pitch, register, "sums")

    def emit(self) -> None:
        """Emit the sums, panel by panel, and after the last one what is behind them."""
        elements, product = self.elements, self.product
        if product.has_one_panel and isinstance(product.depth, int):
            self._panel(elements.index(0), product.depth)
            return
        with elements.loop(0, self.rows.count, self.micro.rows) as row, self._column_panels() as column:
            slot = self._sum_slot(row, column)
            self.micro.store(elements, self.sums, slot, self.pitch, self.micro.zeros())
        panels = elements.extent(extents.ceildiv(product.depth, product.panel_depth))
        end = arith.maxsi(panels, elements.index(1))  # sums of nothing are finished, too
        with elements.loop(0, end) as panel:
            first = elements.counters.value(elements.counters.expression(panel) * product.panel_depth)
            self._panel(first, count_from(elements, first, product.panel_depth, product.depth))

    def _panel(self, first: ir.Value, count: ir.Value | int) -> None:
        """Add the products of a panel to all sums."""
        elements, product = self.elements, self.product
        self._pack_right(first, count)
        if self.added is not None:
            self._add_turned_signs(self.added, first, count)
        if product.has_rows_inside:
            self._pack_left(first, count)
        for rows in line_runs(self.rows.count, self.micro.rows, self.micro.row_unit):
            with elements.loop(rows.start, rows.end, rows.size, below=product.rows.most) as row:
                self._row_panel(rows, row, first, count)

    def _row_panel(self, rows: LineRun, row: ir.Value, first: ir.Value, count: ir.Value | int) -> None:
        """Add the products of a panel to the sums of a micro-kernel's rows, which are finished after the last one."""
        elements, product = self.elements, self.product
        if not product.has_rows_inside:
            self._pack_left(first, count, row)
        for columns in self._column_runs():
            with elements.loop(columns.start, columns.end, columns.size, below=product.column_slots) as column:
                self._multiply(rows, columns, row, column, first, count)
        if product.has_one_panel:
            self._finish(rows, row)
            return
        end = arith.addi(first, elements.index(product.panel_depth))
        is_last = scf.IfOp(arith.cmpi(arith.CmpIPredicate.sge, end, elements.extent(product.depth)))
        with elements.block(is_last.then_block):
            self._finish(rows, row)
            scf.yield_([])

    @property
    def _vectors(self) -> MicroKernel:
        """The micro-kernel, where it is one of vectors: tiles have all signs, and operands that are packed in a run."""
        assert isinstance(self.micro, MicroKernel)
        return self.micro

    # --- packing ------------------------------------------------------------------------------------------------------

    def _pack_right(self, first: ir.Value, count: ir.Value | int) -> None:
        """Pack a panel of the right operand for all columns of the tile, where it is packed."""
        if self.boxes is not None:
            self._pack_boxes(self.boxes, first, count)
        if self.right is None:
            return

        def at(column: ir.Value, k: ir.Value) -> AxisValues:
            return self._places(first, k, self._along_columns(column))

        self._pack(self.right, self.columns.count, count, at, is_left=False)

    def _pack_boxes(self, boxes: Boxes, first: ir.Value, count: ir.Value | int) -> None:
        """Pack the places that the windows of all columns of the tile read in a panel."""

        def element(k: ir.Value, place: IndexValues) -> ir.Value:
            at = map(self.elements.moved, self.columns.starts, place)
            along = dict(zip(self.product.column_axes, at, strict=True))
            return self.operands.element(self.product.right, self._places(first, k, along))

        boxes.pack(count, self.columns.turns, element)

    def _pack_left(self, first: ir.Value, count: ir.Value | int, row: ir.Value | None = None) -> None:
        """Pack a panel of the left operand, unless it is in place: for a micro-kernel from `row` on, or for all."""
        if self.left is None:
            return
        elements = self.elements
        start = elements.index(0) if row is None else row
        rows = self.rows.count if row is None else count_from(elements, row, self.micro.rows, self.rows.count)

        def at(near: ir.Value, k: ir.Value) -> AxisValues:
            return self._places(first, k, self._along_rows(elements.moved(start, near)))

        self._pack(self.left, rows, count, at, is_left=True)

    def _pack(
        self,
        panels: Panels,
        lines: ir.Value | int,
        count: ir.Value | int,
        at: Callable[[ir.Value, ir.Value], AxisValues],
        *,
        is_left: bool,
    ) -> None:
        """Pack some lines of a panel of `count` products: elements, or words of them; `at` says where each is."""
        operands, product, words = self.operands, self.product, self._words(count)
        factor = product.left if is_left else product.right

        def element(line: ir.Value, k: ir.Value) -> ir.Value:
            return operands.element(factor, at(line, k))

        if words is not None:
            panels.pack(lines, words.runs(element, is_left=is_left))
            return
        run = PackedRun(count, element)
        if product.has_left_in_vectors if is_left else product.has_right_in_vectors:
            memory, address = operands.in_place(factor)
            run = PackedRun(count, element, lambda line, k: (memory, address(operands.index(at(line, k)))))
        panels.pack(lines, [run], 1 if is_left else product.taps)

    def _words(self, count: ir.Value | int) -> PackedWords | None:
        """The words of a panel of `count` products, where the CPU multiplies such."""
        dot = self.product.dot
        return None if dot is None else PackedWords.of(self.elements, self.product, dot, count)

    def _add_turned_signs(self, added: ir.Value, first: ir.Value, count: ir.Value | int) -> None:
        """Compute what turning the signs of the left operand adds to the sums of each column, which a panel has."""
        elements, micro, words = self.elements, self._vectors, self._words(count)
        assert words is not None  # bytes are in words
        with self._column_panels() as column:
            columns = self._columns(None, column, first)

            def step(index: IndexValues, sums: list[ir.Value]) -> list[ir.Value]:
                (k,) = index
                return micro.turned_signs(columns(k), sums)

            sums = elements.carried((words.words,), micro.zeros()[: micro.vectors], step)
            for at, each in enumerate(sums):
                vector.store(each, added, [elements.moved(column, at * micro.lanes)])

    def _places(self, first: ir.Value, k: ir.Value, at: AxisValues) -> AxisValues:
        """Where along its axes an operand has product `k` of the panel from `first` on, at a row or a column."""
        elements, phase = self.elements, self.product.phase
        summed = elements.delinearized(elements.moved(first, k), phase.reduced_extents)
        return {**dict(zip(phase.reduced, summed, strict=True)), **at}

    def _along_columns(self, column: ir.Value) -> AxisValues:
        """Where a column of the tile is along the axes of columns."""
        return dict(zip(self.product.column_axes, self.columns.places(column), strict=True))

    def _along_rows(self, row: ir.Value) -> AxisValues:
        """Where a row of the tile is along the axes of rows."""
        return dict(zip(self.product.row_axes, self.rows.places(row), strict=True))

    # --- sums ---------------------------------------------------------------------------------------------------------

    def _multiply(
        self, rows: LineRun, columns: LineRun, row: ir.Value, column: ir.Value, first: ir.Value, count: ir.Value | int
    ) -> None:
        """Add the products of a panel to the sums of a micro-kernel, from a row and a column of these runs on."""
        elements, micro = self.elements, self.micro.fitted(rows.size, columns.size)
        slot = self._sum_slot(row, column)
        start = micro.zeros() if self.product.has_one_panel else micro.load(elements, self.sums, slot, self.pitch)
        if self.added is not None:
            assert isinstance(micro, MicroKernel)
            start = micro.without(start, micro.columns_at(elements, self.added, column))
        panel = row if self.product.has_rows_inside else elements.index(0)
        factors = self._rows_in_place(rows, row, first) if self.left is None else self.left.rows(panel)
        vectors, boxes = self._columns(columns, column, first), self.boxes

        def step(index: IndexValues, sums: list[ir.Value]) -> list[ir.Value]:
            if self.product.asked.unroll is not None:
                mark_unrolled(index[-1], self.product.asked.unroll)
            if boxes is not None:
                for k, distance in boxes.products(index):
                    assert isinstance(micro, MicroKernel)
                    sums = micro.multiplied(*factors(k), vectors(distance), sums)
                return sums
            (k,) = index
            return micro.stepped(elements, k, factors, vectors, sums)

        words = self._words(count)
        loops = (count if words is None else words.steps,) if boxes is None else boxes.loops(count)
        micro.store(elements, self.sums, slot, self.pitch, elements.carried(loops, start, step))

    def _rows_in_place(self, run: LineRun, row: ir.Value, first: ir.Value) -> RowPlaces:
        """Where the elements of rows are that a product has, which are read as they lie in memory."""

        def at(row: ir.Value) -> AxisValues:
            return self._places(first, self.elements.index(0), self._along_rows(row))

        count = run.size if run.is_whole else self.rows.count
        return self.operands.rows_in_place(self.product.left, run.size, row, count, at)

    def _columns(self, run: LineRun | None, column: ir.Value, first: ir.Value) -> Callable[[ir.Value], list[ir.Value]]:
        """Which vectors of columns, those from `column` on, a product of the panel from `first` on has.

        Of boxes it is asked for how far a product is from the first one.
        """
        if self.boxes is not None:
            return self.boxes.columns(self._vectors, column)
        if self.right is not None:
            return self._packed_columns(self.right, column)
        if self.product.reads_right_in_panels:
            return self._columns_in_panels(column, first)
        assert run is not None  # those that are read in place are no words
        return self._columns_in_place(run, column, first)

    def _packed_columns(self, right: Panels, column: ir.Value) -> Callable[[ir.Value], list[ir.Value]]:
        """The same of packed columns."""

        def columns(k: ir.Value) -> list[ir.Value]:
            return self.micro.packed_columns(self.elements, right.memory, right.slot(column, k))

        return columns

    def _columns_in_panels(self, column: ir.Value, first: ir.Value) -> Callable[[ir.Value], list[ir.Value]]:
        """The same where they are in memory in panels; behind the last one is one of zeros."""
        elements, micro = self.elements, self.micro
        memory, address = self.operands.in_place(self.product.right)
        starts: list[ir.Value] = []
        for at in range(micro.vectors):
            here = self._along_columns(elements.moved(column, at * micro.lanes))
            starts.append(address(self.operands.index(self._places(first, elements.index(0), here))))

        return lambda k: micro.columns_in_panels(elements, memory, starts, k)

    def _columns_in_place(
        self, run: LineRun, column: ir.Value, first: ir.Value
    ) -> Callable[[ir.Value], list[ir.Value]]:
        """The same where they are read as they lie in memory."""
        elements, micro = self.elements, self._vectors.fitted(self.micro.rows, run.size)
        memory, address = self.operands.in_place(self.product.right)
        count = elements.extent(self.columns.count)
        masks = [] if run.is_whole else micro.masks(elements, arith.subi(count, column))

        def columns(k: ir.Value) -> list[ir.Value]:
            index = self.operands.index(self._places(first, k, self._along_columns(column)))
            return micro.columns_in_place(elements, memory, address(index), masks)

        return columns

    # --- results ------------------------------------------------------------------------------------------------------

    def _finish(self, run: LineRun, panel: ir.Value) -> None:
        """Compute what is behind the sums of some rows, those from `panel` on, and store what is written."""
        elements = self.elements
        count = run.size if run.is_whole else count_from(elements, panel, run.size, self.rows.count)
        with elements.loop(0, count, below=run.size) as near:
            self._finish_row(elements.moved(panel, near), self._sum_slot(panel, elements.index(0), near))

    def _finish_row(self, row: ir.Value, slot: ir.Value) -> None:
        """Compute what is behind the sums of a row, which are in memory from `slot` on."""
        elements, counters, op, product = self.elements, self.elements.counters, self.op, self.product
        kernel = product.kernel

        def finished(index: IndexValues) -> ir.Value:
            here = values_at(elements, op.operand, kernel.dims, index, set(op.axes))
            column = self.columns.number([here[axis] for axis in product.column_axes])
            place = counters.value(counters.expression(slot) + counters.expression(column))
            return elements.finished(op, memref.load(self.sums, [place]))

        elements.reduced[op.output] = finished
        at = list(self.at)
        for loop, place in zip(product.rows.loops, self.rows.places(row), strict=True):
            at[loop] = place
        with self.columns.each() as column:
            for loop, place in zip(product.columns.loops, self.columns.places(column), strict=True):
                at[loop] = place
            for phase in kernel.loops.phases:
                value, is_sum = kernel.value(phase), phase is product.phase
                here = dict(zip(phase.loops, at, strict=True))
                index = index_at(elements, op.operand if is_sum else value, kernel.dims, here)
                if is_sum:
                    index = tuple(each for axis, each in enumerate(index) if axis not in tuple(op.axes))
                for buffer in self.outputs.get(value, ()):
                    elements.store(buffer, index, elements.at(value, index))

    # --- where things are ---------------------------------------------------------------------------------------------

    def _column_runs(self) -> list[LineRun]:
        """The micro-kernels beside each other; columns in place that do not fill the last one are masked there."""
        count, size = self.columns.end, self.micro.columns
        if isinstance(count, int) or not self.product.reads_right_in_place:
            return line_runs(count, size, self.micro.column_unit)
        whole = arith.subi(count, arith.remui(count, self.elements.index(size)))
        return [LineRun(0, whole, size, is_whole=True), LineRun(whole, count, size, is_whole=False)]

    def _column_panels(self) -> AbstractContextManager[ir.Value]:
        """Emit the loop over the first columns of the micro-kernels of the tile."""
        return self.elements.loop(0, self.columns.end, self.micro.columns, below=self.product.column_slots)

    def _sum_slot(self, row: ir.Value, column: ir.Value, near: ir.Value | None = None) -> ir.Value:
        """Where the sum of a column is of the row that is `near` rows from `row`, the first one of a micro-kernel."""
        counters = self.elements.counters
        rows = [each for each in (None if self.product.has_one_panel else row, near) if each is not None]
        above = [counters.expression(each) * self.pitch for each in rows]
        return counters.value(functools.reduce(operator.add, [*above, counters.expression(column)]))
