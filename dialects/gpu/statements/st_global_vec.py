"""`tgpu.st_global_vec`: write a tile in shared memory to an output, in wide accesses."""

from typing import Any

from tinyc.dialects.gpu.dialect import TgpuOp, staged_tile
from tinyc.dialects.gpu.statements.cp_async import require_matrix
from tinyc.dialects.gpu.statements.rules import require_width
from tinyc.mlir import ext, ir
from tinyc.mlir.verifying import Malformed


class StGlobalVecOp(TgpuOp, name="st_global_vec"):
    """Write the tile of a stage to a matrix in a buffer (`strided_matrix`), `width` elements of a row at a time.

    Element (r, c) of the tile is the matrix' at `row + r`, `column + c` and `batch`; where a side of `guarded` reaches
    beyond the matrix nothing is written. Neighbours in a row are neighbours in the buffer, or `width` is 1.
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
    width: ir.IntegerAttr

    def check(self) -> None:
        """The tile is row-major, of the buffer's element type."""
        require_matrix(self)
        require_width(self)
        if staged_tile(self.tiles.type).order != "row":
            raise Malformed(f"writes rows of {self.tiles.type}, which is column-major; give it the order row")
