"""The LLVM dialect as LLVM IR text.

In: a module that MLIR's own passes have lowered. Out: the text that LLVM reads, or the reason why it must not see it.
"""

import re

# `mlir.llvm` is imported when it is first used: it takes as long as the rest of tinyc-opt's start together.
from tinyc import mlir
from tinyc.diagnostics import InternalError
from tinyc.mlir import builtin, ir
from tinyc.mlir.bodies import nested

#: What a CPU without F16C or AVX512-BF16 does by a library call, or not at all.
_SMALL_FLOAT_ARITHMETIC = re.compile(
    r"= (fpext|fptrunc|fcmp|fadd|fsub|fmul|fdiv|fneg|[su]itofp|fpto[su]i) .*\b(half|bfloat)\b.*"
)
#: What the conversions of MLIR carry from a loop to the branch back to its head, and what LLVM IR has it from there.
LOOP_ANNOTATION, _OWN_ANNOTATION = "llvm.loop_annotation", "loop_annotation"


def llvm_ir_of(module: ir.Module) -> str:
    """The LLVM IR of a module of the LLVM dialect.

    Raises:
        InternalError: an op is left that LLVM does not know; translating it would end the process.
    """
    ops = nested(module)
    left = {op.name for op in ops} - {builtin.ModuleOp.OPERATION_NAME}
    foreign = sorted(name for name in left if not name.startswith("llvm."))
    if foreign:
        raise InternalError(f"{', '.join(foreign)}: left over after lowering to the LLVM dialect")
    for op in ops:
        if op.name == mlir.llvm.BrOp.OPERATION_NAME and LOOP_ANNOTATION in op.attributes:
            op.attributes[_OWN_ANNOTATION] = op.attributes[LOOP_ANNOTATION]
    text = mlir.llvm.translate_module_to_llvmir(module.operation)
    arithmetic = _SMALL_FLOAT_ARITHMETIC.search(text)
    if arithmetic:
        raise InternalError(f"16-bit floats are computed with, and not every CPU can: {arithmetic[0]}")
    return text
