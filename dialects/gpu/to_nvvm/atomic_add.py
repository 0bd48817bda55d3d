"""`tgpu.atomic_add` in NVVM's terms: one `llvm.atomicrmw`."""

# `mlir.llvm` is imported when it is first used, as in exec/to_llvm/.
from tinyc import mlir
from tinyc.dialects.gpu.statements import AtomicAddOp
from tinyc.dialects.gpu.to_nvvm.memory import SCOPE, MemoryRewriter
from tinyc.mlir import ir


def lower(rewriter: MemoryRewriter, op: AtomicAddOp) -> None:
    """Emit one addition in memory, rounded once; LLVM loops over a compare-and-swap where there is none.

    The hardware's addition of f32 takes and gives zeros for subnormal numbers (PTX ISA, "atom").
    """
    kind, order = mlir.llvm.AtomicBinOp, mlir.llvm.AtomicOrdering.monotonic
    addition = kind.add if isinstance(op.value.type, ir.IntegerType) else kind.fadd
    mlir.llvm.AtomicRMWOp(addition, rewriter.address(op.buffer, op.index), op.value, order, syncscope=SCOPE)
