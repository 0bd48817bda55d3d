"""`tgpu.scatter_add`: updates added to an output in any order."""

from tinyc.dialects.gpu.dialect import OutputOp
from tinyc.dialects.gpu.statements.rules import (
    check_ordered,
    optional_text_of,
    require_body,
    require_one,
    require_yields,
)
from tinyc.dialects.tiny import ops as tiny
from tinyc.mlir import ext
from tinyc.mlir.verifying import Malformed


class ScatterAddOp(OutputOp, name="scatter_add"):
    """Add updates to an output that holds the data already, each by an atomic addition; the threads share the updates.

    The body is a region's, with one `tiny.scatter` that adds and is all that it yields.
    """

    body: ext.Region

    def check(self) -> None:
        """The body has one scatter, which adds, and yields it."""
        what = "'tiny.scatter' with op = \"add\""
        ops = require_body(self)
        require_yields(ops)
        if optional_text_of(require_one(ops, tiny.ScatterOp, what), "op") != "add":
            raise Malformed(f"must hold one {what}")
        check_ordered(self)
