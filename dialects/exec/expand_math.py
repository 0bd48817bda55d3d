"""Mathematical functions as arithmetic, which LLVM makes vectors of: the C library computes one number at a time.

Runs on the loops of the kernels, after --region-to-loops. The result is the same on every machine, and the one that
GPU kernels have (`codegen.software_math`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from tinyc.codegen.software_math import FUNCTIONS
from tinyc.mlir import func, ir
from tinyc.mlir.bodies import nested
from tinyc.passes import Pass


@dataclass(frozen=True)
class ExecExpandMath(Pass):
    """Expand mathematical functions of f32 and f64 to arithmetic.

    Requires:
        1. Functions are scalar, as in --region-to-loops.
    Ensures:
        1. No `math.exp2`, `log2`, `log`, `sin`, `cos`, `tanh` or `erf` of f32 or f64 is left; what one computes stands
           once in a function of its name and type, which is always inlined, unless the module has that already.
    Before:
        func.func private @exp2.f32(f32) -> f32
        func.func @f(%x: f32) -> f32 {
          %y = math.exp2 %x : f32
          return %y : f32
        }
    After:
        func.func private @exp2.f32(f32) -> f32
        func.func @f(%x: f32) -> f32 {
          %y = call @exp2.f32(%x) : (f32) -> f32
          return %y : f32
        }
    """

    name: ClassVar[str] = "exec-expand-math"
    consumes: ClassVar[tuple[str, ...]] = ("func",)
    produces: ClassVar[tuple[str, ...]] = ("func", "arith", "math", "scf")

    def run(self, module: ir.Module) -> None:
        """Rewrite the functions of `module`."""
        present = {op.sym_name.value for op in module.body.operations if isinstance(op, func.FuncOp)}
        for op in [each.opview for each in nested(module)]:
            if type(op) not in FUNCTIONS or not isinstance(op.results[0].type, (ir.F32Type, ir.F64Type)):
                continue
            kind = op.results[0].type
            name = f"{op.name.removeprefix('math.')}.{kind}"
            if name not in present:
                present.add(name)
                _define(module, name, FUNCTIONS[type(op)], kind)
            with ir.InsertionPoint(op), op.location:
                value = func.call([kind], name, [op.operands[0]])
            op.results[0].replace_all_uses_with(value)
            op.erase()


def _define(module: ir.Module, name: str, code: Callable[[ir.Value], ir.Value], element: ir.Type) -> None:
    """Write the function that is `code` at the end of a module."""
    with ir.InsertionPoint(module.body), ir.Location.unknown(module.context):
        function = func.FuncOp(name, ([element], [element]), visibility="private")
        function.attributes["llvm.linkage"] = ir.Attribute.parse("#llvm.linkage<internal>")
        function.attributes["passthrough"] = ir.ArrayAttr.get([ir.StringAttr.get("alwaysinline")])
        block = function.add_entry_block()
        with ir.InsertionPoint(block):
            func.ReturnOp([code(block.arguments[0])])
