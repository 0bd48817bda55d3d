"""Reads the sets and maps that `Statement` writes in isl's notation back as data: the inverse of its texts.

In: `[M] -> { Y[m] -> X[floor(m/2)] : 0 <= m - 1 < M }`. Out: parameters, tuples, rows as axis expressions exactly as
they are written, guards, and the floor divisions that appear. Names, spaces, brackets and the order of terms are free;
a relation that is said by equations or `exists`, which isl reads, is not of this notation.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tinyc.analysis.isl.statement import remainders
from tinyc.expr import axes, extents
from tinyc.expr.axes import Axis, AxisExpr
from tinyc.expr.extents import Dim
from tinyc.expr.grammar import Grammar

_MAX_TEXT = 20_000
_MAX_DIGITS = 40


class NotReadable(ValueError):
    """A text that is not of the notation; the message says where it is not."""


@dataclass(frozen=True)
class Bound:
    """The condition ``0 <= expression < size``."""

    expression: AxisExpr
    size: AxisExpr


@dataclass(frozen=True)
class Relation:
    """A set of instances, or a map from instances to the elements of `tensor`; `floors` are as `remainders` gives them.

    `axes` are the names of the instance's axes, which the expressions speak of by position.
    """

    parameters: tuple[str, ...]
    name: str
    axes: tuple[str, ...]
    tensor: str | None
    index: tuple[AxisExpr, ...]
    bounds: tuple[Bound, ...]
    floors: Mapping[AxisExpr, int]


def read_relation(text: str, extents_of: Mapping[str, Dim]) -> Relation:
    """Read a set or map; `extents_of` says what parameters stand for that are not called like their extents.

    Raises:
        NotReadable: the text is not of this notation.
    """
    if len(text) > _MAX_TEXT:
        raise NotReadable(f"it has {len(text)} characters (limit {_MAX_TEXT})")
    return _Reader(text, extents_of).relation()


class _Reader(Grammar[AxisExpr]):
    """Sets and maps around the sums of products that they consist of."""

    TOKEN = re.compile(r"\s*(?:(?P<number>\d+)|(?P<name>[A-Za-z_]\w*)|(?P<sign>->|<=|>=|[-+*/%()\[\]{},:<>=]))")
    MAX_NESTING = 50

    def __init__(self, text: str, extents_of: Mapping[str, Dim]) -> None:
        super().__init__(text)
        self._extents_of = extents_of
        self._names: dict[str, AxisExpr] = {}
        self._symbolic: list[AxisExpr] = []

    def relation(self) -> Relation:
        parameters = self._names_in_brackets() if self.token == "[" else ()
        self.accept("->")
        self._names = {name: axes.constant(self._extent(name)) for name in parameters}
        self.expect("{")
        name, instance = self._name(), self._names_in_brackets()
        self._names |= {each: axes.term(Axis(k)) for k, each in enumerate(instance)}
        if len(self._names) < len(parameters) + len(instance):
            raise NotReadable("a name stands for two things")
        tensor, index = (self._name(), self._row()) if self.accept("->") else (None, ())
        bounds = self._bounds() if self.accept(":") else ()
        self.expect("}")
        if self.token:
            raise NotReadable(f"unexpected {self.token!r} behind the set")
        rows = [*index, *(each for bound in bounds for each in (bound.expression, bound.size))]
        return Relation(parameters, name, instance, tensor, index, bounds, remainders([*rows, *self._symbolic]))

    def _name(self) -> str:
        if not self.token.isidentifier():
            raise NotReadable(f"{self.token!r} is not a name")
        return self.take()

    def _names_in_brackets(self) -> tuple[str, ...]:
        found: list[str] = []
        self.expect("[")
        while not self.accept("]"):
            if found:
                self.expect(",")
            found.append(self._name())
        return tuple(found)

    def _extent(self, name: str) -> Dim:
        return self._extents_of[name] if name in self._extents_of else extents.symbol(name)

    def _row(self) -> tuple[AxisExpr, ...]:
        rows: list[AxisExpr] = []
        self.expect("[")
        while not self.accept("]"):
            if rows:
                self.expect(",")
            rows.append(self.sum())
        return tuple(rows)

    def _bounds(self) -> tuple[Bound, ...]:
        bounds = [self._bound()]
        while self.accept("and"):
            bounds.append(self._bound())
        return tuple(bounds)

    def _bound(self) -> Bound:
        low = self.sum()
        self.expect("<=")
        expression = self.sum()
        self.expect("<")
        if low != axes.constant(0):
            raise NotReadable("a condition must be 0 <= e < size")
        return Bound(expression, self.sum())

    # --- expressions --------------------------------------------------------------------------------------------------

    def error(self, why: str) -> NotReadable:
        return NotReadable(why)

    def combined(self, operator: str, left: AxisExpr, right: AxisExpr) -> AxisExpr:
        if operator in ("+", "-"):
            return left + right if operator == "+" else left - right
        number, value = (left, right) if not left.terms else (right, left)
        if number.terms or not isinstance(number.constant, int):
            raise NotReadable("a product of two names is not affine")
        return value * number.constant

    def number(self, digits: str) -> AxisExpr:
        if len(digits) > _MAX_DIGITS:
            raise NotReadable(f"a number of {len(digits)} digits (limit {_MAX_DIGITS})")
        return axes.constant(int(digits))

    def leaf(self) -> AxisExpr:
        if self.token == "floor":
            return self._floor()
        name = self._name()
        if self.token == "mod" or name == "mod":
            raise NotReadable("'mod' is not expanded; write e - d*floor(e/d), and its guard in the domain")
        if name not in self._names:
            raise NotReadable(f"there is no axis or parameter {name!r}")
        return self._names[name]

    def _floor(self) -> AxisExpr:
        self.take()
        self.expect("(")
        numerator = self.inner()
        self.expect("/")
        divisor = self.inner()
        self.expect(")")
        if divisor.terms or not isinstance(divisor.constant, int) or divisor.constant < 2:
            raise NotReadable("a floor division must be by a number greater than 1")
        quotient = axes.plain_floordiv(numerator, divisor.constant)
        if not isinstance(quotient.constant, int):
            self._symbolic.append(quotient)
        return quotient
