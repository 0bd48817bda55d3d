"""`tgpu.epilogue_slab` for one thread: its accumulators finished in pairs, and put into shared memory.

Where a tile reaches beyond the tensor, the pairs there are computed at its last row or column: what is read then
exists, and what comes out is not written by the statements behind. So nothing branches.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

from tinyc.codegen import scalars
from tinyc.codegen.words import AnyWord, as_index
from tinyc.dialects.gpu.dialect import accumulator_layout, accumulator_tile
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.fragment_tile import FragmentTile
from tinyc.dialects.gpu.expand.place import TilePlace
from tinyc.dialects.gpu.fragment_layout import PIECE_COLUMNS, FragmentLayout
from tinyc.dialects.gpu.statements import EpilogueSlabOp
from tinyc.dialects.gpu.statements.instruction import emit_ptx
from tinyc.expr import axes, extents
from tinyc.expr.axes import Index
from tinyc.expr.extents import Dim
from tinyc.mlir import arith, ir
from tinyc.vocabulary.attributes import tensor_type


def expand(expansion: Expansion, op: EpilogueSlabOp) -> None:
    """Emit, for each piece of the slab, the pairs and their stores; two pieces of the same rows at a time.

    No read is moved across a barrier of the warp (`gpu/to_nvvm` does not say that its buffer is apart from others).
    """
    layout = accumulator_layout(op.accumulator.type)
    assert layout is not None  # the statement's rule
    first, width = op.slab
    numbers, pairs = list(layout.pieces()), Pairs.of(expansion, op, layout)
    result, *residuals = (
        FragmentTile.of(expansion, tiles, op.stage, layout, width) for tiles in (op.tiles, *op.residuals)
    )
    apart = max(each.pieces_apart for each in (result, *residuals))
    for turn, (columns, row) in enumerate(itertools.product(_in_twos(width, apart), layout.piece_rows)):
        if turn and op.pieces.value and 2 * turn % op.pieces.value == 0:
            emit_ptx("barrier.warp")
        read = [each.load(row, columns) for each in residuals]
        values: list[ir.Value] = []
        for place, column in enumerate(columns):
            number = 4 * numbers.index((row, first + column))
            own = [each[4 * place : 4 * place + 4] for each in read]
            sums = expansion.accumulators[op.accumulator][number : number + 4]
            values += pairs.finish(row, first + column, sums, own)
        result.store(row, columns, values)


def _in_twos(width: int, apart: int) -> list[list[int]]:
    """The columns at which the pieces of a slab begin, in twos that are so many pieces apart, as far as that goes."""
    step = PIECE_COLUMNS * (apart if width % (2 * apart * PIECE_COLUMNS) == 0 else 1)
    firsts = (start + each for start in range(0, width, 2 * step) for each in range(0, step, PIECE_COLUMNS))
    return [[each for each in (column, column + step) if each < width] for column in firsts]


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
    #: The rows and the pairs of columns that have been asked for: all pieces of a row or a column share them.
    rows: dict[int, ir.Value] = field(default_factory=dict[int, ir.Value])
    columns: dict[int, tuple[ir.Value, tuple[ir.Value, ir.Value]]] = field(
        default_factory=dict[int, tuple[ir.Value, tuple[ir.Value, ir.Value]]]
    )

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
        counter, places = self._pair(column)
        arguments = list(op.body_block.arguments)[1:]
        summed, accumulated = accumulator_tile(op.accumulator.type).element, tensor_type(op.accumulated.type).element
        finished: list[ir.Value] = []
        for half in range(2):
            at = self._row(row + 8 * half)
            with elements.run(counter, 2):
                for lane in elements.lanes():
                    value = scalars.cast(sums[2 * half + lane], summed, accumulated)
                    index = self.place.index(elements, at, places[lane])
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
        if row not in self.rows:
            position = arith.addi(self.place.row, as_index(self.row + row))
            self.rows[row] = self._kept(position, "rows", self.place.extent("rows"))
        return self.rows[row]

    def _pair(self, column: int) -> tuple[ir.Value, tuple[ir.Value, ir.Value]]:
        """The number of a pair of columns, or of the last one, and its columns in the tensor."""
        if column not in self.columns:
            elements, extent = self.expansion.elements, self.place.extent("columns")
            pair = arith.divui(arith.addi(self.place.column, as_index(self.column + column)), elements.index(2))
            if self.expansion.kernel.is_multiple(extent, 2):
                pair = self._kept(pair, "columns", extents.floordiv(extent, 2))
                first = elements.counters.expression(pair) * 2
                places = elements.counters.value(first), elements.counters.value(first + 1)
            else:
                elements.counters.counter(pair)
                places = self._column(column), self._column(column + 1)
            self.columns[column] = pair, places
        return self.columns[column]

    def _column(self, column: int) -> ir.Value:
        position = arith.addi(self.place.column, as_index(self.column + column))
        return self._kept(position, "columns", self.place.extent("columns"))

    def _kept(self, position: ir.Value, side: str, extent: Dim) -> ir.Value:
        """A position that the tensor has: the last one where it is beyond."""
        elements = self.expansion.elements
        if side in self.place.guarded:
            position = arith.minui(position, elements.extent(extent - 1))
        elements.counters.counter(position, extent)
        return position
