"""The value of an index expression of a view, by the meaning of its parts: what the tests hold against."""

from collections.abc import Sequence

from tinyc.expr.axes import Atom, Axis, AxisExpr, FloorDiv, Mod


def index_value(index: AxisExpr, point: Sequence[int]) -> int:
    """Return the value at a point of the result."""
    assert isinstance(index.constant, int)
    return index.constant + sum(coefficient * _value(atom, point) for atom, coefficient in index.terms)


def _value(atom: Atom, point: Sequence[int]) -> int:
    match atom:
        case Axis(position):
            return point[position]
        case FloorDiv(numerator, divisor):
            return index_value(numerator, point) // divisor
        case Mod(numerator, divisor):
            return index_value(numerator, point) % divisor
