"""The value of an index expression of a view, by the meaning of its nodes: what the tests hold against."""

from collections.abc import Sequence

from tinyc.analysis.index_map import Axis, Index, Quotient, Remainder, Scaled, Sum


def index_value(index: Index, point: Sequence[int]) -> int:
    """Return the value at a point of the result."""
    match index:
        case int():
            return index
        case Axis(position):
            return point[position]
        case Sum(left, right):
            return index_value(left, point) + index_value(right, point)
        case Scaled(operand, factor):
            return index_value(operand, point) * factor
        case Quotient(operand, divisor):
            return index_value(operand, point) // divisor
        case Remainder(operand, divisor):
            return index_value(operand, point) % divisor
