"""Floor divisions of axis expressions, simplified by the ranges of the axes, and bounds over the box of a shape."""

import functools
import math
from collections.abc import Callable, Iterator

from tinyc.expr import extents
from tinyc.expr.axes.expression import Atom, AxisExpr, Shape, interned, term
from tinyc.expr.extents import Dim
from tinyc.expr.terms import Axis, FloorDiv, Mod

Bounds = Callable[[AxisExpr, Shape], tuple[Dim, Dim]]


def mod(expression: AxisExpr, divisor: int, shape: Shape) -> AxisExpr:
    """``expression mod divisor``, expanded; it is not negative."""
    return expression - floordiv_within(expression, divisor, shape) * divisor


@functools.lru_cache(maxsize=1 << 15)
def floordiv_within(expression: AxisExpr, divisor: int, shape: Shape) -> AxisExpr:
    """``floor(expression / divisor)`` for a positive divisor, simplified by the ranges of the axes."""
    if divisor == 1:
        return expression
    outside, rest = _split_multiples(expression, divisor)
    low, high = bounds(rest, shape)
    if isinstance(low, int) and isinstance(high, int) and low // divisor == high // divisor:
        return outside + low // divisor
    if not rest.terms:
        return outside + extents.floordiv(rest.constant, divisor)
    coarse, common = _drop_fine_terms(rest, divisor, shape)
    if common > 1:
        return outside + floordiv_within(coarse, divisor // common, shape)
    inner = [atom for atom, c in rest.terms if isinstance(atom, FloorDiv) and c == 1]
    if len(inner) == 1:
        # floor((x + floor(e / a)) / d) = floor((a*x + e) / (a*d)): one division instead of two.
        whole = (rest - term(inner[0])) * inner[0].divisor + inner[0].numerator
        return outside + floordiv_within(whole, inner[0].divisor * divisor, shape)
    return outside + term(FloorDiv(rest, divisor))


def _split_multiples(expression: AxisExpr, divisor: int) -> tuple[AxisExpr, AxisExpr]:
    """(q, r) with ``expression == q * divisor + r``, r without multiples and its number in [0, divisor)."""
    number = expression.constant if isinstance(expression.constant, int) else 0
    symbolic = expression.constant - number
    if isinstance(symbolic, extents.Extent):
        number = dict(symbolic.terms).get((), 0)
        symbolic = symbolic - number
    quotient = extents.divide(symbolic, divisor)
    whole, rest = (0, symbolic) if quotient is None else (quotient, 0)
    outside = tuple((atom, c // divisor) for atom, c in expression.terms if c % divisor == 0)
    inside = tuple((atom, c) for atom, c in expression.terms if c % divisor)
    return interned(whole + number // divisor, outside), interned(rest + number % divisor, inside)


def _drop_fine_terms(rest: AxisExpr, divisor: int, shape: Shape) -> tuple[AxisExpr, int]:
    """(e, g), g the greatest for which ``floor(rest / divisor) == floor(e / (divisor / g))``.

    With g a divisor of `divisor`, ``rest = g*e + fine``; the fine part does not matter when it stays in [0, g).
    """
    if not isinstance(rest.constant, int):
        return rest, 1
    for common in sorted({math.gcd(c, divisor) for _, c in rest.terms} - {1}, reverse=True):
        fine = interned(rest.constant % common, tuple(term for term in rest.terms if term[1] % common))
        low, high = bounds(fine, shape)
        if isinstance(low, int) and isinstance(high, int) and low >= 0 and high < common:
            kept = tuple((atom, c // common) for atom, c in rest.terms if c % common == 0)
            return interned(rest.constant // common, kept), common
    return rest, 1


@functools.lru_cache(maxsize=1 << 15)
def bounds(expression: AxisExpr, shape: Shape) -> tuple[Dim, Dim]:
    """A lower and an upper bound over the box of `shape`; of use only where the box is not empty.

    Remainders in the sum are bounded as a whole, one after the other: the work is that of the terms, not of their sets.
    """
    low, high = _sum_bounds(expression, shape, bounds)
    below = above = 0
    while (found := _remainder(expression, shape)) is not None:
        expression, span = found
        below, above = below + min(span, 0), above + max(span, 0)
        least, greatest = _sum_bounds(expression, shape, bounds)
        low, high = _greater(low, least + below), _less(high, greatest + above)
    return low, high


def may_leave(expression: AxisExpr, size: Dim, shape: Shape) -> tuple[bool, bool]:
    """Whether an expression may be below 0, and whether it may reach `size`, over the box of `shape`.

    True: not known; of use only where the box is not empty.
    """
    low, high = bounds(expression, shape)
    return not extents.is_nonnegative(low), not extents.is_nonnegative(size - 1 - high)


def plain_bounds(expression: AxisExpr, shape: Shape) -> tuple[Dim, Dim]:
    """The bounds of an expression as it is written, each sum with its terms taken as independent."""
    return _sum_bounds(expression, shape, plain_bounds)


def _sum_bounds(expression: AxisExpr, shape: Shape, of: Bounds) -> tuple[Dim, Dim]:
    """The bounds of a sum whose terms are taken as independent; `of` gives those of a numerator."""
    low = high = expression.constant
    for atom, coefficient in expression.terms:
        least, greatest = _atom_bounds(atom, shape, of)
        if coefficient < 0:
            least, greatest = greatest, least
        low, high = low + least * coefficient, high + greatest * coefficient
    return low, high


def _atom_bounds(atom: Atom, shape: Shape, of: Bounds) -> tuple[Dim, Dim]:
    if isinstance(atom, Axis):
        extent = shape[atom.position]
        return 0, max(extent - 1, 0) if isinstance(extent, int) else extent - 1
    low, high = of(atom.numerator, shape)
    if isinstance(atom, FloorDiv):
        return extents.floordiv(low, atom.divisor), extents.floordiv(high, atom.divisor)
    if isinstance(low, int) and isinstance(high, int) and low // atom.divisor == high // atom.divisor:
        return low % atom.divisor, high % atom.divisor
    return 0, atom.divisor - 1


def _remainder(expression: AxisExpr, shape: Shape) -> tuple[AxisExpr, int] | None:
    """(rest, span) for a way to see ``expression = rest + k * (e mod b)``; span is ``k * (b - 1)``.

    Of all ways the one that leaves the fewest terms is taken, and none that leaves as many as there were.
    """
    best, fewest = None, len(expression.terms)
    for digit, quotient, modulus, scale in _digits(expression, shape):
        rest = expression - (digit - quotient * modulus) * scale
        if len(rest.terms) < fewest:
            best, fewest = (rest, scale * (modulus - 1)), len(rest.terms)
    return best


def _digits(expression: AxisExpr, shape: Shape) -> Iterator[tuple[AxisExpr, AxisExpr, int, int]]:
    """Yield (e, q, b, k) for each division `q`, of `e` by b, that stands ``-k*b`` times in a sum.

    For ``floor(n / (a*b))`` among the terms, ``e`` is ``floor(n / a)``: either `n` itself or another division.
    """
    divisors = {atom.divisor for atom, _ in expression.terms if isinstance(atom, FloorDiv)} | {1}
    for atom, coefficient in expression.terms:
        if not isinstance(atom, FloorDiv):
            continue
        for finer in sorted(d for d in divisors if atom.divisor % d == 0 and d < atom.divisor):
            modulus = atom.divisor // finer
            if coefficient % modulus == 0:
                yield floordiv_within(atom.numerator, finer, shape), term(atom), modulus, -coefficient // modulus


def with_remainders(expression: AxisExpr, shape: Shape) -> AxisExpr:
    """The expression with `mod` in the place of what it expands to, where this stands in the sum as a whole."""
    for digit, quotient, modulus, scale in _digits(expression, shape):
        expanded = (digit - quotient * modulus) * scale
        rest = expression - expanded
        if len(rest.terms) + len(expanded.terms) == len(expression.terms):
            return with_remainders(rest + term(Mod(digit, modulus), scale), shape)
    return expression


def _less(old: Dim, new: Dim) -> Dim:
    """The smaller of two upper bounds; `new`, a number, where that is not known."""
    return old if extents.is_nonnegative(new - old) else new


def _greater(old: Dim, new: Dim) -> Dim:
    return old if extents.is_nonnegative(old - new) else new
