"""What every expression is made of: sums of terms over atoms, and how they are written.

A term is a number times a product of atoms, and an atom a symbol (its name), an axis, or a division of expressions.
The two kinds of expression are `extents.Extent` and `axes.AxisExpr`; nothing here knows which of them it has.
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

_N = TypeVar("_N", bound="Expression", covariant=True)
_D = TypeVar("_D", bound="int | Expression", covariant=True)
_K = TypeVar("_K")


@dataclass(frozen=True)
class Axis:
    """The axis ``i<position>``."""

    position: int

    def __hash__(self) -> int:
        return self.position


@dataclass(frozen=True)
class Division(Generic[_N, _D]):
    """`numerator` and `divisor` of a `FloorDiv` or a `Mod`; a divisor is an int greater than 1, or an extent."""

    numerator: _N
    divisor: _D

    operator: ClassVar[str]

    @functools.cached_property
    def name(self) -> str:
        """The canonical text."""
        return CANONICAL.atom(self)

    @functools.cached_property
    def depth(self) -> int:
        """How deep divisions nest in this one; 1 for none but itself."""
        return 1 + max(each.depth for each in (self.numerator, self.divisor) if isinstance(each, Expression))

    def __hash__(self) -> int:
        return self._hash

    @functools.cached_property
    def _hash(self) -> int:
        return hash((self.numerator, self.divisor))


class FloorDiv(Division[_N, _D]):
    """``numerator floordiv divisor``: rounded down."""

    operator = "floordiv"


class Mod(Division[_N, _D]):
    """``numerator mod divisor``: never negative. Only maps of views have it, as they are written (`index_map`)."""

    operator = "mod"


AnyDivision = Division["Expression", "int | Expression"]
AnyAtom = str | Axis | AnyDivision
AnyMonomial = tuple[AnyAtom, ...]


class Expression:
    """The sum of `monomials` with their coefficients, and of a `rest` of another kind."""

    @property
    def monomials(self) -> Sequence[tuple[AnyMonomial, int]]:
        """The terms in canonical order; no coefficient is 0, and no monomial stands twice."""
        raise NotImplementedError

    @property
    def rest(self) -> "int | Expression":
        """The part that is added to the terms: the constant of an axis expression."""
        return 0

    @functools.cached_property
    def atoms(self) -> tuple[AnyAtom, ...]:
        """The atoms of the terms, each time that one appears; those inside a division stand before it."""
        found: list[AnyAtom] = []
        for monomial, _ in self.monomials:
            for atom in monomial:
                if isinstance(atom, Division):
                    found += atom.numerator.atoms
                    if isinstance(atom.divisor, Expression):
                        found += atom.divisor.atoms
                found.append(atom)
        return tuple(found)

    @functools.cached_property
    def depth(self) -> int:
        """How deep divisions stand inside each other in the terms; 0 where there is none."""
        atoms = (atom for monomial, _ in self.monomials for atom in monomial)
        return max((atom.depth for atom in atoms if isinstance(atom, Division)), default=0)

    @functools.cached_property
    def _text(self) -> str:
        return CANONICAL.text(self)

    def __str__(self) -> str:
        return self._text


def collected(terms: Iterable[tuple[_K, int]], order: Callable[[_K], Any] | None) -> tuple[tuple[_K, int], ...]:
    """Terms with each key once, and the sum of its coefficients, none of them 0: in order, or as they come."""
    totals: dict[_K, int] = {}
    for key, coefficient in terms:
        totals[key] = totals.get(key, 0) + coefficient
    kept = [term for term in totals.items() if term[1]]
    if order is not None and len(kept) > 1:
        kept.sort(key=lambda term: order(term[0]))
    return tuple(kept)


class Notation(NamedTuple):
    """How expressions are written: the canonical text, which the readers read, but for what is said otherwise.

    `divide` writes a division of two texts as a call, `parameter` says which products are one symbol, by their text.
    """

    times: str = "*"
    symbol: Callable[[str], str] = str
    axis: Callable[[int], str] = "i{}".format
    divide: Callable[[str, str], str] | None = None
    parameter: Callable[["AnyMonomial"], str | None] = lambda monomial: None

    def text(self, expression: int | Expression) -> str:
        """An expression as text."""
        if isinstance(expression, int):
            return str(expression)
        text = ""
        for monomial, coefficient in _all_terms(expression):
            size = abs(coefficient)
            # A minus in front of everything binds tighter than a division, where the text is read.
            alone = len(monomial) == 1 and size == 1 and (coefficient > 0 or text != "")
            factors = self._factors(monomial, alone)
            product = self.times.join(factors if size == 1 and factors else [str(size), *factors])
            if text:
                text += f" - {product}" if coefficient < 0 else f" + {product}"
            else:
                text = f"-{product}" if coefficient < 0 else product
        return text or "0"

    def product(self, monomial: AnyMonomial) -> str:
        """A product of atoms as text."""
        return self.times.join(self._factors(monomial, len(monomial) == 1))

    def atom(self, atom: AnyAtom) -> str:
        """An atom as text."""
        if isinstance(atom, str):
            return self.symbol(atom)
        if isinstance(atom, Axis):
            return self.axis(atom.position)
        if self.divide is not None:
            return self.divide(self.text(atom.numerator), self.text(atom.divisor))
        return f"{self._operand(atom.numerator)} {atom.operator} {self._operand(atom.divisor)}"

    def _factors(self, monomial: AnyMonomial, alone: bool) -> list[str]:
        parameter = self.parameter(monomial)
        if parameter is not None:
            return [self.symbol(parameter)]
        bare = alone or self.divide is not None
        return [self.atom(a) if bare or not isinstance(a, Division) else f"({self.atom(a)})" for a in monomial]

    def _operand(self, expression: int | Expression) -> str:
        if isinstance(expression, int):
            return str(expression)
        (monomial, coefficient), *more = _all_terms(expression)
        one = not more and (not monomial or (coefficient == 1 and len(monomial) == 1))
        bare = one and not any(isinstance(atom, Division) for atom in monomial)
        return self.text(expression) if bare else f"({self.text(expression)})"


def _all_terms(expression: Expression) -> Sequence[tuple[AnyMonomial, int]]:
    """The terms of an expression, those of its rest last."""
    rest = expression.rest
    if isinstance(rest, int):
        return (*expression.monomials, ((), rest)) if rest else expression.monomials
    return (*expression.monomials, *_all_terms(rest))


CANONICAL = Notation()


#: The text of a product of atoms.
monomial_text = CANONICAL.product
