"""Index arithmetic that a reader would do in the head, done: sums with 0, products with 0 and 1, divisions by 1.

In: functions at the scalar level, changed in place. Out: fewer ops in use. A division by a constant 0 stands in a loop
over nothing, which C++ compilers warn of all the same; it becomes 0. Nothing else is folded: MLIR's canonicalisation
would change how numbers are rounded.
"""

from typing import Any

from tinyc.dialects.gpu.cuda.folding import inner_blocks
from tinyc.mlir import arith, ir

_DIVISIONS = frozenset(f"arith.{name}" for name in ("divui", "divsi", "floordivsi", "ceildivsi"))
_REMAINDERS = frozenset(("arith.remui", "arith.remsi"))


def simplify(block: Any) -> None:
    """Replace the uses of what is simpler than it is written, in a block and those inside of it."""
    for each in block.operations:
        op = each.operation
        for inner in inner_blocks(op):
            simplify(inner)
        if len(op.operands) == 2 and len(op.results) == 1 and isinstance(op.results[0].type, ir.IndexType):
            simpler = _simpler(op)
            if simpler is not None:
                op.results[0].replace_all_uses_with(simpler)


def _simpler(op: Any) -> Any | None:
    """Return the value that an `index` op on two operands has, where it is one of them or 0."""
    left, right = op.operands
    first, second = constant_of(left), constant_of(right)
    if op.name == "arith.addi" and 0 in (first, second):
        return left if second == 0 else right
    if op.name == "arith.muli":
        if 0 in (first, second):
            return left if first == 0 else right
        if 1 in (first, second):
            return left if second == 1 else right
    if op.name in _DIVISIONS and second in (0, 1):
        return left if second == 1 else right
    if op.name in _REMAINDERS and second in (0, 1):
        return right if second == 0 else _zero_before(op)
    return None


def constant_of(value: Any) -> Any | None:
    """Return the number that a value is, or None."""
    if isinstance(value, ir.BlockArgument) or value.owner.operation.name != "arith.constant":
        return None
    return value.owner.operation.attributes["value"].value


def _zero_before(op: Any) -> Any:
    with ir.InsertionPoint(op), op.location:
        return arith.constant(ir.IndexType.get(), 0)
