"""`tgpu.map`: each element of the outputs by itself."""

from tinyc.dialects.gpu.dialect import OutputOp
from tinyc.dialects.gpu.statements.rules import (
    check_ordered,
    optional_text_of,
    require_body,
    require_unordered,
    require_yields,
)
from tinyc.dialects.tiny import ops as tiny
from tinyc.mlir import ext, ir


class MapOp(OutputOp, name="map"):
    """Compute each element of the outputs by itself; the threads of the grid share them.

    The body is a region's, with a `region.yield` for each output. A `tiny.scatter` in it is all that it yields, and
    puts: an element is the last update that it gets, or else the data's.
    """

    body: ext.Region

    def check(self) -> None:
        """No op of the body walks an axis in order, but for a scatter that puts."""
        ops = require_body(self)
        require_yields(ops)
        require_unordered([op for op in ops if not _puts(op)])
        check_ordered(self)


def _puts(op: ir.OpView) -> bool:
    """Whether an op is a scatter whose updates replace the data's elements."""
    return isinstance(op, tiny.ScatterOp) and optional_text_of(op, "op") != "add"
