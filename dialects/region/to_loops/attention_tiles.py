"""The nest of attention (`analysis.cpu_attention`): a tile of queries, which reads the keys tile by tile.

Queries are the columns, packed once: a panel of them is a few vectors. Of a tile of keys, a micro-kernel makes the
scores of a panel, which stay in the nearest cache while they become weights (`online_softmax`), and another one adds
the values by these. At the end sums are divided by the total, and what is behind them is computed. How threads share
the tiles changes no sum.
"""

import functools
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack

from tinyc.analysis.cpu_attention import CpuAttention
from tinyc.analysis.poly_core.fused_loops import Phase
from tinyc.codegen import scalars
from tinyc.codegen.elements import Elements, IndexValues
from tinyc.dialects.region.kernel import Kernel
from tinyc.dialects.region.to_loops.axis_values import AxisValues, index_at, values_at
from tinyc.dialects.region.to_loops.lanes import row_memory
from tinyc.dialects.region.to_loops.micro_kernel import MicroKernel
from tinyc.dialects.region.to_loops.online_softmax import KeyRange, OnlineSoftmax, QueryTile
from tinyc.dialects.region.to_loops.operands import ProductOperands, RowPlaces
from tinyc.dialects.region.to_loops.packing import PackedRun, Panels, transposed
from tinyc.dialects.region.to_loops.turns import TileLines, count_from, loops_over
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import extents
from tinyc.mlir import arith, ir, memref, vector
from tinyc.mlir.constants import number
from tinyc.target import VectorUnit


def attention_nest(
    elements: Elements,
    kernel: Kernel,
    attention: CpuAttention,
    unit: VectorUnit,
    workspaces: Sequence[ir.Value],
    low: ir.Value,
    high: ir.Value,
) -> None:
    """Compute the tiles of queries, in vectors of `unit`; `workspaces` are its own memory."""
    with ExitStack() as stack:
        turn = loops_over(elements, stack, attention.tiles[: attention.parallel], attention.tiles, low, high)
        _Tile(elements, kernel, attention, unit, workspaces, turn).emit()


