"""Axis expressions as MLIR affine expressions, maps and sets, and back.

`d<k>` is the axis `i<k>` and `s<k>` the k-th of `symbols`: a symbol, or a product or a quotient of symbols that affine
expressions cannot say. MLIR shows ``d0 - (d0 floordiv 3) * 3`` as ``d0 mod 3``; what is read may have `mod` and
`ceildiv`, and is expanded, but for maps of views, which are read and written as they stand.
"""

import functools
import re
from collections.abc import Callable, Iterable, Sequence

from tinyc.expr import axes, extents
from tinyc.expr.axes import AxisExpr, Index, Shape
from tinyc.expr.extents import Dim, Extent
from tinyc.expr.interpretation import Interpretation
from tinyc.expr.terms import AnyMonomial, Axis, Division, FloorDiv, Mod, monomial_text
from tinyc.mlir import ir

#: How deep an affine expression, and how deep its divisions may be: to simplify nested ones doubles the work each, and
#: a view has at most eight.
_MAX_DEPTH, _MAX_NESTING = 400, 10


class NotQuasiAffine(ValueError):
    """An affine map or set that does not consist of axis expressions over the given axes; the message says why."""


def map_symbols(shape: Iterable[Dim], expressions: Iterable[AxisExpr]) -> tuple[str, ...]:
    """The text of every monomial in sizes and expressions, in order of appearance."""
    found: dict[str, None] = {}
    for dim in shape:
        found.update(dict.fromkeys(_monomials(dim)))
    for row in expressions:
        for each in (row, *(division.numerator for division in axes.divisions(row))):
            found.update(dict.fromkeys(_monomials(each.constant)))
    return tuple(found)


def _monomials(dim: Dim) -> Iterable[str]:
    return (monomial_text(monomial) for monomial, _ in dim.terms if monomial) if isinstance(dim, Extent) else ()


# --- to MLIR ----------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=4096)
def to_map(index: Index, rank: int, symbols: tuple[str, ...]) -> ir.AffineMap:
    """`index` over `rank` axes as an affine map."""
    return ir.AffineMap.get(rank, len(symbols), [to_affine(row, symbols) for row in index])


@functools.lru_cache(maxsize=4096)
def to_set(rows: tuple[AxisExpr, ...], rank: int, symbols: tuple[str, ...]) -> ir.IntegerSet:
    """The integer set where every row is at least 0; MLIR writes that of no rows as ``0 == 0``."""
    equalities = [False] * len(rows) or [True]
    conditions = [to_affine(row, symbols) for row in rows] or [ir.AffineConstantExpr.get(0)]
    return ir.IntegerSet.get(rank, len(symbols), conditions, equalities)


def to_affine(expression: AxisExpr, symbols: Sequence[str]) -> ir.AffineExpr:
    """An axis expression as an affine expression."""
    return Interpretation[ir.AffineExpr](
        ir.AffineConstantExpr.get,
        lambda division, numerator, divisor: _DIVIDE[type(division)](numerator, divisor),
        symbol=lambda name: ir.AffineSymbolExpr.get(symbols.index(name)),
        axis=ir.AffineDimExpr.get,
        parameter=_symbolic,
    ).of(expression)


_DIVIDE: dict[type, Callable[[ir.AffineExpr, ir.AffineExpr], ir.AffineExpr]] = {
    FloorDiv: ir.AffineExpr.get_floor_div,
    Mod: ir.AffineExpr.get_mod,
}


def _symbolic(monomial: AnyMonomial) -> str | None:
    """The text of a product of symbols; None for what is over axes."""
    atom = monomial[0] if monomial else Axis(0)
    over_axes = isinstance(atom, Axis) or (isinstance(atom, Division) and isinstance(atom.numerator, AxisExpr))
    return None if over_axes else monomial_text(monomial)


# --- from MLIR --------------------------------------------------------------------------------------------------------


def from_map(affine_map: ir.AffineMap, sizes: Shape, symbols: Sequence[str]) -> Index:
    """An affine map over axes of these sizes as axis expressions, simplified by the sizes.

    Raises:
        NotQuasiAffine: it is over other axes or symbols, or has a product of axes, or nests too deeply.
        ExtentError: a symbol is not an extent.
    """
    if (affine_map.n_dims, affine_map.n_symbols) != (len(sizes), len(symbols)):
        raise NotQuasiAffine(f"affine_map<{affine_map}> is not over {len(sizes)} axes and {len(symbols)} symbols")
    values = [extents.parse_extent(text) for text in symbols]
    rows = [from_affine(row, values) for row in affine_map.results]
    if any(row.depth > _MAX_NESTING for row in rows):
        raise NotQuasiAffine("an affine expression nests too deeply")
    return axes.compose(tuple(rows), axes.identity(sizes), sizes)


def from_set(attribute: ir.Attribute, sizes: Shape, symbols: Sequence[str]) -> tuple[AxisExpr, ...]:
    """The expressions that an integer set attribute wants to be at least 0.

    The bindings do not give the set of an attribute; as the text of a map it can be read.

    Raises:
        NotQuasiAffine: as `from_map`; or it has an equality.
        ExtentError: a symbol is not an extent.
    """
    text = re.sub(r" >= 0(?=[,)])", "", str(attribute).replace("affine_set", "affine_map").replace(" : ", " -> "))
    if text.endswith("(0 == 0)>"):
        return ()
    if "==" in text:
        raise NotQuasiAffine(f"{attribute} has an equality")
    return from_map(ir.AffineMapAttr(ir.Attribute.parse(text, attribute.context)).value, sizes, symbols)


def from_affine(row: ir.AffineExpr, symbols: Sequence[Dim] | None = None, depth: int = 0) -> AxisExpr:
    """An affine expression as it is written, of a view where there are no `symbols`: then nothing is rounded up.

    Raises:
        NotQuasiAffine: it has a product of axes, or a divisor that is not a positive number, or nests too deeply.
    """
    if depth > _MAX_DEPTH:
        raise NotQuasiAffine("an affine expression nests too deeply")
    if isinstance(row, ir.AffineConstantExpr):
        return axes.constant(row.value)
    if isinstance(row, ir.AffineDimExpr):
        return axes.term(Axis(row.position))
    if isinstance(row, ir.AffineSymbolExpr):
        return axes.constant((symbols or ())[row.position])
    assert isinstance(row, ir.AffineBinaryExpr)
    left, right = (from_affine(each, symbols, depth + 1) for each in (row.lhs, row.rhs))
    if isinstance(row, ir.AffineAddExpr):
        return axes.plain_sum(left, right)
    number = right.constant
    if right.terms or not isinstance(number, int):
        raise NotQuasiAffine(f"{row} is not affine")
    if isinstance(row, ir.AffineMulExpr):
        return left * number
    if number <= 0:
        raise NotQuasiAffine(f"{row} divides by {number}")
    if isinstance(row, ir.AffineModExpr):
        return axes.plain_mod(left, number)
    if symbols is None and isinstance(row, ir.AffineCeilDivExpr):
        raise NotQuasiAffine(f"{row} rounds up")
    return axes.plain_floordiv(left + (number - 1 if isinstance(row, ir.AffineCeilDivExpr) else 0), number)
