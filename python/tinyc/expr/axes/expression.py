"""Axis expressions as data: sums of a constant, axes and floor divisions, hash-consed.

Building, adding and scaling is here, and reading off what an expression consists of; what needs the ranges of the axes
is `simplification`.
"""

import functools
from dataclasses import dataclass
from typing import cast

from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.expr.terms import Axis, Expression, FloorDiv, Mod, collected

Shape = tuple[Dim, ...]


@dataclass(frozen=True)
class AxisExpr(Expression):
    """``constant`` plus the sum of ``coefficient * atom`` over `terms`, which are in canonical order."""

    constant: Dim
    terms: "tuple[tuple[Atom, int], ...]" = ()

    @property
    def monomials(self) -> "tuple[tuple[tuple[Atom], int], ...]":
        """The terms, each of one atom."""
        return self._monomials

    @functools.cached_property
    def _monomials(self) -> "tuple[tuple[tuple[Atom], int], ...]":
        return tuple([((atom,), coefficient) for atom, coefficient in self.terms])

    @functools.cached_property
    def positions(self) -> frozenset[int]:
        """The positions of the axes that appear."""
        return frozenset([atom.position for atom in self.atoms if isinstance(atom, Axis)])

    @functools.cached_property
    def divisions(self) -> "frozenset[Floor]":
        """The distinct floor divisions, nested ones included."""
        found = frozenset([atom for atom in self.atoms if isinstance(atom, FloorDiv)])
        return cast("frozenset[Floor]", found)  # atoms of an axis expression are over axes

    @property
    def rest(self) -> Dim:
        """The constant."""
        return self.constant

    def __add__(self, other: "AxisExpr | Dim") -> "AxisExpr":
        if not isinstance(other, AxisExpr):
            return interned(self.constant + other, self.terms)
        return interned(self.constant + other.constant, collected((*self.terms, *other.terms), _order))

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


Floor = FloorDiv[AxisExpr, int]
Atom = Axis | Floor | Mod[AxisExpr, int]
Index = tuple[AxisExpr, ...]


@functools.lru_cache(maxsize=1 << 16)
def interned(value: Dim, terms: tuple[tuple[Atom, int], ...]) -> AxisExpr:
    """The one expression that is `value` plus `terms`, which must be in canonical order."""
    return AxisExpr(value, terms)


def _order(atom: Atom) -> tuple[int, int, str, str]:
    """Order axes by position, then divisions by divisor and text."""
    if isinstance(atom, Axis):
        return (0, atom.position, "", "")
    return (1, atom.divisor, str(atom.numerator), atom.operator)


def constant(value: Dim) -> AxisExpr:
    """The expression that is `value` everywhere."""
    return interned(value, ())


def term(atom: Atom, coefficient: int = 1) -> AxisExpr:
    """``coefficient * atom``, whatever the extents of axes are; the coefficient is not 0."""
    return interned(0, ((atom, coefficient),))


def axis(position: int, shape: Shape) -> AxisExpr:
    """The axis at `position` of `shape`; 0 where its extent is 1."""
    return constant(0) if shape[position] == 1 else term(Axis(position))


@functools.lru_cache(maxsize=4096)
def identity(shape: Shape) -> Index:
    """Every axis of `shape`: how a value reads itself."""
    return tuple(axis(position, shape) for position in range(len(shape)))


def plain_sum(left: AxisExpr, right: AxisExpr) -> AxisExpr:
    """``left + right`` as it is written, its terms in the order in which they appear."""
    return interned(left.constant + right.constant, collected((*left.terms, *right.terms), None))


def plain_floordiv(expression: AxisExpr, divisor: int) -> AxisExpr:
    """``expression floordiv divisor`` as it is written: no range of an axis simplifies it."""
    if not expression.terms:
        return constant(extents.floordiv(expression.constant, divisor))
    return expression if divisor == 1 else term(FloorDiv(expression, divisor))


def plain_mod(expression: AxisExpr, divisor: int) -> AxisExpr:
    """``expression mod divisor`` as it is written, not expanded."""
    if divisor == 1 or not expression.terms:
        return expression - plain_floordiv(expression, divisor) * divisor
    return term(Mod(expression, divisor))


def plain_axis(expression: AxisExpr) -> int | None:
    """The position of the axis that an expression is, or None for what is not just an axis."""
    if expression.constant != 0 or len(expression.terms) != 1:
        return None
    ((atom, coefficient),) = expression.terms
    return atom.position if isinstance(atom, Axis) and coefficient == 1 else None


def positions(expression: AxisExpr) -> frozenset[int]:
    """The positions of the axes that appear."""
    return expression.positions


def divisions(expression: AxisExpr) -> frozenset[Floor]:
    """The distinct floor divisions, nested ones included."""
    return expression.divisions


def nesting(expression: AxisExpr) -> int:
    """How deep floor divisions stand inside each other (0: there is none)."""
    return expression.depth
