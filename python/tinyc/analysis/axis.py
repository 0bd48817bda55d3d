"""Axis expressions: what index a value reads, as a quasi-affine function of the axes `i0, i1, …` of another value.

An `AxisExpr` is a sum of a constant (a number or a symbolic extent), axes, and floor divisions by positive numbers,
each with an integer coefficient; `mod` is expanded. Expressions are hash-consed and simplified by the ranges of the
axes, which a `shape` tells (axis k runs from 0 below ``shape[k]``): `floordiv` of ``12*i0 + i1`` by 12 is ``i0``
where ``i1 < 12``. Equal expressions are equal as values. Pure Python: MLIR and isl forms are made elsewhere.
"""

import functools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tinyc.analysis import extents
from tinyc.analysis.extents import Dim

Shape = tuple[Dim, ...]


@dataclass(frozen=True)
class Axis:
    """The axis ``i<position>``."""

    position: int


@dataclass(frozen=True)
class FloorDiv:
    """``numerator floordiv divisor``; the divisor is greater than 1."""

    numerator: "AxisExpr"
    divisor: int


Atom = Axis | FloorDiv


@dataclass(frozen=True)
class AxisExpr:
    """``constant`` plus the sum of ``coefficient * atom`` over `terms`, which are in canonical order."""

    constant: Dim
    terms: tuple[tuple[Atom, int], ...] = ()

    def __add__(self, other: "AxisExpr | Dim") -> "AxisExpr":
        if not isinstance(other, AxisExpr):
            return _intern(self.constant + other, self.terms)
        return _from_terms(self.constant + other.constant, (*self.terms, *other.terms))

    def __sub__(self, other: "AxisExpr | Dim") -> "AxisExpr":
        return self + other * -1

    def __mul__(self, factor: int) -> "AxisExpr":
        if factor == 0:
            return constant(0)
        return _intern(self.constant * factor, tuple((atom, c * factor) for atom, c in self.terms))

    def __hash__(self) -> int:
        return self._hash

    @functools.cached_property
    def _hash(self) -> int:
        return hash((self.constant, self.terms))

    @functools.cached_property
    def _text(self) -> str:
        return text(self)

    def __str__(self) -> str:
        return self._text


@functools.lru_cache(maxsize=1 << 16)
def _intern(value: Dim, terms: tuple[tuple[Atom, int], ...]) -> AxisExpr:
    return AxisExpr(value, terms)


def _atom_key(term: tuple[Atom, int]) -> tuple[int, int, str]:
    """Order axes by position, then floor divisions by divisor and text."""
    atom, _ = term
    return (0, atom.position, "") if isinstance(atom, Axis) else (1, atom.divisor, str(atom.numerator))


def _from_terms(value: Dim, terms: Iterable[tuple[Atom, int]]) -> AxisExpr:
    collected: dict[Atom, int] = {}
    for atom, coefficient in terms:
        collected[atom] = collected.get(atom, 0) + coefficient
    kept = [term for term in collected.items() if term[1]]
    kept.sort(key=_atom_key)
    return _intern(value, tuple(kept))


def constant(value: Dim) -> AxisExpr:
    """Return the expression that is `value` everywhere."""
    return _intern(value, ())


def axis(position: int, shape: Shape) -> AxisExpr:
    """Return the axis at `position` of `shape`; 0 where its extent is 1."""
    return constant(0) if shape[position] == 1 else _intern(0, ((Axis(position), 1),))


def identity(shape: Shape) -> tuple[AxisExpr, ...]:
    """Return every axis of `shape`."""
    return tuple(axis(position, shape) for position in range(len(shape)))


def mod(expression: AxisExpr, divisor: int, shape: Shape) -> AxisExpr:
    """Return ``expression mod divisor``, expanded; it is not negative."""
    return expression - floordiv(expression, divisor, shape) * divisor


