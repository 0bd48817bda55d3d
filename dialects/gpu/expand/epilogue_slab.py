"""`tgpu.epilogue_slab` for one thread: its accumulators finished in pairs, and put into shared memory.

Where a tile reaches beyond the tensor, the pairs there are computed at its last row or column: what is read then
exists, and what comes out is not written by the statements behind. So nothing branches.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from tinyc.codegen import scalars
from tinyc.codegen.words import AnyWord, as_index
from tinyc.dialects.gpu.dialect import accumulator_layout, accumulator_tile
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.fragment_tile import FragmentTile
from tinyc.dialects.gpu.expand.place import TilePlace
from tinyc.dialects.gpu.fragment_layout import PIECE_COLUMNS, FragmentLayout
from tinyc.dialects.gpu.statements import EpilogueSlabOp
from tinyc.expr import axes, extents
from tinyc.expr.axes import Index
from tinyc.expr.extents import Dim
from tinyc.mlir import arith, ir
from tinyc.vocabulary.attributes import tensor_type


def expand(expansion: Expansion, op: EpilogueSlabOp) -> None:
    """Emit, for each piece of the slab, the pairs and their stores; two pieces beside each other at a time."""
    layout = accumulator_layout(op.accumulator.type)
    assert layout is not None  # the statement's rule
    first, width = op.slab
    numbers, pairs = list(layout.pieces()), Pairs.of(expansion, op, layout)
    result, *residuals = (
        FragmentTile.of(expansion, tiles, op.stage, layout, width) for tiles in (op.tiles, *op.residuals)
    )
    beside = 2 * PIECE_COLUMNS
    for start, row in itertools.product(range(first, first + width, beside), layout.piece_rows):
        columns = range(start, min(start + beside, first + width), PIECE_COLUMNS)
        read = [each.load(row, start - first, len(columns)) for each in residuals]
        values: list[ir.Value] = []
        for place, column in enumerate(columns):
            taken = slice(4 * numbers.index((row, column)), 4 * numbers.index((row, column)) + 4)
            own = [each[4 * place : 4 * place + 4] for each in read]
            values += pairs.finish(row, column, expansion.accumulators[op.accumulator][taken], own)
        result.store(row, start - first, values)


@dataclass(frozen=True)
class Pairs:
    """The pairs of accumulators of a thread, neighbours along a row, and where they are in the accumulated tensor."""

    expansion: Expansion
    op: EpilogueSlabOp
    place: TilePlace
    row: AnyWord
    column: AnyWord
    #: Where an element of the accumulated tensor is in the output; None where it has the same place there.
    moved: Index | None

    @classmethod
    def of(cls, expansion: Expansion, op: EpilogueSlabOp, layout: FragmentLayout) -> "Pairs":
        """Those of a statement."""
        workers = expansion.workers
        row, column = workers.start(layout)
        start = [expansion.values[each] for each in (op.batch, op.row, op.column)]
        accumulated = tensor_type(op.accumulated.type)
        place, places, (output,) = TilePlace.of(op, accumulated, start), op.places, op.yields
        assert not isinstance(places, str)  # the statement's rule
        moved = places[output.value]
        return cls(
            expansion,
            op,
            place,
            row + workers.lane // 4,
            column + workers.lane % 4 * 2,
            None if moved == axes.identity(accumulated.shape) else moved,
        )

    def finish(
        self, row: int, column: int, sums: Sequence[ir.Value], residuals: Sequence[Sequence[ir.Value]]
    ) -> list[ir.Value]:
        """Emit what becomes of a piece's four accumulators, and of what is beside them: a row's, then that 8 below."""
        elements, op = self.expansion.elements, self.op
        counter, is_even = self._pair(column)
        arguments = list(op.body_block.arguments)[1:]
        finished: list[ir.Value] = []
        for half in range(2):
            at = self._row(row + 8 * half)
            with elements.run(counter, 2):
                for lane in elements.lanes():
                    place = self._column(counter, column, lane, is_even)
                    value = scalars.cast(
                        sums[2 * half + lane],
                        accumulator_tile(op.accumulator.type).element,
                        tensor_type(op.accumulated.type).element,
                    )
                    index = self.place.index(elements, at, place)
                    elements.reduced[op.accumulated] = lambda _, value=value: value
                    for argument, piece in zip(arguments, residuals, strict=True):
                        elements.reduced[argument] = lambda _, value=piece[2 * half + lane]: value
                    finished.append(self._result(index))
        return finished

    def _result(self, index: tuple[ir.Value, ...]) -> ir.Value:
        elements, (output,) = self.expansion.elements, self.op.yields
        if self.moved is not None:
            shape = tensor_type(self.op.accumulated.type).shape
            index = tuple(elements.position(row, index, shape) for row in self.moved)
        return elements.at(output.value, index)

    def _row(self, row: int) -> ir.Value:
        """The row in the tensor, or its last one."""
        return self._kept(arith.addi(self.place.row, as_index(self.row + row)), "rows", self.place.extent("rows"))

    def _pair(self, column: int) -> tuple[ir.Value, bool]:
        """The number of the pair of columns, or of the last one, and whether the tensor is whole pairs."""
        elements, extent = self.expansion.elements, self.place.extent("columns")
        half = extents.floordiv(extent, 2) if self.expansion.kernel.is_multiple(extent, 2) else None
        first = arith.addi(self.place.column, as_index(self.column + column))
        pair = arith.divui(first, elements.index(2))
        if half is None:
            elements.counters.counter(pair)
            return pair, False
        return self._kept(pair, "columns", half), True

    def _column(self, pair: ir.Value, column: int, lane: int, is_even: bool) -> ir.Value:
        elements = self.expansion.elements
        if is_even:
            return elements.counters.value(elements.counters.expression(pair) * 2 + lane)
        position = arith.addi(self.place.column, as_index(self.column + (column + lane)))
        return self._kept(position, "columns", self.place.extent("columns"))

    def _kept(self, position: ir.Value, side: str, extent: Dim) -> ir.Value:
        """A position that the tensor has: the last one where it is beyond."""
        elements = self.expansion.elements
        if side in self.place.guarded:
            position = arith.minui(position, elements.extent(extent - 1))
        elements.counters.counter(position, extent)
        return position
