"""`tgpu.report_index`: of the scalar level, the note of an index that is out of range."""

from typing import Any

from tinyc.dialects.gpu.dialect import TgpuOp
from tinyc.dialects.gpu.statements.rules import require_indices, require_row
from tinyc.mlir import ext
from tinyc.mlir.verifying import Malformed


class ReportIndexOp(TgpuOp, name="report_index"):
    """Note in the status buffer that an index was out of range, unless another one is noted there."""

    status: ext.Operand[Any]
    position: ext.Operand[Any]

    def check(self) -> None:
        """The status buffer holds i64."""
        require_indices(self, "position")
        if str(require_row(self.status.type)) != "i64":
            raise Malformed(f"notes an index in {self.status.type}; a status buffer is a memref<2xi64, …>")
