"""`tgpu.address` in NVVM's terms: a pointer as a number."""

# `mlir.llvm` is imported when it is first used, as in exec/to_llvm/.
from tinyc import mlir
from tinyc.dialects.gpu.statements import AddressOp
from tinyc.dialects.gpu.to_nvvm.memory import MemoryRewriter
from tinyc.mlir import ir


def lower(rewriter: MemoryRewriter, op: AddressOp) -> ir.Value:
    """Emit the conversion of the element's address."""
    return mlir.llvm.ptrtoint(op.place.type, rewriter.address(op.buffer, op.index))
