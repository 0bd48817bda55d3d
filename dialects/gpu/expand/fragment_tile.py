"""A tile in shared memory that the threads of accumulators store and load in pieces of these, each thread its own."""

from collections.abc import Sequence
from dataclasses import dataclass

from tinyc.codegen.words import AnyWord, Word, as_i32, equals
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.packing import packed_words, unpacked
from tinyc.dialects.gpu.expand.swizzled_buffer import SwizzledBuffer
from tinyc.dialects.gpu.fragment_layout import PIECE_COLUMNS, PIECE_REGISTERS, PIECE_ROWS, FragmentLayout
from tinyc.dialects.gpu.shared_layout import CHUNK_BYTES
from tinyc.dialects.gpu.statements.instruction import emit_ptx
from tinyc.mlir import arith, ir
from tinyc.vocabulary.element_type import ElementType

#: Lines of a matrix, of 8 elements each.
_LINES = 8
#: Bytes of a row of a piece whose elements have 32 bits.
_PIECE_LINE_BYTES = 2 * CHUNK_BYTES


@dataclass(frozen=True)
class FragmentTile:
    """The tile of a stage, from address `start` on; `row` and `column` are where the thread's warp begins in it.

    Elements of 16 bits are moved by matrices of 8 x 8, one for each pair of a thread: where `stores_matrices`, by
    `stmatrix`, and always by `ldmatrix`. Lanes have the addresses of the matrices' lines, which are columns where the
    tile is column-major. Others are moved in the pairs that are neighbours in a row, or one by one.

    A row of a piece of 32-bit elements is two chunks of the swizzle. Where orders of chunks differ in their lowest bit
    alone, these two are exchanged, and both lines stay in the same banks. So lanes whose line has that bit move the
    second one of two pieces first, which are `pieces_apart`.
    """

    buffer: SwizzledBuffer
    start: Word
    lane: Word
    row: AnyWord
    column: AnyWord
    stores_matrices: bool

    @classmethod
    def of(
        cls, expansion: Expansion, tiles: ir.Value, stage: ir.Value, layout: FragmentLayout, columns: int
    ) -> "FragmentTile":
        """The tile of a stage that has so many columns of each unit of a layout, beside each other."""
        buffer, workers = expansion.swizzled[tiles], expansion.workers
        row, column = workers.start(layout)
        if layout.columns > layout.unit_columns:
            column = column // layout.unit_columns * columns
        # What has wgmma has stmatrix.
        return cls(buffer, expansion.tile_start(tiles, stage), workers.lane, row, column, layout.unit == "wgmma")

    @property
    def pieces_apart(self) -> int:
        """How far the two pieces are from each other whose accesses are without conflicts of banks."""
        return self.buffer.layout.swizzle // (2 * _PIECE_LINE_BYTES) if self._has_exchanges else 1

    def store(self, row: int, columns: Sequence[int], values: Sequence[ir.Value]) -> None:
        """Emit the stores of a piece, or two, from a row and columns of the warp's part on."""
        if self.stores_matrices and self._has_matrices:
            words = self._packed(values, 2)
            name = f"stmatrix.x{len(words)}{self._transposition}"
            emit_ptx(name, self._line(row, columns), *(word for pair in words for word in pair))
            return
        accesses, places = self._packed(values, self._together), self._places(row, columns)
        for place, words in zip(places, self._exchanged(columns, accesses), strict=True):
            emit_ptx(f"st.shared.{self._bits}", place, *words)

    def load(self, row: int, columns: Sequence[int]) -> list[ir.Value]:
        """Emit the loads of a piece, or two: four values of each, as `store` takes them."""
        if self._has_matrices:
            words = emit_ptx(f"ldmatrix.x{2 * len(columns)}{self._transposition}", self._line(row, columns))
            return [value for word in words for value in unpacked(self._element, [word], 2)]
        accesses = [emit_ptx(f"ld.shared.{self._bits}", place) for place in self._places(row, columns)]
        exchanged = self._exchanged(columns, accesses)
        return [value for words in exchanged for value in unpacked(self._element, words, self._together)]

    # --- exchanges ----------------------------------------------------------------------------------------------------

    @property
    def _has_exchanges(self) -> bool:
        is_wide = self._element.size_bytes * PIECE_COLUMNS == _PIECE_LINE_BYTES
        return is_wide and self._is_row_major and self.buffer.layout.swizzle > _PIECE_LINE_BYTES

    def _is_exchanged(self, columns: Sequence[int]) -> bool:
        """Whether some lanes move the second of these pieces first."""
        apart = self.pieces_apart * PIECE_COLUMNS
        return self._has_exchanges and len(columns) == 2 and columns[1] - columns[0] == apart

    @property
    def _second_first(self) -> AnyWord:
        """1 in lanes that move the second piece first, else 0: the lowest bit of the order of their line's chunks."""
        return self.lane // 4 // self.buffer.layout.lines_of_one_chunk_order % 2

    def _exchanged(self, columns: Sequence[int], accesses: list[list[ir.Value]]) -> list[list[ir.Value]]:
        """Emit what accesses move in the order of their places; of what has been loaded so, the order of the pieces."""
        if not self._is_exchanged(columns):
            return accesses
        condition, of_piece = equals(self._second_first, 1), len(accesses) // 2
        first, second = accesses[:of_piece], accesses[of_piece:]
        return [
            [arith.select(condition, other, own) for own, other in zip(*words, strict=True)]
            for words in [*zip(first, second, strict=True), *zip(second, first, strict=True)]
        ]

    def _places(self, row: int, columns: Sequence[int]) -> list[ir.Value]:
        """The address of each access: to the values of a row, of the row 8 below, then those of the next piece."""
        starts: list[AnyWord] = list(columns)
        if self._is_exchanged(columns):
            apart, second_first = columns[1] - columns[0], self._second_first
            starts = [columns[0] + each * apart for each in (second_first, second_first ^ 1)]
        numbers = range(0, PIECE_REGISTERS, self._together)
        return [self._place(row, start, number) for start in starts for number in numbers]

    # --- elements -----------------------------------------------------------------------------------------------------

    def _packed(self, values: Sequence[ir.Value], together: int) -> list[list[ir.Value]]:
        """Values as the words of an access each, of so many of them."""
        groups = (values[first : first + together] for first in range(0, len(values), together))
        return [packed_words(self._element, group) for group in groups]

    @property
    def _element(self) -> ElementType:
        return self.buffer.staged.tile.element

    @property
    def _has_matrices(self) -> bool:
        return self._element.size_bytes == 2

    @property
    def _is_row_major(self) -> bool:
        return self.buffer.staged.order == "row"

    @property
    def _transposition(self) -> str:
        """What says that a matrix' lines in shared memory are its columns."""
        return "" if self._is_row_major else ".trans"

    @property
    def _together(self) -> int:
        """How many of the lane's neighbours in a row are neighbours in the tile, too."""
        return 2 if self._is_row_major else 1

    @property
    def _bits(self) -> int:
        return 8 * self._together * self._element.size_bytes

    def _line(self, row: int, columns: Sequence[int]) -> ir.Value:
        """The address of the lane's line of a matrix: of upper rows, of lower ones, then of those of the next piece."""
        piece = columns[0] + self.lane // PIECE_ROWS * (columns[-1] - columns[0] or PIECE_COLUMNS)
        if self._is_row_major:
            return self._address(row + self.lane % PIECE_ROWS, piece)
        return self._address(row + self.lane // _LINES % 2 * _LINES, piece + self.lane % _LINES)

    def _place(self, row: int, column: AnyWord, number: int) -> ir.Value:
        """The address of the lane's value of a number: those of a row, then those of the row 8 below."""
        line = row + self.lane // 4 + number // 2 * (PIECE_ROWS // 2)
        return self._address(line, column + self.lane % 4 * 2 + number % 2)

    def _address(self, row: AnyWord, column: AnyWord) -> ir.Value:
        return as_i32(self.buffer.address(self.start, self.row + row, self.column + column))
