"""Index arithmetic that a reader would do in the head, done: sums with 0, products with 0 and 1, divisions by 1.

In: functions at the scalar level, changed in place. Out: fewer ops in use. A division by a constant 0 stands in a loop
over nothing, which C++ compilers warn of all the same; it becomes 0. Nothing else is folded: MLIR's canonicalisation
would change how numbers are rounded.
"""

from tinyc.dialects.cuda.printer.folding import inner_blocks
from tinyc.dialects.cuda.printer.types import value_of
from tinyc.mlir import arith, ir

_DIVISIONS = arith.DivUIOp | arith.DivSIOp | arith.FloorDivSIOp | arith.CeilDivSIOp
_REMAINDERS = arith.RemUIOp | arith.RemSIOp


def simplify_indices(block: ir.Block) -> None:
    """Replace the uses of what is simpler than it is written, in a block and those inside of it."""
    for op in block.operations:
        for inner in inner_blocks(op):
            simplify_indices(inner)
        if len(op.operands) == 2 and len(op.results) == 1 and isinstance(op.results[0].type, ir.IndexType):
            simpler = _simpler(op)
            if simpler is not None:
                op.results[0].replace_all_uses_with(simpler)


def _simpler(op: ir.OpView) -> ir.Value | None:
    """The value that an `index` op on two operands has, where it is one of them or 0."""
    left, right = op.operands
    first, second = constant_of(left), constant_of(right)
    if isinstance(op, arith.AddIOp) and 0 in (first, second):
        return left if second == 0 else right
    if isinstance(op, arith.MulIOp):
        if 0 in (first, second):
            return left if first == 0 else right
        if 1 in (first, second):
            return left if second == 1 else right
    if isinstance(op, _DIVISIONS) and second in (0, 1):
        return left if second == 1 else right
    if isinstance(op, _REMAINDERS) and second in (0, 1):
        return right if second == 0 else _zero_before(op)
    return None


def constant_of(value: ir.Value) -> int | float | None:
    """The number that a value is, or None."""
    op = value.owner
    return value_of(op.value) if isinstance(op, arith.ConstantOp) else None


def _zero_before(op: ir.OpView) -> ir.Value:
    with ir.InsertionPoint(op), op.location:
        return arith.constant(ir.IndexType.get(), 0)
