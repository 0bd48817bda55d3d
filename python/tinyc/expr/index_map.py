"""Maps of a `VIEW` as they are written: what operand element a result element reads.

Each row is an axis expression over the result axes ``i0, i1, …`` that no range has simplified, that keeps `mod` (so a
negative coefficient can be told from the one that expanding `mod` would bring in) and the order of its terms: it is
built by the functions of `axes` that are called plain. `axes.substitute_axes` makes of it what the analyses work with.
"""

import re

from tinyc.diagnostics import TinycError
from tinyc.expr import axes
from tinyc.expr.axes import AxisExpr
from tinyc.expr.grammar import Grammar
from tinyc.expr.terms import Axis, Division

MAX_VIEW_DIVISIONS = 8
_MAX_TEXT = 2000
_MAX_TOKENS = 400  # an expression may be as deep as it is long, and it is walked recursively


def count_divisions(index: AxisExpr) -> int:
    """Count the `floordiv` and `mod`, each time that one appears."""
    return sum(isinstance(atom, Division) for atom in index.atoms)


def require_nonnegative_strides(index: AxisExpr) -> None:
    """Raise `NegativeStride` where an axis has a negative coefficient (a constant may be negative)."""
    for atom, coefficient in index.terms:
        if coefficient < 0:
            raise TinycError(
                "NegativeStride",
                f"index_map expression '{axes.term(atom, coefficient)}' runs an axis backwards (coefficient "
                f"{coefficient}); write FLIP on that axis and keep the coefficients of VIEW positive",
            )
        if isinstance(atom, Division):
            require_nonnegative_strides(atom.numerator)


def parse_row(source: str, rank: int) -> AxisExpr:
    """Read an index expression over the axes ``i0 … i<rank-1>``.

    Raises:
        TinycError: `InvalidAttribute`, with the offending token, for anything that is not such an expression.
    """
    if len(source) > _MAX_TEXT:
        raise TinycError("InvalidAttribute", f"index_map expression of {len(source)} characters (limit {_MAX_TEXT})")
    return _Reader(source, rank).index()


class _Reader(Grammar[AxisExpr]):
    TOKEN = re.compile(r"\s*(?:(\d+)|(i\d+)(?!\w)|(floordiv|mod)(?!\w)|(//|[-+*%()]))")
    OPERATORS = ("*", "floordiv", "//", "mod", "%")
    MAX_NESTING = 32

    def __init__(self, source: str, rank: int) -> None:
        self.rank = rank
        super().__init__(source)
        if len(self.tokens) > _MAX_TOKENS:
            raise self.error(f"{len(self.tokens)} tokens are too many (limit {_MAX_TOKENS})")

    def error(self, why: str) -> TinycError:
        return TinycError(
            "InvalidAttribute",
            f"cannot read the index_map expression {self.source[:60]!r}: {why}; it may have integers, the axes "
            f"i0 … i{self.rank - 1}, + - * ( ), floordiv or //, mod or %",
        )

    def missing(self, token: str) -> TinycError:
        return self.error("a closing bracket is missing")

    def index(self) -> AxisExpr:
        value = self.sum()
        if self.token:
            raise self.error(f"unexpected {self.token!r}")
        return value

    def combined(self, operator: str, left: AxisExpr, right: AxisExpr) -> AxisExpr:
        if operator in ("+", "-"):
            return axes.plain_sum(left, right if operator == "+" else right * -1)
        if operator == "*":
            factor, other = (right, left) if not right.terms else (left, right)
            if factor.terms:
                raise self.error("a product of axes is not affine")
            return other * _number(factor)
        if right.terms or _number(right) <= 0:
            raise self.error(f"the divisor of '{operator}' must be a positive integer")
        divide = axes.plain_floordiv if operator in ("floordiv", "//") else axes.plain_mod
        return divide(left, _number(right))

    def number(self, digits: str) -> AxisExpr:
        return axes.constant(int(digits))

    def leaf(self) -> AxisExpr:
        token = self.take()
        if token.startswith("i"):
            if int(token[1:]) >= self.rank:
                raise self.error(f"there is no result axis {token}; the result has rank {self.rank}")
            return axes.term(Axis(int(token[1:])))
        raise self.error(f"unexpected {token!r}" if token else "unexpected end")


def _number(index: AxisExpr) -> int:
    assert isinstance(index.constant, int)  # an index map has no symbols
    return index.constant
