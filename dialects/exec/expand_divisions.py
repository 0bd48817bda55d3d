"""Divisions of indices that LLVM may compute before it is known whether they are needed.

The extents that indices are divided by are positive where a loop runs at all. LLVM cannot see that, so it leaves such a
division in the branch or the loop that it stands in, and its loop vectoriser (22.1) goes wrong there: of a division
that is the same for all lanes it makes one that is computed if the first lane takes the branch, and all lanes read it.
A call of a function that is `speculatable`, as `runtime.jit` makes these, leaves loops and branches.
"""

from dataclasses import dataclass
from typing import ClassVar

from tinyc.mlir import arith, func, ir, scf
from tinyc.mlir.bodies import nested
from tinyc.passes import Pass
from tinyc.runtime.function_names import SPECULATABLE_PREFIX

_DIVISIONS = (arith.DivUIOp, arith.RemUIOp, arith.DivSIOp, arith.RemSIOp, arith.FloorDivSIOp)


@dataclass(frozen=True)
class ExecExpandDivisions(Pass):
    """Call a function for each division of an index by an extent that does not change in the innermost loop.

    Requires:
        1. Functions are loops, as in --region-to-loops; divisors are positive where a division is needed.
    Ensures:
        1. A division of `index` values by what is no constant stands in a function of its name, which divides by 1
           where it would divide by 0 and which LLVM may call at any time; but for one of a counter of an innermost
           loop, or of what is made of that.
    Before:
        func.func @f(%i: index, %d: index) -> index {
          %0 = arith.divui %i, %d : index
          return %0 : index
        }
    After:
        func.func @f(%i: index, %d: index) -> index {
          %0 = call @index.divui(%i, %d) : (index, index) -> index
          return %0 : index
        }
        …
    """

    name: ClassVar[str] = "exec-expand-divisions"
    consumes: ClassVar[tuple[str, ...]] = ("func",)
    produces: ClassVar[tuple[str, ...]] = ("func", "arith", "scf")

    def run(self, module: ir.Module) -> None:
        """Rewrite the functions of `module`."""
        functions = [op for op in module.body.operations if isinstance(op, func.FuncOp)]
        defined = {function.sym_name.value for function in functions}
        for function in functions:
            varying = _varying(function)
            for op in [each.opview for each in nested(function)]:
                if not _is_division(op) or op.operands[0] in varying or op.operands[1] in varying:
                    continue
                name = SPECULATABLE_PREFIX + op.name.removeprefix("arith.")
                if name not in defined:
                    defined.add(name)
                    _define(module, name, op.name)
                with ir.InsertionPoint(op), op.location:
                    value = func.call([op.results[0].type], name, list(op.operands))
                op.results[0].replace_all_uses_with(value)
                op.erase()


def _is_division(op: ir.OpView) -> bool:
    """Whether an op divides an index by what is no constant."""
    is_index = isinstance(op, _DIVISIONS) and isinstance(op.results[0].type, ir.IndexType)
    return is_index and not isinstance(op.operands[1].owner, arith.ConstantOp)


def _varying(function: func.FuncOp) -> set[ir.Value]:
    """The values that innermost loops make of their counters and of what they carry."""
    found: set[ir.Value] = set()

    def has_loop(op: ir.Operation) -> bool:
        """Whether an op is a loop or has one in it; note what varies in it if it is an innermost one."""
        inside = [has_loop(inner.operation) for region in op.regions for block in region for inner in block]
        is_loop = isinstance(op.opview, scf.ForOp)
        if is_loop and not any(inside):
            _mark(op, found)
        return is_loop or any(inside)

    has_loop(function.operation)
    return found


def _mark(op: ir.Operation, varying: set[ir.Value]) -> None:
    """Note the values that vary in an innermost loop, or in a branch of one."""
    for region in op.regions:
        for block in region:
            varying.update(block.arguments)
            for inner in block:
                _mark(inner.operation, varying)
                if len(inner.regions) or any(operand in varying for operand in inner.operands):
                    varying.update(inner.results)


def _define(module: ir.Module, name: str, division: str) -> None:
    """Write the function that divides at the end of a module; `division` is the op's name."""
    index = ir.IndexType.get(module.context)
    with ir.InsertionPoint(module.body), ir.Location.unknown(module.context):
        function = func.FuncOp(name, ([index, index], [index]), visibility="private")
        function.attributes["llvm.linkage"] = ir.Attribute.parse("#llvm.linkage<internal>")
        block = function.add_entry_block()
        with ir.InsertionPoint(block):
            dividend, divisor = block.arguments
            positive = arith.maxui(divisor, arith.constant(index, 1))
            func.ReturnOp(ir.Operation.create(division, [index], [dividend, positive]).results)
