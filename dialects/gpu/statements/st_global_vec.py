"""`tgpu.st_global_vec`: write a tile in shared memory to an output, in wide accesses."""

from typing import Any

from tinyc.dialects.gpu.dialect import TgpuOp, staged_tile
from tinyc.dialects.gpu.statements.cp_async import require_matrix
from tinyc.dialects.gpu.statements.rules import require_width
from tinyc.mlir import ext, ir
from tinyc.mlir.verifying import Malformed


class StGlobalVecOp(TgpuOp, name="st_global_vec"):
    """Write the tile of a stage to a matrix in a buffer (`strided_matrix`), `width` neighbours in it at a time.

    Element (r, c) of the tile is the matrix' at `row + r`, `column + c` and `batch`; where a side of `guarded` reaches
    beyond the matrix nothing is written. Neighbours in the tile, in a row or, by its order, a column, are neighbours in
    the buffer, or `width` is 1.
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
        """The tile is of the buffer's element type; its lines are whole accesses, of neighbours in the buffer."""
        matrix, layout = require_matrix(self), staged_tile(self.tiles.type).layout
        require_width(self)
        width, along = self.width.value, matrix.columns if layout.order == "row" else matrix.rows
        if layout.line_elements % width:
            raise Malformed(f"writes {width} elements at a time of lines of {layout.line_elements}; choose a divisor")
        if width > 1 and along and along[-1].stride != 1:
            raise Malformed(
                f"writes {width} neighbours of {self.tiles.type} at a time, and in the buffer they are "
                f"{along[-1].stride} apart; give the tile the other order, or write one at a time"
            )
