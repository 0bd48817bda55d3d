"""`tgpu.report_index`: of the scalar level, the note of an index that is out of range."""

from collections.abc import Sequence
from typing import Any

from tinyc.dialects.gpu.dialect import TgpuOp
from tinyc.dialects.gpu.statements.rules import require_indices, require_row
from tinyc.mlir import ext, ir
from tinyc.mlir.verifying import Malformed
from tinyc.runtime.program import STATUS_WORDS


class ReportIndexOp(TgpuOp, name="report_index"):
    """Note in the status buffer that an index was out of range, unless another one is noted there.

    `index` is element `at` of its tensor, and none of `axis` of the data, which has `extent` elements.
    """

    status: ext.Operand[Any]
    index: ext.Operand[Any]
    extent: ext.Operand[Any]
    at: Sequence[ext.Operand[Any]]
    axis: ir.IntegerAttr

    def check(self) -> None:
        """The status buffer holds i64."""
        require_indices(self, "index", "extent")
        wrong = [each.type for each in self.at if not isinstance(each.type, ir.IndexType)]
        if wrong:
            raise Malformed(f"has a place of type {wrong[0]}; it must be an index")
        if str(require_row(self.status.type)) != "i64":
            raise Malformed(f"notes an index in {self.status.type}; a status buffer is a memref<{STATUS_WORDS}xi64, …>")
