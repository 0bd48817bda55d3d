"""`tgpu.address` as CUDA text: a pointer to global memory, or the number that PTX has for a place in shared memory."""

from tinyc.dialects.cuda.printer.text import CppText, ExpressionPrinter, call
from tinyc.dialects.gpu.dialect import SHARED
from tinyc.dialects.gpu.statements import AddressOp
from tinyc.mlir import ir

CALLED_FUNCTIONS = {
    "shared_address": """// Where something is in shared memory, as instructions take it.
__device__ __forceinline__ uint32_t shared_address(const void* place) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(place));
}""",
}


def expression(printer: ExpressionPrinter, op: AddressOp) -> CppText:
    """The address."""
    index, name = printer.operand(op.index).text, printer.buffer(op.buffer)
    is_shared = str(ir.MemRefType(op.buffer.type).memory_space) == SHARED
    if not is_shared:
        return CppText(f"&{name}[{index}]")
    return call(printer.helper("shared_address"), CppText(name if index == "0" else f"&{name}[{index}]"))
