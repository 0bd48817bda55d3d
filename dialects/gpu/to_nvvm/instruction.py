"""`tgpu.instruction` in NVVM's terms: inline assembly, whose several results are taken apart."""

from collections.abc import Sequence

# `mlir.llvm` is imported when it is first used, as in exec/to_llvm/.
from tinyc import mlir
from tinyc.dialects.gpu.dialect import TensorMapType
from tinyc.dialects.gpu.statements import InstructionOp
from tinyc.dialects.gpu.to_nvvm.memory import MemoryRewriter
from tinyc.mlir import ir


def lower(rewriter: MemoryRewriter, op: InstructionOp) -> Sequence[ir.Value]:
    """Emit the assembly; what is updated is an operand behind the others, and a result."""
    entry, llvm = op.entry, mlir.llvm
    i64 = ir.IntegerType.get_signless(64)
    taken = [
        llvm.ptrtoint(i64, rewriter.pointers[each]) if isinstance(each.type, TensorMapType) else each
        for each in op.operands
    ]
    operands = [*taken[len(entry.updated) :], *taken[: len(entry.updated)]]
    types = [each.type for each in op.results]
    if len(types) > 1:
        kind = ir.Type.parse(f"!llvm.struct<({', '.join(map(str, types))})>")
    else:
        kind = types[0] if types else None
    dialect = ir.Attribute.parse("0 : i64")
    result = llvm.inline_asm(
        kind, operands, entry.asm, entry.constraints, has_side_effects=not entry.pure, asm_dialect=dialect
    )
    if len(types) < 2:
        return [result] if types else []
    return [llvm.extractvalue(each, result, ir.DenseI64ArrayAttr.get([number])) for number, each in enumerate(types)]
