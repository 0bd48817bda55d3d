"""`tgpu.scan_rows`: a cumulative reduction, and what is made of it, row after row, each by several threads."""

from tinyc.dialects.gpu.dialect import OutputOp
from tinyc.dialects.gpu.statements.rules import require_lanes, require_runs
from tinyc.mlir import ext, ir


class ScanRowsOp(OutputOp, name="scan_rows"):
    """Compute the rows of a body with a cumulative reduction, each by the threads of a CTA along the axis `lanes`.

    Along x, they share a row, `width` neighbours for each thread in a turn; the threads along y compute other rows.
    Where it is y, a thread walks down `width` rows that lie beside each other. The body is a region's that has fused
    loops (`analysis.kernel_loops`), with one scan.
    """

    lanes: ir.StringAttr
    width: ir.IntegerAttr
    body: ext.Region

    def check(self) -> None:
        """No op of the body walks an axis in order besides the scan, and the attributes have meanings."""
        require_runs(self)
        require_lanes(self)
