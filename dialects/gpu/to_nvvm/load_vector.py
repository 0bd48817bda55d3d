"""`tgpu.load_vector` in NVVM's terms: one `llvm.load` of a vector, which is taken apart."""

from collections.abc import Sequence

# `mlir.llvm` is imported when it is first used, as in exec/to_llvm/.
from tinyc import mlir
from tinyc.dialects.gpu.statements import LoadVectorOp
from tinyc.dialects.gpu.to_nvvm.memory import MemoryRewriter, vector_bytes, vector_type
from tinyc.mlir import arith, ir


def lower(rewriter: MemoryRewriter, op: LoadVectorOp) -> Sequence[ir.Value]:
    """Emit the load at the alignment that lets it be one; return the elements."""
    kind, i32 = vector_type(op.results), ir.IntegerType.get_signless(32)
    address = rewriter.address(op.buffer, op.index)
    loaded = mlir.llvm.load(kind, address, alignment=vector_bytes(op.results))
    positions = [arith.constant(i32, position) for position in range(len(op.results))]
    return [
        mlir.llvm.extractelement(loaded, position, results=[result.type])
        for position, result in zip(positions, op.results, strict=True)
    ]
