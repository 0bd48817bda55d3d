"""`tgpu.instruction` in NVVM's terms: inline assembly, whose several results are taken apart."""

from collections.abc import Sequence

# `mlir.llvm` is imported when it is first used, as in exec/to_llvm/.
from tinyc import mlir
from tinyc.dialects.gpu.statements import InstructionOp
from tinyc.dialects.gpu.to_nvvm.memory import MemoryRewriter
from tinyc.mlir import ir
from tinyc.mlir.constants import i64


def lower(rewriter: MemoryRewriter, op: InstructionOp) -> Sequence[ir.Value]:
    """Emit the assembly; what is updated is an operand behind the others, and a result."""
    entry, llvm = op.entry, mlir.llvm
    if entry.name == "barrier.sync":  # LLVM keeps in one piece what it knows by name, and no assembly
        mlir.nvvm.BarrierOp(barrierId=op.words[0], numberOfThreads=op.words[1])
        return []
    types = [each.type for each in op.results]
    kind = ir.Type.parse(f"!llvm.struct<({', '.join(map(str, types))})>") if len(types) > 1 else None
    operands = [*op.in_order, *op.updated]
    assembly = llvm.InlineAsmOp(
        kind or (types[0] if types else None),
        operands,
        entry.asm,
        entry.constraints,
        has_side_effects=not entry.pure,
        asm_dialect=i64(0),
    )
    if kind is None:
        return list(assembly.operation.results)
    (result,) = assembly.operation.results
    places = (ir.DenseI64ArrayAttr.get([number]) for number in range(len(types)))
    return [llvm.extractvalue(each, result, place) for each, place in zip(types, places, strict=True)]
