"""Code for the best k elements along one row of a `tiny.topk`, in order."""

from collections.abc import Callable, Mapping, Sequence

from tinyc.codegen import scalars
from tinyc.codegen.elements import Elements, IndexValues
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr.extents import Dim
from tinyc.mlir import arith, ir
from tinyc.mlir.constants import number
from tinyc.vocabulary.attributes import tensor_type
from tinyc.vocabulary.element_type import ElementType


def write_topk(elements: Elements, op: tiny.TopkOp, row: IndexValues, outputs: Mapping[ir.Value, ir.Value]) -> None:
    """For each rank t < k, find the best element after the one before it; store it to the buffers of the results."""
    axis, tensor = op.axis.value, tensor_type(op.operand.type)
    order = _Order(tensor.element, op.largest.value)

    def at(position: ir.Value) -> IndexValues:
        return (*row[:axis], position, *row[axis:])

    def rank(index: IndexValues, previous: list[ir.Value]) -> list[ir.Value]:
        best = _next_best(elements, order, tensor.shape[axis], previous, lambda p: elements.at(op.operand, at(p)))
        for result, buffer in outputs.items():
            is_value = result == op.values
            chosen = best[0] if is_value else arith.index_cast(ir.IntegerType.get_signless(64), best[1])
            elements.store(buffer, at(*index), chosen)
        return best

    nothing = [number(0, scalars.register_type(tensor.element)), elements.index(-1)]
    elements.carried([op.k.value], nothing, rank)


def _next_best(
    elements: Elements,
    order: "_Order",
    extent: Dim,
    previous: Sequence[ir.Value],
    read: Callable[[ir.Value], ir.Value],
) -> list[ir.Value]:
    """(value, position) of the best element after `previous`, whose position is -1 where there is none yet."""
    last_value, last_position = previous

    def look(index: IndexValues, best: list[ir.Value]) -> list[ir.Value]:
        (position,), (best_value, best_position) = index, best
        value = read(position)
        open_ = arith.ori(_is_none(elements, last_position), order.before(last_value, last_position, value, position))
        better = arith.ori(_is_none(elements, best_position), order.before(value, position, best_value, best_position))
        take = arith.andi(open_, better)
        return [arith.select(take, value, best_value), arith.select(take, position, best_position)]

    return elements.carried([extent], [last_value, elements.index(-1)], look)


def _is_none(elements: Elements, position: ir.Value) -> ir.Value:
    return arith.cmpi(arith.CmpIPredicate.slt, position, elements.index(0))


class _Order:
    """The order of top-k: by value, NaN the greatest, equal values by position."""

    def __init__(self, element: ElementType, largest: bool) -> None:
        self.element, self.largest = element, largest

    def before(self, value: ir.Value, position: ir.Value, other: ir.Value, other_position: ir.Value) -> ir.Value:
        """Whether (value, position) comes strictly before (other, other_position)."""
        low, high = (other, value) if self.largest else (value, other)
        ahead, equal = self._less(low, high), scalars.elementwise("cmp_eq", self.element, [value, other])
        if self.element.is_float:
            equal = arith.ori(equal, arith.andi(self._is_nan(value), self._is_nan(other)))
        earlier = arith.cmpi(arith.CmpIPredicate.slt, position, other_position)
        return arith.ori(ahead, arith.andi(equal, earlier))

    def _less(self, low: ir.Value, high: ir.Value) -> ir.Value:
        less = scalars.elementwise("cmp_lt", self.element, [low, high])
        if not self.element.is_float:
            return less
        is_number = arith.cmpf(arith.CmpFPredicate.ORD, low, low)
        return arith.ori(less, arith.andi(is_number, self._is_nan(high)))

    @staticmethod
    def _is_nan(value: ir.Value) -> ir.Value:
        return arith.cmpf(arith.CmpFPredicate.UNO, value, value)
