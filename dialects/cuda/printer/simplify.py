"""Integer arithmetic that a reader would do in the head, done: sums with 0, products with 0 and 1, divisions by 1.

In: functions at the scalar level, changed in place. Out: fewer ops in use. A division by a constant 0 stands in a loop
over nothing, which C++ compilers warn of all the same; it becomes 0. What is computed of small constants
alone is one, too. Nothing else is folded: MLIR's canonicalisation would change how numbers are rounded.
"""

import operator
from collections.abc import Callable
from typing import TypeGuard

from tinyc.dialects.cuda.printer.folding import inner_blocks
from tinyc.dialects.cuda.printer.types import constant_of
from tinyc.mlir import arith, ir, scf

_DIVISIONS = arith.DivUIOp | arith.DivSIOp | arith.FloorDivSIOp | arith.CeilDivSIOp
#: What is computed of two words or positions that are known and not negative.
_OF_NUMBERS: dict[type[ir.OpView], Callable[[int, int], int]] = {
    arith.AddIOp: operator.add,
    arith.MulIOp: operator.mul,
    arith.AndIOp: lambda left, right: left & right,
    arith.XOrIOp: lambda left, right: left ^ right,
    arith.ShRUIOp: lambda left, right: left >> right,
}
_REMAINDERS = arith.RemUIOp | arith.RemSIOp


def simplify_indices(block: ir.Block) -> None:
    """Replace the uses of what is simpler than it is written, in a block and those inside of it."""
    for op in block.operations:
        if isinstance(op, scf.IfOp):
            _choose(op.regions[0].blocks[0], _holding(op.condition))
        for inner in inner_blocks(op):
            simplify_indices(inner)
        if len(op.results) == 1 and (isinstance(op.results[0].type, ir.IndexType) or str(op.results[0].type) == "i32"):
            simpler = _simpler(op) if len(op.operands) == 2 else _converted(op)
            if simpler is not None:
                op.results[0].replace_all_uses_with(simpler)


def _holding(condition: ir.Value) -> set[ir.Value]:
    """What holds where a condition does."""
    op = condition.owner
    return {condition, *(_holding(op.lhs) | _holding(op.rhs) if isinstance(op, arith.AndIOp) else ())}


def _choose(block: ir.Block, holding: set[ir.Value]) -> None:
    """Replace in a block what is chosen by a condition that holds there."""
    for op in block.operations:
        for number, value in enumerate(op.operands):
            chosen = value.owner
            if isinstance(chosen, arith.SelectOp) and chosen.condition in holding:
                op.operation.operands[number] = chosen.true_value
        for inner in inner_blocks(op):
            _choose(inner, holding)


def _simpler(op: ir.OpView) -> ir.Value | None:
    """The value that an op on two operands has, where it is one of them, 0, or a word that is known."""
    left, right = op.operands
    first, second = constant_of(left), constant_of(right)
    if _is_small(first) and _is_small(second) and type(op) in _OF_NUMBERS:
        return _constant_before(op, _OF_NUMBERS[type(op)](first, second))
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
        return right if second == 0 else _constant_before(op, 0)
    return None


def _is_small(value: int | float | None) -> TypeGuard[int]:
    """Whether a number is one whose sums and products with such are words that are not negative, and wrap nowhere."""
    return isinstance(value, int) and 0 <= value < 2**15


def _converted(op: ir.OpView) -> ir.Value | None:
    """The value that an `index` as a word has, a number, the word that it was, or a sum of both; or that a flag has."""
    if isinstance(op, arith.ExtUIOp) and isinstance(constant_of(op.in_), int):
        return _constant_before(op, int(bool(constant_of(op.in_)))) if str(op.in_.type) == "i1" else None
    if not isinstance(op, arith.IndexCastOp) or str(op.out.type) != "i32":
        return None
    source, known = op.in_.owner, constant_of(op.in_)
    if isinstance(known, int) and abs(known) < 2**31:
        return _constant_before(op, known)
    if isinstance(source, arith.IndexCastOp) and source.in_.type == op.out.type:
        return source.in_
    if not isinstance(source, arith.AddIOp | arith.SubIOp) or not isinstance(source.lhs.owner, arith.IndexCastOp):
        return None
    word, number = source.lhs.owner.in_, constant_of(source.rhs)
    if word.type != op.out.type or not isinstance(number, int) or abs(number) >= 2**15:
        return None
    number = number if isinstance(source, arith.AddIOp) else -number
    known = _constant_before(op, abs(number))
    with ir.InsertionPoint(op), op.location:
        return arith.addi(word, known) if number > 0 else arith.subi(word, known)


def _constant_before(op: ir.OpView, value: int) -> ir.Value:
    with ir.InsertionPoint(op), op.location:
        return arith.constant(op.results[0].type, value)
