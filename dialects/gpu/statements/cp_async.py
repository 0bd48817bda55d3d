"""`tgpu.cp_async`: fill a stage of shared memory by copies that go on while the threads do something else."""

from typing import Any

from tinyc.dialects.gpu.dialect import TgpuOp, staged_tile
from tinyc.dialects.gpu.shared_layout import SharedLayout
from tinyc.dialects.gpu.statements.rules import GUARDED_SIDES, require_guarded, require_indices, require_words
from tinyc.dialects.gpu.strided_matrix import StridedMatrix
from tinyc.dialects.region import ops as region
from tinyc.mlir import ext, ir
from tinyc.mlir.verifying import Malformed

#: What one copy moves.
COPY_BYTES = (4, 8, 16)


class CpAsyncOp(TgpuOp, name="cp_async"):
    """Copy the tile of one stage from a matrix in a buffer (`strided_matrix`), `bytes` at a time.

    Element (r, c) of the tile is the matrix' at `row + r`, `column + c` and `batch`; `guarded` names the sides where
    the tile may reach beyond the matrix, and has zeros then, `clamped` those where it has the last row, column, or copy
    of some, again: which costs nothing, and serves where what is beyond is not used. As many neighbours of the tile as
    make up `bytes` are neighbours in the buffer. The copies are there after a `tgpu.wait_group` for the group that a
    `tgpu.commit_group` closes, for the thread that has started them, and after a barrier for all.
    """

    tiles: ext.Operand[Any]
    stage: ext.Operand[Any]
    buffer: ext.Operand[Any]
    batch: ext.Operand[Any]
    row: ext.Operand[Any]
    column: ext.Operand[Any]
    offset: ir.ArrayAttr
    rows: ir.ArrayAttr
    columns: ir.ArrayAttr
    batches: ir.ArrayAttr
    guarded: ir.ArrayAttr
    clamped: ir.ArrayAttr
    bytes: ir.IntegerAttr

    @property
    def contiguous(self) -> str:
        """The side whose elements are neighbours."""
        return "columns" if staged_tile(self.tiles.type).order == "row" else "rows"

    @property
    def width(self) -> int:
        """How many neighbours one copy moves."""
        return self.bytes.value // staged_tile(self.tiles.type).layout.element_bytes

    def check(self) -> None:
        """Tile and buffer have one element type, and the tile's lines are made of whole copies."""
        matrix = require_matrix(self)
        layout, size = staged_tile(self.tiles.type).layout, self.bytes.value
        if size not in COPY_BYTES or layout.line_bytes % size or size % layout.element_bytes:
            raise Malformed(
                f"copies {size} bytes at a time to lines of {layout.line_bytes}; a copy has 4, 8 or 16, and a line "
                "some of them"
            )

        _require_multiples(matrix, layout, size)
        self._check_clamped(matrix)

    def _check_clamped(self, matrix: StridedMatrix) -> None:
        clamped = require_words(self, "clamped", GUARDED_SIDES)
        for side in clamped:
            if clamped.count(side) > 1 or side in require_words(self, "guarded", GUARDED_SIDES):
                raise Malformed(f"says twice what there is beyond the {side}; it is guarded, or clamped, once")
            if side == self.contiguous and not matrix.is_whole(side, self.width):
                raise Malformed(
                    f"clamps {side}, {matrix.extent(side)} that are copied {self.width} at a time; guard a side whose "
                    "last copy is not whole"
                )


def _require_multiples(matrix: StridedMatrix, layout: SharedLayout, size: int) -> None:
    """Check that what one copy moves are neighbours in the buffer from a multiple on, as far as strides are numbers."""
    width = size // layout.element_bytes
    along, across = (matrix.columns, matrix.rows) if layout.order == "row" else (matrix.rows, matrix.columns)
    if width > 1 and along and along[-1].stride != 1:
        raise Malformed(
            f"copies {size} bytes at a time, and elements that are {along[-1].stride} apart; copy neighbours, or load "
            "them by 'tgpu.load_tile'"
        )
    distances = [matrix.offset, *(run.stride for run in (*along[:-1], *across, *matrix.batches))]
    wrong = next((each for each in distances if isinstance(each, int) and each % width), None)
    if wrong is not None:
        raise Malformed(
            f"copies {size} bytes at a time, from multiples of that on, and has an offset or a stride of {wrong} "
            f"elements; choose one that {width} divides, or fewer bytes"
        )


def require_matrix(op: TgpuOp) -> StridedMatrix:
    """Check a statement that moves the tile of a stage from or to a matrix in a buffer; return the matrix."""
    require_indices(op, "stage", "batch", "row", "column")
    require_guarded(op)
    tiles, buffer = (op.operands[number].type for number in (0, 2))
    tile, tensor = staged_tile(tiles).tile, region.held_tensor(buffer)
    if tile.element != tensor.element:
        raise Malformed(
            f"moves {tensor.element} between a buffer and tiles of {tile.element}; give both one element type"
        )
    return StridedMatrix.of(op)
