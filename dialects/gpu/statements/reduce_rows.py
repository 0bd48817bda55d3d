"""`tgpu.reduce_rows`: reductions, and what is made of them, one step after the other, each by several threads."""

from tinyc.dialects.gpu.dialect import OutputOp
from tinyc.dialects.gpu.statements.rules import require_lanes, require_runs
from tinyc.mlir import ext, fields, ir


class ReduceRowsOp(OutputOp, name="reduce_rows"):
    """Compute the steps of a body with reductions, each by the threads of a CTA along the axis `lanes`, x or y.

    The threads along the other axis compute other steps. Along x a thread takes `width` neighbours at a time: along the
    inner axes where `lanes` is x, else steps. Where it is `unrolled`, what phases of a step read in common stays in
    registers; else each phase reads it again. The body is a region's that has fused loops (`analysis.kernel_loops`).
    """

    lanes: ir.StringAttr
    width: ir.IntegerAttr
    unrolled: fields.Bool
    body: ext.Region

    def check(self) -> None:
        """No op of the body walks an axis in order, and the attributes have meanings."""
        require_runs(self)
        require_lanes(self)
