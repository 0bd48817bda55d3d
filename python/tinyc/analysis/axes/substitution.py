"""Putting axis expressions in the place of axes: how maps are composed."""

from collections.abc import Sequence

from tinyc.analysis.axes.expression import Axis, AxisExpr, FloorDiv, Index, Shape, constant
from tinyc.analysis.axes.simplification import floordiv


def substitute(expression: AxisExpr, index: Sequence[AxisExpr], domain: Shape) -> AxisExpr:
    """Return `expression` with ``index[k]`` in the place of axis k; `index` runs over the axes of `domain`."""
    return _Substitution(index, domain).of(expression)


def compose(outer: Index, inner: Sequence[AxisExpr], domain: Shape) -> Index:
    """Return the map `outer` after `inner`: each row of `outer` at the index `inner`, over the axes of `domain`."""
    substitution = _Substitution(inner, domain)
    return tuple(substitution.of(row) for row in outer)


class _Substitution:
    """Each division is substituted once, however often it appears: the work is that of the distinct ones."""

    def __init__(self, index: Sequence[AxisExpr], domain: Shape) -> None:
        self._index, self._domain = index, domain
        self._quotients: dict[FloorDiv, AxisExpr] = {}

    def of(self, expression: AxisExpr) -> AxisExpr:
        total = constant(expression.constant)
        for atom, coefficient in expression.terms:
            inner = self._index[atom.position] if isinstance(atom, Axis) else self._quotient(atom)
            total = total + inner * coefficient
        return total

    def _quotient(self, atom: FloorDiv) -> AxisExpr:
        if atom not in self._quotients:
            self._quotients[atom] = floordiv(self.of(atom.numerator), atom.divisor, self._domain)
        return self._quotients[atom]
