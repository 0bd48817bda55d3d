"""Index expressions of a `VIEW`: what operand element a result element reads.

An expression over the result axes ``i0, i1, …`` is a small tree of frozen nodes. It can be read from text, and bounded
over a box; it is never evaluated as code. The tree keeps `mod` as written, so that a negative coefficient can be told
from the one that expanding `mod` would bring in.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tinyc.analysis import extents
from tinyc.analysis.extents import Dim
from tinyc.diagnostics import TinycError

MAX_DIVISIONS = 8
_MAX_NESTING = 32
_MAX_TEXT = 2000
_MAX_TOKENS = 400  # an expression is a tree as deep as it is long, and it is walked recursively


@dataclass(frozen=True)
class Axis:
    """The result axis ``i<position>``."""

    position: int


@dataclass(frozen=True)
class Sum:
    """``left + right``."""

    left: "Index"
    right: "Index"


@dataclass(frozen=True)
class Scaled:
    """``operand * factor``."""

    operand: "Index"
    factor: int


@dataclass(frozen=True)
class Quotient:
    """``operand floordiv divisor``, divisor positive."""

    operand: "Index"
    divisor: int


@dataclass(frozen=True)
class Remainder:
    """``operand mod divisor``, divisor positive; not negative."""

    operand: "Index"
    divisor: int


Index = int | Axis | Sum | Scaled | Quotient | Remainder


def children(index: Index) -> tuple[Index, ...]:
    """Return the direct sub-expressions."""
    if isinstance(index, Sum):
        return (index.left, index.right)
    return (index.operand,) if isinstance(index, Scaled | Quotient | Remainder) else ()


def count_divisions(index: Index) -> int:
    """Count the `floordiv` and `mod` nodes."""
    return isinstance(index, Quotient | Remainder) + sum(count_divisions(child) for child in children(index))


def axes(index: Index) -> set[int]:
    """Return the positions of the axes that appear."""
    found = {index.position} if isinstance(index, Axis) else set()
    return found.union(*(axes(child) for child in children(index)))


def require_nonnegative_strides(index: Index) -> None:
    """Raise `NegativeStride` where an axis has a negative coefficient (a constant may be negative).

    A parsed expression has one term for each axis or division of a sum: the coefficients are the net ones.
    """
    if isinstance(index, Scaled) and index.factor < 0 and axes(index.operand):
        raise TinycError(
            "NegativeStride",
            f"index_map expression {text(index)!r} runs an axis backwards (coefficient {index.factor}); "
            "write FLIP on that axis and keep the coefficients of VIEW positive",
        )
    for child in children(index):
        require_nonnegative_strides(child)


def bounds(index: Index, shape: Sequence[Dim]) -> tuple[Dim, Dim]:
    """Return the least and greatest value over the non-empty box ``0 <= i_k < shape[k]``.

    The greatest value is exact where there is no `mod`, and an upper bound otherwise; coefficients are not negative.
    """
    if isinstance(index, int):
        return index, index
    if isinstance(index, Axis):
        return 0, shape[index.position] - 1
    if isinstance(index, Sum):
        (left_low, left_high), (right_low, right_high) = bounds(index.left, shape), bounds(index.right, shape)
        return left_low + right_low, left_high + right_high
    low, high = bounds(index.operand, shape)
    if isinstance(index, Scaled):
        return (low * index.factor, high * index.factor)[:: 1 if index.factor >= 0 else -1]  # type: ignore[return-value]
    if isinstance(index, Quotient):
        return extents.floordiv(low, index.divisor), extents.floordiv(high, index.divisor)
    if isinstance(low, int) and isinstance(high, int) and low // index.divisor == high // index.divisor:
        return low % index.divisor, high % index.divisor
    return 0, index.divisor - 1


def text(index: Index, axis_names: Sequence[str] | None = None) -> str:
    """Return the expression as text that `parse` and isl read."""
    if isinstance(index, int):
        return str(index)
    if isinstance(index, Axis):
        return axis_names[index.position] if axis_names else f"i{index.position}"
    if isinstance(index, Sum):
        return f"{text(index.left, axis_names)} + {text(index.right, axis_names)}"
    inner = text(index.operand, axis_names)
    inner = inner if isinstance(index.operand, int | Axis) else f"({inner})"
    if isinstance(index, Scaled):
        return f"{inner} * {index.factor}"
    return f"{inner} {'floordiv' if isinstance(index, Quotient) else 'mod'} {index.divisor}"


def parse(source: str, rank: int) -> Index:
    """Read an index expression over the axes ``i0 … i<rank-1>``.

    Raises:
        TinycError: `InvalidAttribute`, with the offending token, for anything that is not such an expression.
    """
    if len(source) > _MAX_TEXT:
        raise TinycError("InvalidAttribute", f"index_map expression of {len(source)} characters (limit {_MAX_TEXT})")
    return _Parser(source, rank).index()


_TOKEN = re.compile(r"\s*(?:(\d+)|(i\d+)(?!\w)|(floordiv|mod)(?!\w)|(//|[-+*%()]))")


class _Parser:
    """Recursive descent; ``*``, ``floordiv`` and ``mod`` bind alike, left to right."""

    def __init__(self, source: str, rank: int) -> None:
        self.source, self.rank, self.depth = source, rank, 0
        self.tokens: list[str] = []
        position = 0
        while source[position:].strip():
            match = _TOKEN.match(source, position)
            if match is None:
                raise self._error(f"unexpected {source[position:].strip()[:20]!r}")
            self.tokens.append(match.group().strip())
            position = match.end()
        if len(self.tokens) > _MAX_TOKENS:
            raise self._error(f"{len(self.tokens)} tokens are too many (limit {_MAX_TOKENS})")

    def _error(self, why: str) -> TinycError:
        return TinycError(
            "InvalidAttribute",
            f"cannot read the index_map expression {self.source[:60]!r}: {why}; it may have integers, the axes "
            f"i0 … i{self.rank - 1}, + - * ( ), floordiv or //, mod or %",
        )

    def index(self) -> Index:
        value = self._sum()
        if self.tokens:
            raise self._error(f"unexpected {self.tokens[0]!r}")
        return value

    def _accept(self, *tokens: str) -> str | None:
        return self.tokens.pop(0) if self.tokens and self.tokens[0] in tokens else None

    def _sum(self) -> Index:
        value = self._product()
        while operator := self._accept("+", "-"):
            operand = self._product()
            value = add(value, operand if operator == "+" else scale(operand, -1))
        return collected(value)

    def _product(self) -> Index:
        value = self._factor()
        while operator := self._accept("*", "floordiv", "//", "mod", "%"):
            value = self._combine(operator, value, self._factor())
        return value

    def _combine(self, operator: str, left: Index, right: Index) -> Index:
        if operator == "*":
            if isinstance(right, int):
                return scale(left, right)
            if isinstance(left, int):
                return scale(right, left)
            raise self._error("a product of axes is not affine")
        if not isinstance(right, int) or right <= 0:
            raise self._error(f"the divisor of '{operator}' must be a positive integer")
        if isinstance(left, int):
            return left // right if operator in ("floordiv", "//") else left % right
        left = collected(left)
        return Quotient(left, right) if operator in ("floordiv", "//") else Remainder(left, right)

    def _factor(self) -> Index:
        sign = 1
        while self._accept("-"):
            sign = -sign
        return scale(self._primary(), sign)

    def _primary(self) -> Index:
        if self._accept("("):
            self.depth += 1
            if self.depth > _MAX_NESTING:
                raise self._error(f"more than {_MAX_NESTING} nested brackets")
            value = self._sum()
            self.depth -= 1
            if not self._accept(")"):
                raise self._error("a closing bracket is missing")
            return value
        token = self.tokens.pop(0) if self.tokens else ""
        if token.isdigit():
            return int(token)
        if token.startswith("i") and token[1:].isdigit():
            if int(token[1:]) >= self.rank:
                raise self._error(f"there is no result axis {token}; the result has rank {self.rank}")
            return Axis(int(token[1:]))
        raise self._error(f"unexpected {token!r}" if token else "unexpected end")


def add(left: Index, right: Index) -> Index:
    """Return ``left + right``, constants folded."""
    if isinstance(left, int) and isinstance(right, int):
        return left + right
    return left if right == 0 else right if left == 0 else Sum(left, right)


def collected(index: Index) -> Index:
    """Return the sum with one term for each axis, each division and the constant: ``2*i0 - i0`` is ``i0``."""
    total: Index = 0
    for term, factor in _terms(index, 1, {}).items():
        total = add(total, scale(term, factor))
    return total


def _terms(index: Index, factor: int, terms: dict[Index, int]) -> dict[Index, int]:
    """Add the coefficients of ``index * factor`` to `terms`; that of 1 is the constant."""
    if isinstance(index, Sum):
        return _terms(index.right, factor, _terms(index.left, factor, terms))
    if isinstance(index, Scaled):
        return _terms(index.operand, factor * index.factor, terms)
    term, times = (1, index * factor) if isinstance(index, int) else (index, factor)
    terms[term] = terms.get(term, 0) + times
    return terms


def scale(index: Index, factor: int) -> Index:
    """Return ``index * factor``, constants folded."""
    if isinstance(index, int):
        return index * factor
    if factor in (0, 1):
        return index if factor else 0
    if isinstance(index, Scaled):
        return scale(index.operand, index.factor * factor)
    return Scaled(index, factor)