class _Tile:
    """The code of one tile of queries, `turn` being its place among those along each loop."""

    def __init__(
        self,
        elements: Elements,
        kernel: Kernel,
        attention: CpuAttention,
        unit: VectorUnit,
        workspaces: Sequence[ir.Value],
        turn: IndexValues,
    ) -> None:
        self.elements, self.attention, self.phases = elements, attention, attention.phases
        self.outputs = kernel.written
        element = attention.accumulator
        self.scoring = MicroKernel.of(element, unit, attention.key_tile, is_wide=False)
        self.weighing = MicroKernel.of(element, unit, attention.value_width, is_wide=False)
        self.register = scalars.register_type(element)
        queries, values, scores, self.sums, *keys = workspaces
        lines = TileLines.of(elements, attention.queries, turn)
        self.tile = QueryTile(elements, attention, turn, lines, self.scoring.columns)
        self.softmax = OnlineSoftmax(self.tile, self.scoring, scores)
        panels = functools.partial(Panels, elements, lanes=self.scoring.lanes, zero=number(0, self.register))
        self.queries = panels(
            queries,
            lines=self.tile.panel,
            most=attention.queries.most,
            depth=attention.room_for_products,
            each_line=lines.each,
            has_lines_inside=False,
        )
        self.values = panels(
            values,
            lines=self.weighing.rows,
            most=attention.value_width,
            depth=attention.room_for_keys,
            each_line=lambda: elements.loop(0, attention.value_width),
            has_lines_inside=attention.has_values_inside,
        )
        self.keys = keys[0] if keys else None
        self.panels = panels

    def emit(self) -> None:
        """Emit what all queries of the tile have of no key, of one tile of keys after the other, and their results."""
        elements, attention, scores = self.elements, self.attention, self.phases.scores
        operands = self._operands(attention.scored, scores)

        def element(query: ir.Value, k: ir.Value) -> ir.Value:
            return operands.element(attention.query, {**self.tile.places(scores, query), scores.reduced[0]: k})

        self.queries.pack(self.tile.lines.count, [PackedRun(attention.key_depth, element)])
        with self.tile.panels() as panel:
            self._start(panel)
        low, high = self._seen(elements.index(0), self.tile.last)
        size, tiles = elements.index(attention.key_tile), extents.ceildiv(attention.keys, attention.key_tile)
        end = arith.divui(elements.moved(high, attention.key_tile - 1), size)
        with elements.loop(arith.divui(low, size), end, below=tiles) as tile:
            first = elements.counters.value(elements.counters.expression(tile) * attention.key_tile)
            self._take_in(first, count_from(elements, first, attention.key_tile, attention.keys))
        with self.tile.panels() as panel:
            self._finish(panel)

    # --- keys that are seen -------------------------------------------------------------------------------------------

    def _seen(self, first: ir.Value, last: ir.Value) -> tuple[ir.Value, ir.Value]:
        """The first key that some query from `first` to `last` may see, of whole micro-kernels, and the one behind."""
        elements, bounds = self.elements, self.attention.bounds
        low, high = elements.index(0), elements.extent(self.attention.keys)
        if not bounds:
            return low, high
        for bound in bounds:
            index = self.tile.of_score(last if bound.is_upper else first, elements.index(0))
            place = tuple(elements.index(0) if dim is None else index[dim] for dim in bound.dims)
            limit, key = (elements.at(each, place) for each in (bound.limit, bound.key))
            edge = arith.subi(*(arith.index_cast(ir.IndexType.get(), each) for each in (limit, key)))
            if bound.is_upper:
                high = arith.minsi(high, edge)
            else:
                low = arith.maxsi(low, arith.addi(edge, elements.index(1)))
        low, rows = arith.minsi(low, elements.extent(self.attention.keys)), elements.index(self.scoring.rows)
        low = arith.muli(arith.divui(low, rows), rows)
        return low, arith.maxsi(low, high)

    def _seen_by(self, panel: ir.Value) -> tuple[ir.Value, ir.Value]:
        """The same for the queries of a panel."""
        behind = arith.addi(panel, self.elements.extent(self.tile.count(panel)))
        return self._seen(panel, arith.subi(behind, self.elements.index(1)))

    # --- a tile of keys -----------------------------------------------------------------------------------------------

    def _start(self, panel: ir.Value) -> None:
        """Emit what a panel has of no key, or of keys that none of its queries sees."""
        low, high = self._seen_by(panel)
        seen = arith.subi(high, low)
        self.softmax.start(panel, arith.subi(self.elements.extent(self.attention.keys), seen))
        with self._value_rows() as row:
            self.weighing.store(self.elements, self.sums, self._sum(panel, row), self.tile.panel, self.weighing.zeros())

    def _take_in(self, first: ir.Value, count: ir.Value | int) -> None:
        """Emit what the queries make of `count` keys from `first` on."""
        elements, attention, weighted = self.elements, self.attention, self.phases.weighted
        operands = self._operands(attention.weighted, weighted)

        def element(row: ir.Value, key: ir.Value) -> ir.Value:
            at = {weighted.inner[0]: row, weighted.reduced[0]: elements.moved(first, key)}
            return operands.element(attention.softmax.values, at)

        self.values.pack(attention.value_width, [PackedRun(count, element)])
        rows = self._rows_of_keys(first, count)
        with self.tile.panels() as panel:
            low, high = elements.index(0), elements.extent(count)
            if attention.bounds:
                start, end = self._seen_by(panel)
                low = arith.maxsi(arith.subi(start, first), low)
                high = arith.minsi(arith.subi(end, first), high)
            keys = KeyRange(first, low, high)
            self._score(panel, keys, rows)
            self.softmax.make_weights(panel, keys)
            self._weigh(panel, keys)

    def _rows_of_keys(self, first: ir.Value, count: ir.Value | int) -> Callable[[ir.Value], RowPlaces]:
        """Where the elements of a micro-kernel's keys are, by the first of them: packed here, or in place."""
        elements, attention, scores = self.elements, self.attention, self.phases.scores
        operands = self._operands(attention.scored, scores)

        def at(key: ir.Value, k: ir.Value) -> AxisValues:
            return {scores.inner[0]: elements.moved(first, key), scores.reduced[0]: k}

        def in_place(row: ir.Value) -> RowPlaces:
            start = elements.index(0)
            return operands.rows_in_place(attention.key, self.scoring.rows, row, count, lambda key: at(key, start))

        if self.keys is None:
            return in_place
        packed = self.panels(
            self.keys,
            lines=self.scoring.rows,
            most=attention.key_tile,
            depth=attention.room_for_products,
            each_line=lambda: elements.loop(0, count, below=attention.key_tile),
            has_lines_inside=attention.has_keys_inside,
        )
        run = PackedRun(attention.key_depth, lambda key, k: operands.element(attention.key, at(key, k)))
        packed.pack(count, [run])
        return packed.rows

    def _score(self, panel: ir.Value, keys: KeyRange, rows: Callable[[ir.Value], RowPlaces]) -> None:
        """Emit the products of a panel with keys: scores, those of a key beside each other."""
        elements, micro = self.elements, self.scoring
        with elements.loop(keys.low, keys.high, micro.rows, below=self.attention.key_tile) as row:
            places = rows(row)

            def step(index: IndexValues, sums: list[ir.Value]) -> list[ir.Value]:
                slot = self.queries.slot(panel, index[0])
                return micro.multiplied(*places(index[0]), micro.columns_at(elements, self.queries.memory, slot), sums)

            sums = elements.carried((self.attention.key_depth,), micro.zeros(), step)
            micro.store(elements, self.softmax.scores, self.softmax.slot(row), micro.columns, sums)

    def _weigh(self, panel: ir.Value, keys: KeyRange) -> None:
        """Emit the sums of a panel, made smaller, with the weighted values of keys added."""
        elements, micro, scores = self.elements, self.weighing, self.softmax.scores
        factors = self.softmax.factors_at()
        with self._value_rows() as row:
            slot, rows = self._sum(panel, row), self.values.rows(row)
            sums = micro.load(elements, self.sums, slot, micro.columns)
            start = [arith.mulf(each, factors[at % micro.vectors]) for at, each in enumerate(sums)]

            def step(index: IndexValues, sums: list[ir.Value]) -> list[ir.Value]:
                key = arith.addi(keys.low, index[0])
                return micro.multiplied(*rows(key), micro.columns_at(elements, scores, self.softmax.slot(key)), sums)

            total = elements.carried((keys.count(elements),), start, step)
            micro.store(elements, self.sums, slot, micro.columns, total)

    # --- results ------------------------------------------------------------------------------------------------------

    def _finish(self, panel: ir.Value) -> None:
        """Divide the sums of a panel by the totals, and compute what is behind them, query by query."""
        elements, lanes, pitch = self.elements, self.scoring.lanes, self.attention.room_for_values
        results = row_memory(self.tile.panel * pitch, self.register, "results")
        totals = self._divisors(panel)
        with elements.loop(0, self.attention.value_width, lanes) as first:
            for at, total in enumerate(totals):
                rows = [self._sum(panel, elements.moved(first, near)) for near in range(lanes)]
                places = [elements.moved(row, at * lanes) for row in rows]
                means = [arith.divf(each, total) for each in self.weighing.vectors_at(self.sums, places)]
                for near, each in enumerate(transposed(means)):
                    slot = elements.index((at * lanes + near) * pitch)
                    vector.store(each, results, [elements.moved(slot, first)])
        with elements.loop(0, self.tile.count(panel), below=self.tile.panel) as lane:
            slot = elements.counters.value(elements.counters.expression(lane) * pitch)
            self._finish_query(elements.moved(panel, lane), results, slot)

    def _divisors(self, panel: ir.Value) -> list[ir.Value]:
        """Emit what the sums of a panel are divided by; a sum over no key is 0, whatever its total."""
        totals, keys = self.softmax.totals_at(panel), self.attention.keys
        if isinstance(keys, int) and keys:
            return totals
        is_none = arith.cmpi(arith.CmpIPredicate.eq, self.elements.extent(keys), self.elements.index(0))
        one = vector.broadcast(self.scoring.vector_type, number(1, self.register))
        return [arith.select(is_none, one, each) for each in totals]

    def _finish_query(self, query: ir.Value, results: ir.Value, slot: ir.Value) -> None:
        """Compute what is behind the sums of a query, which are in memory from `slot` on."""
        elements, kernel = self.elements, self.attention.kernel
        op, weighted = self.attention.weighted, self.phases.weighted

        def finished(index: IndexValues) -> ir.Value:
            here = values_at(elements, op.operand, kernel.dims, index, set(op.axes))
            return elements.finished(op, memref.load(results, [elements.moved(slot, here[weighted.inner[0]])]))

        elements.reduced[op.output] = finished
        for phase in kernel.loops.phases:
            value, is_sum = kernel.value(phase), phase is weighted
            buffers = self.outputs.get(value, ())
            if not buffers:
                continue
            with elements.loops(phase.inner_extents) as inner:
                here = {**self.tile.places(phase, query), **dict(zip(phase.inner, inner, strict=True))}
                index = index_at(elements, op.operand if is_sum else value, kernel.dims, here)
                if is_sum:
                    index = tuple(each for axis, each in enumerate(index) if axis not in tuple(op.axes))
                for buffer in buffers:
                    elements.store(buffer, index, elements.at(value, index))

    # --- where things are ---------------------------------------------------------------------------------------------

    def _operands(self, op: tiny.ReduceOp, phase: Phase) -> ProductOperands:
        """The operands of a product, at the tile's first query."""
        return ProductOperands(
            self.elements, self.attention.kernel, op, self.tile.places(phase, self.elements.index(0))
        )

    def _value_rows(self) -> AbstractContextManager[ir.Value]:
        """Emit the loop over the first elements of a value that micro-kernels sum up."""
        return self.elements.loop(0, self.attention.value_width, self.weighing.rows)

    def _sum(self, panel: ir.Value, row: ir.Value) -> ir.Value:
        """Where an element of the sums of values is, that of a panel."""
        counters = self.elements.counters
        first = counters.expression(panel) * self.attention.room_for_values
        return counters.value(first + counters.expression(row) * self.tile.panel)
