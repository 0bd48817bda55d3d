"""`tgpu.atomic_add`: of the scalar level, what `tgpu.scatter_add` becomes."""

from typing import Any

from tinyc.dialects.gpu.dialect import TgpuOp
from tinyc.dialects.gpu.statements.rules import require_indices, require_row
from tinyc.mlir import ext
from tinyc.mlir.verifying import Malformed


class AtomicAddOp(TgpuOp, name="atomic_add"):
    """Add a scalar to an element of a buffer as one step."""

    value: ext.Operand[Any]
    buffer: ext.Operand[Any]
    index: ext.Operand[Any]

    def check(self) -> None:
        """The scalar is of the buffer's type."""
        require_indices(self, "index")
        element = require_row(self.buffer.type)
        if self.value.type != element:
            raise Malformed(f"adds {self.value.type} to an element of type {element}; give both one type")
