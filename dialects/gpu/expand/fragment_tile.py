"""A tile in shared memory that the threads of accumulators store and load in pieces of these, each thread its own."""

from collections.abc import Sequence
from dataclasses import dataclass

from tinyc.codegen.words import AnyWord, Word, as_i32
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.packing import packed_words, unpacked
from tinyc.dialects.gpu.expand.swizzled_buffer import SwizzledBuffer
from tinyc.dialects.gpu.fragment_layout import PIECE_COLUMNS, PIECE_REGISTERS, PIECE_ROWS, FragmentLayout
from tinyc.dialects.gpu.statements.instruction import emit_ptx
from tinyc.mlir import ir
from tinyc.vocabulary.element_type import ElementType

#: Lines of a matrix, of 8 elements each.
_LINES = 8


@dataclass(frozen=True)
class FragmentTile:
    """The tile of a stage, from address `start` on; `row` and `column` are where the thread's warp begins in it.

    Elements of 16 bits are moved by matrices of 8 x 8, one for each pair of a thread: where `stores_matrices`, by
    `stmatrix`, and always by `ldmatrix`. Lanes have the addresses of the matrices' lines, which are columns where the
    tile is column-major. Others are moved in the pairs that are neighbours in a row, or one by one.
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

    def store(self, row: int, column: int, values: Sequence[ir.Value]) -> None:
        """Emit the stores of pieces beside each other, from a row and a column of the warp's part on."""
        if self.stores_matrices and self._has_matrices:
            words = self._packed(values, 2)
            name = f"stmatrix.x{len(words)}{self._transposition}"
            emit_ptx(name, self._line(row, column), *(word for pair in words for word in pair))
            return
        for number, words in enumerate(self._packed(values, self._together)):
            emit_ptx(f"st.shared.{self._bits}", self._place(row, column, number * self._together), *words)

    def load(self, row: int, column: int, pieces: int) -> list[ir.Value]:
        """Emit the loads of pieces beside each other: four values of each, as `store` takes them."""
        if self._has_matrices:
            words = emit_ptx(f"ldmatrix.x{2 * pieces}{self._transposition}", self._line(row, column))
            return [value for word in words for value in unpacked(self._element, [word], 2)]
        found: list[ir.Value] = []
        for number in range(0, PIECE_REGISTERS * pieces, self._together):
            words = emit_ptx(f"ld.shared.{self._bits}", self._place(row, column, number))
            found += unpacked(self._element, words, self._together)
        return found

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

    def _line(self, row: int, column: int) -> ir.Value:
        """The address of the lane's line of a matrix: of upper rows, of lower ones, then of those of the next piece."""
        piece = column + self.lane // PIECE_ROWS * PIECE_COLUMNS
        if self._is_row_major:
            return self._address(row + self.lane % PIECE_ROWS, piece)
        return self._address(row + self.lane // _LINES % 2 * _LINES, piece + self.lane % _LINES)

    def _place(self, row: int, column: int, number: int) -> ir.Value:
        """The address of the lane's value of a number: those of a row, of that 8 below, then of the next piece."""
        piece, inside = divmod(number, PIECE_REGISTERS)
        line = row + self.lane // 4 + inside // 2 * (PIECE_ROWS // 2)
        return self._address(line, column + piece * PIECE_COLUMNS + self.lane % 4 * 2 + inside % 2)

    def _address(self, row: AnyWord, column: AnyWord) -> ir.Value:
        return as_i32(self.buffer.address(self.start, self.row + row, self.column + column))
