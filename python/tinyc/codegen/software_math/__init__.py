"""Mathematical functions as arithmetic, for GPU code without a device library.

In: a `gpu.module` at the scalar level, after --gpu-expand. Out: the same module, where each function that NVPTX has no
instruction for is the arithmetic that computes it. In reading order:

    format      the two float formats that functions are computed in, and the code that they share
    exp, log    exponentials, `tanh` and `erf`; logarithms
    angle, sin  the reduction of an angle; `sin` and `cos`
"""

from tinyc.codegen.software_math.exp import erf, exp2, tanh
from tinyc.codegen.software_math.log import log, log2
from tinyc.codegen.software_math.sin import cos, sin
from tinyc.mlir import ir, math
from tinyc.mlir.bodies import nested

FUNCTIONS = {
    math.Exp2Op: exp2,
    math.Log2Op: log2,
    math.LogOp: log,
    math.SinOp: sin,
    math.CosOp: cos,
    math.TanhOp: tanh,
    math.ErfOp: erf,
}


def expand_functions(gpu_module: ir.OpView) -> None:
    """Replace `math.exp2`, `log2`, `log`, `sin`, `cos`, `erf` and `tanh` on f32 and f64 by code where the op stands.

    No function and no global is added. What is added has an instruction or an intrinsic of LLVM's that NVPTX selects:
    `arith` on f32, f64, i1, i32 and i64 (`mului_extended` among it), `math.fma`, `math.absf`, `math.copysign`, and
    `scf.if` with results. `math.sqrt`, `math.floor` and every op on another type stay as they are.

    A result is off by less than 2 units in its last place, at every argument. Infinities, NaN, signed zeros and
    subnormal numbers are as IEEE 754 has them. The code relies on rounding: it must be lowered without fast-math flags,
    and without contraction of `mulf` and `addf`.
    """
    for op in (each.opview for each in nested(gpu_module)):
        if type(op) not in FUNCTIONS or not isinstance(op.results[0].type, (ir.F32Type, ir.F64Type)):
            continue
        with ir.InsertionPoint(op), op.location:
            value = FUNCTIONS[type(op)](op.operands[0])
        op.results[0].replace_all_uses_with(value)
        op.erase()
