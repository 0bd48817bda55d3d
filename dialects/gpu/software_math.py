"""Mathematical functions as arithmetic, for GPU code without a device library.

In: a `gpu.module` at the scalar level, after --gpu-expand. Out: the same module, where each function that NVPTX has no
instruction for is the arithmetic that computes it. How is in `software_math_exp`, `software_math_log` and
`software_math_sin`.
"""

from typing import Any

from tinyc.dialects.gpu.software_math_exp import erf, exp2, tanh
from tinyc.dialects.gpu.software_math_log import log, log2
from tinyc.dialects.gpu.software_math_sin import cos, sin
from tinyc.mlir import ir

FUNCTIONS = {
    "math.exp2": exp2,
    "math.log2": log2,
    "math.log": log,
    "math.sin": sin,
    "math.cos": cos,
    "math.tanh": tanh,
    "math.erf": erf,
}


def expand(gpu_module: Any) -> None:
    """Replace `math.exp2`, `log2`, `log`, `sin`, `cos`, `erf` and `tanh` on f32 and f64 by code where the op stands.

    No function and no global is added. What is added has an instruction or an intrinsic of LLVM's that NVPTX selects:
    `arith` on f32, f64, i1, i32 and i64 (`mului_extended` among it), `math.fma`, `math.absf`, `math.copysign`, and
    `scf.if` with results. `math.sqrt`, `math.floor` and every op on another type stay as they are.

    A result is off by less than 2 units in its last place, at every argument. Infinities, NaN, signed zeros and
    subnormal numbers are as IEEE 754 has them. The code relies on rounding: it must be lowered without fast-math flags,
    and without contraction of `mulf` and `addf`.
    """
    for op in _calls(gpu_module):
        with ir.InsertionPoint(op), op.location:
            value = FUNCTIONS[op.name](op.operands[0])
        op.results[0].replace_all_uses_with(value)
        op.erase()


def _calls(gpu_module: Any) -> list[Any]:
    """Return the ops to replace."""
    found = []

    def visit(op: Any) -> Any:
        if op.operation.name in FUNCTIONS and isinstance(op.operation.results[0].type, (ir.F32Type, ir.F64Type)):
            found.append(op.operation)
        return ir.WalkResult.ADVANCE

    gpu_module.operation.walk(visit)
    return found
