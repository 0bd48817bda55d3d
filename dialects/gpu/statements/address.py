"""`tgpu.address`: of the scalar level, where an element of a buffer is."""

from typing import Any

from tinyc.dialects.gpu.dialect import SHARED, TgpuOp
from tinyc.dialects.gpu.statements.rules import require_indices, require_row
from tinyc.mlir import ext, ir
from tinyc.mlir.verifying import Malformed


class AddressOp(TgpuOp, name="address"):
    """The address of element `index` of a buffer: an i64, and in shared memory, where PTX has 32 bits, an i32."""

    place: ext.Result[Any]
    buffer: ext.Operand[Any]
    index: ext.Operand[Any]

    def check(self) -> None:
        """The address is as wide as those of its memory."""
        require_indices(self, "index")
        require_row(self.buffer.type)
        if self.place.type != address_type(self.buffer.type):
            raise Malformed(
                f"gives {self.place.type}; the address of an element of {self.buffer.type} is "
                f"{address_type(self.buffer.type)}"
            )


def address_type(buffer: ir.Type) -> ir.Type:
    """The type of addresses in the memory of a buffer."""
    is_shared = isinstance(buffer, ir.MemRefType) and str(buffer.memory_space) == SHARED
    return ir.IntegerType.get_signless(32 if is_shared else 64)
