"""Axis expressions as data: sums of a constant, axes and floor divisions, hash-consed.

Building, adding and scaling is here, and reading off what an expression consists of; what needs the ranges of the axes
is `simplification`.
"""

import functools
from collections.abc import Iterable
from dataclasses import dataclass

from tinyc.analysis.extents import Dim

Shape = tuple[Dim, ...]
Index = tuple["AxisExpr", ...]


@dataclass(frozen=True)
class Axis:
    """The axis ``i<position>``."""

    position: int

    def __hash__(self) -> int:
        return self.position


@dataclass(frozen=True)
class FloorDiv:
    """``numerator floordiv divisor``; the divisor is greater than 1."""

    numerator: "AxisExpr"
    divisor: int

    def __hash__(self) -> int:
        return self._hash

    @functools.cached_property
    def _hash(self) -> int:
        return hash((self.numerator, self.divisor))


Atom = Axis | FloorDiv


@dataclass(frozen=True)
class AxisExpr:
    """``constant`` plus the sum of ``coefficient * atom`` over `terms`, which are in canonical order."""

    constant: Dim
    terms: tuple[tuple[Atom, int], ...] = ()

    def __add__(self, other: "AxisExpr | Dim") -> "AxisExpr":
        if not isinstance(other, AxisExpr):
            return interned(self.constant + other, self.terms)
        return _from_terms(self.constant + other.constant, (*self.terms, *other.terms))

    def __sub__(self, other: "AxisExpr | Dim") -> "AxisExpr":
        return self + other * -1

    def __mul__(self, factor: int) -> "AxisExpr":
        if factor == 0:
            return constant(0)
        return interned(self.constant * factor, tuple((atom, c * factor) for atom, c in self.terms))

    def __hash__(self) -> int:
        return self._hash

    @functools.cached_property
    def _hash(self) -> int:
        return hash((self.constant, self.terms))

    @functools.cached_property
    def _text(self) -> str:
        parts: list[str] = []
        for atom, coefficient in self.terms:
            sign, size = ("-" if coefficient < 0 else "+"), abs(coefficient)
            factor = _factor(atom) if size > 1 or (sign == "-" and not parts) else _atom_text(atom)
            factor = factor if size == 1 else f"{size}*{factor}"
            parts.append(f" {sign} {factor}" if parts else ("-" if sign == "-" else "") + factor)
        if not parts:
            return str(self.constant)
        if self.constant == 0:
            return "".join(parts)
        if isinstance(self.constant, int):
            return f"{''.join(parts)} {'-' if self.constant < 0 else '+'} {abs(self.constant)}"
        return f"{''.join(parts)} + {self.constant}"

    def __str__(self) -> str:
        """Return the expression as text over `i0`, `i1`, …."""
        return self._text


@functools.lru_cache(maxsize=1 << 16)
def interned(value: Dim, terms: tuple[tuple[Atom, int], ...]) -> AxisExpr:
    """Return the one expression that is `value` plus `terms`, which must be in canonical order."""
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
    return interned(value, tuple(kept))


def constant(value: Dim) -> AxisExpr:
    """Return the expression that is `value` everywhere."""
    return interned(value, ())


def term(atom: Atom, coefficient: int = 1) -> AxisExpr:
    """Return ``coefficient * atom``, whatever the extents of axes are; the coefficient is not 0."""
    return interned(0, ((atom, coefficient),))


def axis(position: int, shape: Shape) -> AxisExpr:
    """Return the axis at `position` of `shape`; 0 where its extent is 1."""
    return constant(0) if shape[position] == 1 else term(Axis(position))


@functools.lru_cache(maxsize=4096)
def identity(shape: Shape) -> Index:
    """Return every axis of `shape`: how a value reads itself."""
    return tuple(axis(position, shape) for position in range(len(shape)))


def plain_axis(expression: AxisExpr) -> int | None:
    """Return the position of the axis that an expression is, or None for what is not just an axis."""
    if expression.constant != 0 or len(expression.terms) != 1:
        return None
    ((atom, coefficient),) = expression.terms
    return atom.position if isinstance(atom, Axis) and coefficient == 1 else None


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


def _factor(atom: Atom) -> str:
    return _atom_text(atom) if isinstance(atom, Axis) else f"({_atom_text(atom)})"


def _atom_text(atom: Atom) -> str:
    if isinstance(atom, Axis):
        return f"i{atom.position}"
    numerator = str(atom.numerator)
    return f"{numerator if numerator.isidentifier() else f'({numerator})'} floordiv {atom.divisor}"
