"""What expressions mean: one walk over their terms, by what a constant, a symbol, an axis and a division mean.

Numbers, arrays, other expressions, code, MLIR's and isl's affine functions are each an `Interpretation`.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from tinyc.expr.terms import AnyAtom, AnyDivision, AnyMonomial, Axis, Expression

_T = TypeVar("_T")


def absent(part: Any) -> Any:
    """The meaning of what an interpretation has none for."""
    raise NotImplementedError(f"{part} has no meaning here")


def _sum(left: Any, right: Any) -> Any:
    return left + right


def _product(left: Any, right: Any) -> Any:
    return left * right


@dataclass
class Interpretation(Generic[_T]):
    """The meaning of expressions in values of one type; `divide` is given the values of the numerator and the divisor.

    `extent` takes an extent as a whole, `parameter` says which products count as a symbol, and by which text. With
    `once` a division is given the value that it got when it was first met.
    """

    constant: Callable[[int], _T]
    divide: Callable[[AnyDivision, _T, _T], _T]
    symbol: Callable[[str], _T] = absent
    axis: Callable[[int], _T] = absent
    add: Callable[[_T, _T], _T] = _sum
    multiply: Callable[[_T, _T], _T] = _product
    extent: Callable[[Any], _T] | None = None
    parameter: Callable[[AnyMonomial], str | None] = lambda monomial: None
    once: bool = True
    _quotients: dict[AnyDivision, _T] = field(default_factory=dict[AnyDivision, _T])

    def of(self, expression: int | Expression) -> _T:
        """The value of an expression: of its terms from left to right, then of its rest."""
        if isinstance(expression, int):
            return self.constant(expression)
        total: _T | None = None
        for monomial, coefficient in expression.monomials:
            term = self._term(monomial, coefficient)
            total = term if total is None else self.add(total, term)
        rest = expression.rest
        if total is not None and rest == 0:
            return total
        value = self.extent(rest) if self.extent is not None else self.of(rest)
        return value if total is None else self.add(total, value)

    def _term(self, monomial: AnyMonomial, coefficient: int) -> _T:
        parameter = self.parameter(monomial)
        factors = [self._atom(atom) for atom in monomial] if parameter is None else [self.symbol(parameter)]
        if coefficient != 1 or not factors:
            factors.append(self.of(coefficient))
        return functools.reduce(self.multiply, factors)

    def _atom(self, atom: AnyAtom) -> _T:
        if isinstance(atom, str):
            return self.symbol(atom)
        if isinstance(atom, Axis):
            return self.axis(atom.position)
        if not self.once:
            return self.divide(atom, self.of(atom.numerator), self.of(atom.divisor))
        if atom not in self._quotients:
            self._quotients[atom] = self.divide(atom, self.of(atom.numerator), self.of(atom.divisor))
        return self._quotients[atom]
