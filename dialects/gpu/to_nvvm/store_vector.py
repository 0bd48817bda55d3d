"""`tgpu.store_vector` in NVVM's terms: a vector is put together, and stored by one `llvm.store`."""

# `mlir.llvm` is imported when it is first used, as in exec/to_llvm/.
from tinyc import mlir
from tinyc.dialects.gpu.statements import StoreVectorOp
from tinyc.dialects.gpu.to_nvvm.memory import MemoryRewriter, vector_bytes, vector_type
from tinyc.mlir import arith, ir


def lower(rewriter: MemoryRewriter, op: StoreVectorOp) -> None:
    """Emit the store at the alignment that lets it be one."""
    kind, i32 = vector_type(op.elements), ir.IntegerType.get_signless(32)
    stored = mlir.llvm.mlir_poison(kind)
    for position, element in enumerate(op.elements):
        stored = mlir.llvm.insertelement(stored, element, arith.constant(i32, position), results=[kind])
    mlir.llvm.store(stored, rewriter.address(op.buffer, op.index), alignment=vector_bytes(op.elements))
