"""`tgpu.transpose`: outputs without reductions, of which some operands or results lie along another axis."""

from tinyc.dialects.gpu.dialect import OutputOp
from tinyc.dialects.gpu.statements.rules import require_runs
from tinyc.mlir import ext, ir
from tinyc.mlir.verifying import Malformed


class TransposeOp(OutputOp, name="transpose"):
    """Compute the elements of the outputs, square after square of two axes, which a CTA turns in shared memory.

    The axes are those along which the outputs and what lies across have their neighbours (`analysis.transposition`); a
    square is `tile` elements long on either side, and accesses take `width` of them. The body is a region's, with a
    `region.yield` for each output.
    """

    tile: ir.IntegerAttr
    width: ir.IntegerAttr
    body: ext.Region

    def check(self) -> None:
        """No op of the body walks an axis in order, and a side of the square is made of whole accesses."""
        require_runs(self)
        tile, width = self.tile.value, self.width.value
        if tile < 1 or tile % width:
            raise Malformed(f"has tile = {self.tile}, which is no multiple of the {width} elements of an access")
