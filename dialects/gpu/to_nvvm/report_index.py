"""`tgpu.report_index` in NVVM's terms: the first thread to claim the status buffer writes in it."""

# `mlir.llvm` is imported when it is first used, as in exec/to_llvm/.
from tinyc import mlir
from tinyc.dialects.gpu.statements import ReportIndexOp
from tinyc.dialects.gpu.to_nvvm.memory import SCOPE, MemoryRewriter, element_address
from tinyc.mlir import arith, ir, scf


def lower(rewriter: MemoryRewriter, op: ReportIndexOp) -> None:
    """Emit the claim, a compare-and-swap of the buffer's first word, and behind it the stores of the others."""
    i64, order = ir.IntegerType.get_signless(64), mlir.llvm.AtomicOrdering.monotonic
    free, claimed = (arith.constant(i64, word) for word in (0, 1 + len(op.at)))
    base = rewriter.pointers[op.status]
    claim = mlir.llvm.AtomicCmpXchgOp(base, free, claimed, order, order, syncscope=SCOPE)
    won = mlir.llvm.extractvalue(ir.IntegerType.get_signless(1), claim.result, ir.DenseI64ArrayAttr.get([1]))
    first = scf.IfOp(won)
    with ir.InsertionPoint(first.then_block):
        axis = arith.constant(ir.IndexType.get(), op.axis.value)
        for place, word in enumerate((op.index, axis, op.extent, *op.at), start=1):
            address = element_address(base, arith.constant(i64, place), i64)
            mlir.llvm.store(arith.index_cast(i64, word), address)
        scf.yield_([])