@functools.lru_cache(maxsize=1 << 15)
def floordiv(expression: AxisExpr, divisor: int, shape: Shape) -> AxisExpr:
    """Return ``floor(expression / divisor)`` for a positive divisor, simplified by the ranges of the axes."""
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
        return outside + floordiv(coarse, divisor // common, shape)
    inner = [atom for atom, c in rest.terms if isinstance(atom, FloorDiv) and c == 1]
    if len(inner) == 1:
        # floor((x + floor(e / a)) / d) = floor((a*x + e) / (a*d)): one division instead of two.
        whole = (rest - _intern(0, ((inner[0], 1),))) * inner[0].divisor + inner[0].numerator
        return outside + floordiv(whole, inner[0].divisor * divisor, shape)
    return outside + _intern(0, ((FloorDiv(rest, divisor), 1),))


def _split_multiples(expression: AxisExpr, divisor: int) -> tuple[AxisExpr, AxisExpr]:
    """Return (q, r) with ``expression == q * divisor + r``, r without multiples and its number in [0, divisor)."""
    number = expression.constant if isinstance(expression.constant, int) else 0
    symbolic = expression.constant - number
    if isinstance(symbolic, extents.Extent):
        number = dict(symbolic.terms).get((), 0)
        symbolic = symbolic - number
    quotient = extents.divide(symbolic, divisor)
    whole, rest = (0, symbolic) if quotient is None else (quotient, 0)
    outside = tuple((atom, c // divisor) for atom, c in expression.terms if c % divisor == 0)
    inside = tuple((atom, c) for atom, c in expression.terms if c % divisor)
    return _intern(whole + number // divisor, outside), _intern(rest + number % divisor, inside)


def _drop_fine_terms(rest: AxisExpr, divisor: int, shape: Shape) -> tuple[AxisExpr, int]:
    """Return (e, g), g the greatest for which ``floor(rest / divisor) == floor(e / (divisor / g))``.

    With g a divisor of `divisor`, ``rest = g*e + fine``; the fine part does not matter when it stays in [0, g).
    """
    if not isinstance(rest.constant, int):
        return rest, 1
    for common in sorted({math.gcd(c, divisor) for _, c in rest.terms} - {1}, reverse=True):
        fine = _intern(rest.constant % common, tuple(term for term in rest.terms if term[1] % common))
        low, high = bounds(fine, shape)
        if isinstance(low, int) and isinstance(high, int) and low >= 0 and high < common:
            kept = tuple((atom, c // common) for atom, c in rest.terms if c % common == 0)
            return _intern(rest.constant // common, kept), common
    return rest, 1


@functools.lru_cache(maxsize=1 << 15)
def bounds(expression: AxisExpr, shape: Shape) -> tuple[Dim, Dim]:
    """Return a lower and an upper bound over the box of `shape`; of use only where the box is not empty."""
    low = high = expression.constant
    for atom, coefficient in expression.terms:
        least, greatest = _atom_bounds(atom, shape)
        if coefficient < 0:
            least, greatest = greatest, least
        low, high = low + least * coefficient, high + greatest * coefficient
    for rest, span in _remainders(expression, shape):
        rest_low, rest_high = bounds(rest, shape)
        low = _greater(low, rest_low + min(span, 0))
        high = _less(high, rest_high + max(span, 0))
    return low, high


def _atom_bounds(atom: Atom, shape: Shape) -> tuple[Dim, Dim]:
    if isinstance(atom, Axis):
        extent = shape[atom.position]
        return 0, max(extent - 1, 0) if isinstance(extent, int) else extent - 1
    low, high = bounds(atom.numerator, shape)
    return extents.floordiv(low, atom.divisor), extents.floordiv(high, atom.divisor)


def _remainders(expression: AxisExpr, shape: Shape) -> Iterator[tuple[AxisExpr, int]]:
    """Yield (rest, span) for each way to see ``expression = rest + k * (floor(e / a) mod b)``; span is ``k * (b - 1)``.

    For ``-k*b * floor(e / (a*b))`` among the terms, ``floor(e / a)`` is either `e` itself or another division.
    """
    divisors = {atom.divisor for atom, _ in expression.terms if isinstance(atom, FloorDiv)} | {1}
    for atom, coefficient in expression.terms:
        if not isinstance(atom, FloorDiv):
            continue
        for finer in sorted(d for d in divisors if atom.divisor % d == 0 and d < atom.divisor):
            modulus = atom.divisor // finer
            if coefficient % modulus:
                continue
            scale = -coefficient // modulus
            digit = floordiv(atom.numerator, finer, shape) + _intern(0, ((atom, -modulus),))
            rest = expression - digit * scale
            if len(rest.terms) < len(expression.terms):
                yield rest, scale * (modulus - 1)


def _less(old: Dim, new: Dim) -> Dim:
    """Return the smaller of two upper bounds; `new`, a number, where that is not known."""
    return old if extents.is_nonnegative(new - old) else new


def _greater(old: Dim, new: Dim) -> Dim:
    return old if extents.is_nonnegative(old - new) else new


def positions(expression: AxisExpr) -> frozenset[int]:
    """Return the positions of the axes that appear."""
    found: set[int] = set()
    for atom, _ in expression.terms:
        found |= {atom.position} if isinstance(atom, Axis) else positions(atom.numerator)
    return frozenset(found)


def divisions(expression: AxisExpr) -> frozenset[FloorDiv]:
    """Return the distinct floor divisions, nested ones included."""
    found: set[FloorDiv] = set()
    for atom, _ in expression.terms:
        if isinstance(atom, FloorDiv):
            found |= {atom} | divisions(atom.numerator)
    return frozenset(found)


def nesting(expression: AxisExpr) -> int:
    """Return how deep floor divisions stand inside each other (0: there is none)."""
    return max((1 + nesting(atom.numerator) for atom, _ in expression.terms if isinstance(atom, FloorDiv)), default=0)


def text(expression: AxisExpr) -> str:
    """Return the expression as text over `i0`, `i1`, …."""
    parts: list[str] = []
    for atom, coefficient in expression.terms:
        sign, size = ("-" if coefficient < 0 else "+"), abs(coefficient)
        factor = _atom_text(atom) if size == 1 else f"{size}*{_factor(atom)}"
        parts.append(f" {sign} {factor}" if parts else ("-" if sign == "-" else "") + factor)
    if not parts:
        return str(expression.constant)
    if expression.constant == 0:
        return "".join(parts)
    if isinstance(expression.constant, int):
        return f"{''.join(parts)} {'-' if expression.constant < 0 else '+'} {abs(expression.constant)}"
    return f"{''.join(parts)} + {expression.constant}"


def _factor(atom: Atom) -> str:
    return _atom_text(atom) if isinstance(atom, Axis) else f"({_atom_text(atom)})"


def _atom_text(atom: Atom) -> str:
    if isinstance(atom, Axis):
        return f"i{atom.position}"
    numerator = str(atom.numerator)
    return f"{numerator if numerator.isidentifier() else f'({numerator})'} floordiv {atom.divisor}"
