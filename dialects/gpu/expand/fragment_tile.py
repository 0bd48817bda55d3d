"""A tile in shared memory that the threads of accumulators store and load in pieces of these, each thread its own."""

from collections.abc import Sequence
from dataclasses import dataclass

from tinyc.codegen.words import AnyWord, Word, as_i32
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.packing import packed_words, unpacked
from tinyc.dialects.gpu.expand.swizzled_buffer import SwizzledBuffer
from tinyc.dialects.gpu.fragment_layout import PIECE_COLUMNS, PIECE_ROWS, FragmentLayout
from tinyc.dialects.gpu.statements.instruction import emit_ptx
from tinyc.mlir import ir
from tinyc.vocabulary.element_type import ElementType


@dataclass(frozen=True)
class FragmentTile:
    """The tile of a stage, from address `start` on; `row` and `column` are where the thread's warp begins in it.

    Elements of 16 bits are moved by matrices of 8 x 8, one for each pair of a thread: where `stores_matrices`, by
    `stmatrix`, and always by `ldmatrix`. Lanes have the addresses of the matrices' lines. Others are moved in pairs.
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
        words = [packed_words(self._element, values[first : first + 2]) for first in range(0, len(values), 2)]
        if self.stores_matrices and self._has_matrices:
            emit_ptx(f"stmatrix.x{len(words)}", self._line(row, column), *(word for pair in words for word in pair))
            return
        for number, pair in enumerate(words):
            emit_ptx(f"st.shared.{self._pair_bits}", self._pair(row, column, number), *pair)

    def load(self, row: int, column: int, pieces: int) -> list[ir.Value]:
        """Emit the loads of pieces beside each other: four values of each, as `store` takes them."""
        count = 2 * pieces
        if self._has_matrices:
            words = [[word] for word in emit_ptx(f"ldmatrix.x{count}", self._line(row, column))]
        else:
            name = f"ld.shared.{self._pair_bits}"
            words = [emit_ptx(name, self._pair(row, column, number)) for number in range(count)]
        return [value for pair in words for value in unpacked(self._element, pair, 2)]

    @property
    def _element(self) -> ElementType:
        return self.buffer.staged.tile.element

    @property
    def _has_matrices(self) -> bool:
        return self._element.size_bytes == 2

    @property
    def _pair_bits(self) -> int:
        return 16 * self._element.size_bytes

    def _line(self, row: int, column: int) -> ir.Value:
        """The address of the lane's line of a matrix: of upper rows, of lower ones, then of those of the next piece."""
        return self._address(row + self.lane % PIECE_ROWS, column + self.lane // PIECE_ROWS * PIECE_COLUMNS)

    def _pair(self, row: int, column: int, number: int) -> ir.Value:
        """The address of the lane's pair of a number."""
        piece, half = divmod(number, 2)
        line = row + self.lane // 4 + half * PIECE_ROWS // 2
        return self._address(line, column + piece * PIECE_COLUMNS + self.lane % 4 * 2)

    def _address(self, row: AnyWord, column: AnyWord) -> ir.Value:
        return as_i32(self.buffer.address(self.start, self.row + row, self.column + column))
