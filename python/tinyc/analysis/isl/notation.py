"""Reads the sets and maps that `Statement` writes in isl's notation back as data: the inverse of its texts.

In: `[M] -> { Y[m] -> X[floor(m/2)] : 0 <= m - 1 < M }`. Out: parameters, tuples, rows as axis expressions exactly as
they are written, guards, and the floor divisions that appear. Names, spaces, brackets and the order of terms are free;
a relation that is said by equations or `exists`, which isl reads, is none of this notation.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from tinyc.analysis import axes, extents
from tinyc.analysis.axes import Axis, AxisExpr, FloorDiv
from tinyc.analysis.extents import Dim, Extent
from tinyc.analysis.isl.statement import remainders

_TOKEN = re.compile(r"\s*(?:(?P<number>\d+)|(?P<name>[A-Za-z_]\w*)|(?P<sign>->|<=|>=|[-+*/%()\[\]{},:<>=]))")
_MAX_TEXT = 20_000
_MAX_DEPTH = 50
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
    floors: Mapping[AxisExpr, int] = field(default_factory=dict)


def read(text: str, extents_of: Mapping[str, Dim]) -> Relation:
    """Read a set or map; `extents_of` says what parameters stand for that are not called like their extents.

    Raises:
        NotReadable: the text is not of this notation.
    """
    if len(text) > _MAX_TEXT:
        raise NotReadable(f"it has {len(text)} characters (limit {_MAX_TEXT})")
    return _Reader(text, extents_of).relation()


class _Reader:
    """Recursive descent; sums of products of numbers, names, floors and brackets."""

    def __init__(self, text: str, extents_of: Mapping[str, Dim]) -> None:
        self._tokens: list[str] = []
        position = 0
        while text[position:].strip():
            match = _TOKEN.match(text, position)
            if match is None:
                raise NotReadable(f"unexpected {text[position:].strip()[:20]!r}")
            if len(match["number"] or "") > _MAX_DIGITS:
                raise NotReadable(f"a number of {len(match['number'])} digits (limit {_MAX_DIGITS})")
            self._tokens.append(match.group().strip())
            position = match.end()
        self._tokens.reverse()
        self._extents_of, self._depth = extents_of, 0
        self._names: dict[str, AxisExpr] = {}
        self._symbolic: list[AxisExpr] = []

    def relation(self) -> Relation:
        parameters = self._names_in_brackets() if self._next() == "[" else ()
        if self._tokens and self._next() == "->":
            self._take("->")
        self._names = {name: axes.constant(self._extent(name)) for name in parameters}
        self._take("{")
        name, instance = self._name(), self._names_in_brackets()
        self._names |= {each: axes.term(Axis(k)) for k, each in enumerate(instance)}
        if len(self._names) < len(parameters) + len(instance):
            raise NotReadable("a name stands for two things")
        tensor, index = (self._name(), self._row()) if self._accept("->") else (None, ())
        bounds = self._bounds() if self._accept(":") else ()
        self._take("}")
        if self._tokens:
            raise NotReadable(f"unexpected {self._next()!r} behind the set")
        rows = [*index, *(each for bound in bounds for each in (bound.expression, bound.size))]
        return Relation(parameters, name, instance, tensor, index, bounds, remainders([*rows, *self._symbolic]))

    def _next(self) -> str:
        return self._tokens[-1] if self._tokens else ""

    def _accept(self, token: str) -> bool:
        if self._next() == token:
            self._tokens.pop()
            return True
        return False

    def _take(self, token: str) -> None:
        if not self._accept(token):
            raise NotReadable(f"{token!r} is missing" + (f" before {self._next()!r}" if self._tokens else ""))

    def _name(self) -> str:
        if not self._next().isidentifier():
            raise NotReadable(f"{self._next()!r} is no name")
        return self._tokens.pop()

    def _names_in_brackets(self) -> tuple[str, ...]:
        found: list[str] = []
        self._take("[")
        while not self._accept("]"):
            if found:
                self._take(",")
            found.append(self._name())
        return tuple(found)

    def _extent(self, name: str) -> Dim:
        return self._extents_of[name] if name in self._extents_of else extents.symbol(name)

    def _row(self) -> tuple[AxisExpr, ...]:
        rows: list[AxisExpr] = []
        self._take("[")
        while not self._accept("]"):
            if rows:
                self._take(",")
            rows.append(self._sum())
        return tuple(rows)

    def _bounds(self) -> tuple[Bound, ...]:
        bounds = [self._bound()]
        while self._accept("and"):
            bounds.append(self._bound())
        return tuple(bounds)

    def _bound(self) -> Bound:
        low = self._sum()
        self._take("<=")
        expression = self._sum()
        self._take("<")
        if low != axes.constant(0):
            raise NotReadable("a condition must be 0 <= e < size")
        return Bound(expression, self._sum())

    def _sum(self) -> AxisExpr:
        sign = -1 if self._accept("-") else 1
        value = self._product() * sign
        while self._next() in ("+", "-"):
            sign = -1 if self._tokens.pop() == "-" else 1
            value = value + self._product() * sign
        return value

    def _product(self) -> AxisExpr:
        value = self._factor()
        while self._accept("*"):
            other = self._factor()
            number, value = (value, other) if not value.terms else (other, value)
            if number.terms or not isinstance(number.constant, int):
                raise NotReadable("a product of two names is not affine")
            value = value * number.constant
        return value

    def _factor(self) -> AxisExpr:
        token = self._next()
        if token.isdigit():
            return axes.constant(int(self._tokens.pop()))
        if token == "floor":
            return self._floor()
        if self._accept("("):
            value = self._nested()
            self._take(")")
            return value
        name = self._name()
        if self._next() == "mod" or name == "mod":
            raise NotReadable("'mod' is not expanded; write e - d*floor(e/d), and its guard in the domain")
        if name not in self._names:
            raise NotReadable(f"there is no axis or parameter {name!r}")
        return self._names[name]

    def _nested(self) -> AxisExpr:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise NotReadable(f"more than {_MAX_DEPTH} nested brackets")
        value = self._sum()
        self._depth -= 1
        return value

    def _floor(self) -> AxisExpr:
        self._take("floor")
        self._take("(")
        numerator = self._nested()
        self._take("/")
        divisor = self._nested()
        self._take(")")
        if divisor.terms or not isinstance(divisor.constant, int) or divisor.constant < 2:
            raise NotReadable("a floor division must be by a number greater than 1")
        if numerator.terms:
            return axes.term(FloorDiv(numerator, divisor.constant))
        quotient = extents.floordiv(numerator.constant, divisor.constant)
        if isinstance(quotient, Extent):
            self._symbolic.append(axes.constant(quotient))
        return axes.constant(quotient)
