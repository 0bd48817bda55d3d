"""`tgpu.topk`: the best elements along an axis."""

from tinyc.dialects.gpu.dialect import OutputOp
from tinyc.dialects.gpu.statements.rules import check_ordered, require_body, require_one, require_yields
from tinyc.dialects.tiny import ops as tiny
from tinyc.mlir import ext


class TopkOp(OutputOp, name="topk"):
    """Find the best elements along an axis; the threads of the grid share the other axes.

    The body is a region's, with one `tiny.topk` that is all that it yields.
    """

    body: ext.Region

    def check(self) -> None:
        """The body has one search, and yields what it finds."""
        ops = require_body(self)
        require_yields(ops)
        require_one(ops, tiny.TopkOp, "'tiny.topk'")
        check_ordered(self)
