"""`tgpu.map_runs`: outputs without reductions, several neighbours for each thread at a time."""

from tinyc.dialects.gpu.dialect import OutputOp
from tinyc.dialects.gpu.statements.rules import require_runs
from tinyc.mlir import ext, ir


class MapRunsOp(OutputOp, name="map_runs"):
    """Compute the elements of the outputs, `width` neighbours for each thread at a time; the threads of the grid share.

    The body is a region's that has one step for each element (`analysis.kernel_loops`), with a `region.yield` for each
    output.
    """

    width: ir.IntegerAttr
    body: ext.Region

    def check(self) -> None:
        """No op of the body walks an axis in order, and the width is one that accesses have."""
        require_runs(self)
