"""`tgpu.map_address` in NVVM's terms: a pointer as a number."""

# `mlir.llvm` is imported when it is first used, as in exec/to_llvm/.
from tinyc import mlir
from tinyc.dialects.gpu.statements import MapAddressOp
from tinyc.dialects.gpu.to_nvvm.memory import MemoryRewriter
from tinyc.mlir import ir


def lower(rewriter: MemoryRewriter, op: MapAddressOp) -> ir.Value:
    """Emit the conversion of the pointer that the argument is."""
    return mlir.llvm.ptrtoint(op.place.type, rewriter.pointers[op.map])
