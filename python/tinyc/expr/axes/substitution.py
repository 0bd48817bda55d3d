"""Putting axis expressions in the place of axes: how maps are composed."""

from collections.abc import Sequence

from tinyc.expr.axes.expression import AxisExpr, Index, Shape, constant
from tinyc.expr.axes.simplification import floordiv_within, mod
from tinyc.expr.interpretation import Interpretation
from tinyc.expr.terms import AnyDivision, FloorDiv


def substitute_axes(expression: AxisExpr, index: Sequence[AxisExpr], domain: Shape) -> AxisExpr:
    """`expression` with ``index[k]`` in the place of axis k; `index` runs over the axes of `domain`.

    What was written without regard to ranges is simplified by those of `domain`, and a `mod` is expanded.
    """
    return _substitution(index, domain).of(expression)


def compose(outer: Index, inner: Sequence[AxisExpr], domain: Shape) -> Index:
    """The map `outer` after `inner`: each row of `outer` at the index `inner`, over the axes of `domain`."""
    substitution = _substitution(inner, domain)
    return tuple(substitution.of(row) for row in outer)


def _substitution(index: Sequence[AxisExpr], domain: Shape) -> Interpretation[AxisExpr]:
    def divide(division: AnyDivision, numerator: AxisExpr, _: AxisExpr) -> AxisExpr:
        assert isinstance(division.divisor, int)
        return (floordiv_within if isinstance(division, FloorDiv) else mod)(numerator, division.divisor, domain)

    def multiply(value: AxisExpr, factor: AxisExpr) -> AxisExpr:
        assert isinstance(factor.constant, int)
        return value * factor.constant

    return Interpretation(constant, divide, axis=index.__getitem__, multiply=multiply, extent=constant)
