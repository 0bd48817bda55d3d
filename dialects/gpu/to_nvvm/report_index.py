"""`tgpu.report_index` in NVVM's terms: the first thread to claim the status buffer writes in it."""

# `mlir.llvm` is imported when it is first used, as in exec/to_llvm/.
from tinyc import mlir
from tinyc.dialects.gpu.statements import ReportIndexOp
from tinyc.dialects.gpu.to_nvvm.memory import SCOPE, MemoryRewriter, element_address
from tinyc.mlir import arith, ir, scf


def lower(rewriter: MemoryRewriter, op: ReportIndexOp) -> None:
    """Emit the claim, a compare-and-swap of the buffer's flag, and behind it the store of the position."""
    i64, order = ir.IntegerType.get_signless(64), mlir.llvm.AtomicOrdering.monotonic
    free, claimed = (arith.constant(i64, flag) for flag in (0, 1))
    base = rewriter.pointers[op.status]
    claim = mlir.llvm.AtomicCmpXchgOp(base, free, claimed, order, order, syncscope=SCOPE)
    won = mlir.llvm.extractvalue(ir.IntegerType.get_signless(1), claim.result, ir.DenseI64ArrayAttr.get([1]))
    first = scf.IfOp(won)
    with ir.InsertionPoint(first.then_block):
        mlir.llvm.store(arith.index_cast(i64, op.position), element_address(base, claimed, i64))
        scf.yield_([])
