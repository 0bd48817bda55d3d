"""Which values of a kernel are known not to be negative: extents and thread numbers, words, and sums of such.

In: a value. Out: whether C++'s signed arithmetic does with it what MLIR's unsigned does. Arithmetic on positions does
not overflow; that on integers may.
"""

from collections.abc import Container

from tinyc.dialects.cuda.printer.folding import terminator
from tinyc.dialects.cuda.printer.types import constant_of, is_float_type
from tinyc.dialects.gpu.kernel import Position
from tinyc.mlir import arith, ir, scf

#: Ops whose result is not negative where no operand is.
_WHERE_ALL_ARE = (
    *(arith.AddIOp, arith.MulIOp, arith.DivSIOp, arith.DivUIOp, arith.FloorDivSIOp, arith.CeilDivSIOp),
    *(arith.MinSIOp, arith.MinUIOp, arith.MaxUIOp, arith.RemUIOp, arith.RemSIOp),
)


class Nonnegative:
    """What is known of one function, with these extents and words."""

    def __init__(self, extents: Container[ir.Value], words: Container[ir.Value]) -> None:
        self._extents, self._words = extents, words
        self._known: dict[ir.Value, bool] = {}

    def __contains__(self, value: ir.Value) -> bool:
        """Whether an `index` or integer is known not to be negative."""
        if value not in self._known:
            self._known[value] = False  # for what it is asked of while it is computed
            self._known[value] = self._is(value)
        return self._known[value]

    def _is(self, value: ir.Value) -> bool:
        if value in self._words:
            return True
        if isinstance(value, ir.BlockArgument):
            return value in self._extents or self._is_upward_index(value) or self._is_carried(value)
        op, constant = value.owner, constant_of(value)
        if constant is not None:
            return not is_float_type(value.type) and constant >= 0
        if isinstance(op, Position):
            return True
        if isinstance(op, arith.IndexCastOp | arith.ExtSIOp):
            return op.in_ in self
        if isinstance(op, arith.ExtUIOp):
            return op.in_ in self._words
        if not isinstance(value.type, ir.IndexType):
            return False
        if isinstance(op, arith.SelectOp):
            return op.false_value in self and (op.true_value in self or _is_rest(op))
        if isinstance(op, arith.MaxSIOp):
            return op.lhs in self or op.rhs in self
        return isinstance(op, _WHERE_ALL_ARE) and all(each in self for each in op.operands)

    def _is_carried(self, argument: ir.BlockArgument) -> bool:
        """Whether a value that a loop carries begins like that, and goes on so if it is."""
        loop = argument.owner.owner.opview
        if not isinstance(loop, scf.ForOp) or argument.arg_number == 0 or not isinstance(argument.type, ir.IndexType):
            return False
        number = argument.arg_number - 1
        before = dict(self._known)
        self._known[argument] = True
        if loop.initArgs[number] in self and terminator(loop.body).operands[number] in self:
            return True
        self._known = before  # what followed from it may be wrong
        return False

    def _is_upward_index(self, argument: ir.BlockArgument) -> bool:
        """Whether a value is the index of a loop that starts at 0 or above."""
        loop = argument.owner.owner.opview
        return isinstance(loop, scf.ForOp) and argument.arg_number == 0 and loop.lowerBound in self


def _is_rest(op: arith.SelectOp) -> bool:
    """Whether an op is `x >= y ? x - y : x`."""
    condition, less = op.condition.owner, op.true_value.owner
    if not isinstance(condition, arith.CmpIOp) or not isinstance(less, arith.SubIOp):
        return False
    is_at_least = ir.IntegerAttr(condition.predicate).value == arith.CmpIPredicate.uge
    sides = (less.lhs, less.rhs)
    return is_at_least and (condition.lhs, condition.rhs) == sides and op.false_value == less.lhs
