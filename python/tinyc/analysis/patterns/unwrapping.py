"""Skewed reads made straight: a row-major position that a guard keeps from reaching the next row.

Where ``e = L*w + x`` with x in ``[-L, L)``, the row ``floor(e / L)`` is w and the column ``e mod L`` is x, as long as x
is not negative. A guard that lets only columns below ``L + min(x)`` pass is false where x is negative: then x stands
for the column, and w for the row. Reshapes of padded rows to one long row, read by a `tiny.pool`, are such reads.
"""

from collections.abc import Iterator

from tinyc.analysis.access import Access
from tinyc.analysis.movement import Guard
from tinyc.expr import axes, extents
from tinyc.expr.axes import Axis, AxisExpr, Floor, FloorDiv, Shape


def unwrapped(access: Access, domain: Shape) -> Access:
    """An access whose guards all have one value, with the rows that guards allow to be made straight."""
    for _ in access.guards:
        found = next(_straight(access.guards, domain), None)
        if found is None:
            break
        # Every round takes away a division; whole multiples come out last, for they would hide divisions.
        access = access.with_expressions([_replaced(each, *found, domain) for each in access.expressions])
    return access.with_expressions([canonical(each, domain) for each in access.expressions])


def _straight(guards: tuple[Guard, ...], domain: Shape) -> Iterator[tuple[Floor, AxisExpr]]:
    """Yield (``floor(e / L)``, w) for each guard on ``e mod L`` that is false wherever the two differ."""
    for guard in guards:
        for atom, coefficient in guard.expression.terms:
            if not isinstance(atom, FloorDiv) or coefficient != -atom.divisor:
                continue
            if guard.expression != atom.numerator - axes.term(atom, atom.divisor):
                continue
            for inner, _ in atom.numerator.terms:
                if isinstance(inner, Axis) and _is_row(atom, axes.axis(inner.position, domain), guard, domain):
                    yield atom, axes.axis(inner.position, domain)


def _is_row(atom: Floor, row: AxisExpr, guard: Guard, domain: Shape) -> bool:
    low, high = axes.bounds(atom.numerator - row * atom.divisor, domain)
    inside = extents.is_nonnegative(low + atom.divisor) and extents.is_nonnegative(atom.divisor - 1 - high)
    return inside and extents.is_nonnegative(atom.divisor + low - guard.size)


def _replaced(expression: AxisExpr, atom: Floor, by: AxisExpr, domain: Shape) -> AxisExpr:
    """The expression with `by` for `atom`, inside divisions too."""
    total = axes.constant(expression.constant)
    for each, coefficient in expression.terms:
        if each == atom:
            inner = by
        elif isinstance(each, FloorDiv):
            inner = axes.floordiv_within(_replaced(each.numerator, atom, by, domain), each.divisor, domain)
        else:
            inner = axes.term(each)
        total = total + inner * coefficient
    return total


def canonical(expression: AxisExpr, domain: Shape) -> AxisExpr:
    """The expression with whole multiples out of its divisions: ``floor((5*i) / 3)`` as ``i + floor(2*i / 3)``.

    Expressions that differ in such multiples only become equal.
    """
    total = axes.constant(expression.constant)
    for atom, coefficient in expression.terms:
        if isinstance(atom, Axis):
            total = total + axes.term(atom, coefficient)
            continue
        numerator = canonical(atom.numerator, domain)
        whole = AxisExpr(0, tuple((inner, c // atom.divisor) for inner, c in numerator.terms if c // atom.divisor))
        rest = axes.floordiv_within(numerator - whole * atom.divisor, atom.divisor, domain)
        total = total + (whole + rest) * coefficient
    return total
