"""Code for the best k elements along one lane of a `tiny.topk`, in order."""

from collections.abc import Callable, Mapping
from typing import Any

from tinyc.analysis.extents import Dim
from tinyc.codegen import scalars
from tinyc.codegen.elements import Elements, Index
from tinyc.dialects.tiny.attributes import arguments, tensor_type
from tinyc.dialects.tiny.types import is_float
from tinyc.mlir import arith, ir


def lanes(op: Any) -> tuple[Dim, ...]:
    """Return the extents of the axes that are searched independently: all but the one that the op names."""
    shape, axis = tensor_type(op.operation.operands[0].type).shape, arguments(op)["axis"]
    return (*shape[:axis], *shape[axis + 1 :])


def write(elements: Elements, op: Any, lane: Index, outputs: Mapping[Any, Any]) -> None:
    """For each rank t < k, find the best element after the one before it; store it to the buffers of the results."""
    (source,) = op.operation.operands
    values, tensor = arguments(op), tensor_type(source.type)
    axis, order = values["axis"], _Order(tensor.element, values["largest"])

    def at(position: Any) -> Index:
        return (*lane[:axis], position, *lane[axis:])

    def rank(index: Index, previous: list[Any]) -> list[Any]:
        best = _next_best(elements, order, tensor.shape[axis], previous, lambda p: elements.at(source, at(p)))
        for result, buffer in outputs.items():
            is_value = result == op.operation.results[0]
            chosen = best[0] if is_value else arith.index_cast(ir.IntegerType.get_signless(64), best[1])
            elements.store(buffer, at(*index), chosen)
        return best

    nothing = [scalars.number(0, scalars.register_type(tensor.element)), elements.index(-1)]
    elements.carried([values["k"]], nothing, rank)


def _next_best(
    elements: Elements, order: "_Order", extent: Dim, previous: list[Any], read: Callable[[Any], Any]
) -> list[Any]:
    """Return (value, position) of the best element after `previous`, whose position is -1 where there is none yet."""
    last_value, last_position = previous

    def look(index: Index, best: list[Any]) -> list[Any]:
        (position,), (best_value, best_position) = index, best
        value = read(position)
        open_ = arith.ori(_is_none(elements, last_position), order.before(last_value, last_position, value, position))
        better = arith.ori(_is_none(elements, best_position), order.before(value, position, best_value, best_position))
        take = arith.andi(open_, better)
        return [arith.select(take, value, best_value), arith.select(take, position, best_position)]

    return elements.carried([extent], [last_value, elements.index(-1)], look)


def _is_none(elements: Elements, position: Any) -> Any:
    return arith.cmpi(arith.CmpIPredicate.slt, position, elements.index(0))


class _Order:
    """The order of top-k: by value, NaN the greatest, equal values by position."""

    def __init__(self, element: str, largest: bool) -> None:
        self.element, self.largest = element, largest

    def before(self, value: Any, position: Any, other: Any, other_position: Any) -> Any:
        """Return whether (value, position) comes strictly before (other, other_position)."""
        low, high = (other, value) if self.largest else (value, other)
        ahead, equal = self._less(low, high), scalars.elementwise("cmp_eq", self.element, [value, other])
        if is_float(self.element):
            equal = arith.ori(equal, arith.andi(self._is_nan(value), self._is_nan(other)))
        earlier = arith.cmpi(arith.CmpIPredicate.slt, position, other_position)
        return arith.ori(ahead, arith.andi(equal, earlier))

    def _less(self, low: Any, high: Any) -> Any:
        less = scalars.elementwise("cmp_lt", self.element, [low, high])
        if not is_float(self.element):
            return less
        is_number = arith.cmpf(arith.CmpFPredicate.ORD, low, low)
        return arith.ori(less, arith.andi(is_number, self._is_nan(high)))

    @staticmethod
    def _is_nan(value: Any) -> Any:
        return arith.cmpf(arith.CmpFPredicate.UNO, value, value)
