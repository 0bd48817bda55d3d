"""Axis expressions as MLIR affine expressions, maps and sets, and back.

`d<k>` is the axis `i<k>` and `s<k>` the k-th of `symbols`: a symbol, or a product or a quotient of symbols that affine
expressions cannot say. MLIR shows ``d0 - (d0 floordiv 3) * 3`` as ``d0 mod 3``; what is read may have `mod` and
`ceildiv`, and is expanded.
"""

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tinyc.analysis import extents
from tinyc.analysis.axes.expression import Axis, AxisExpr, Index, Shape, axis, constant, divisions
from tinyc.analysis.axes.simplification import floordiv, mod
from tinyc.analysis.extents import Dim, Extent
from tinyc.analysis.isl.extents import monomial_text
from tinyc.mlir import ir

#: How deep an affine expression may be, and what a division counts: nested ones double the work each, and a view has
#: at most eight.
_MAX_DEPTH = 400
_DIVISION_DEPTH = 40


class NotReadable(ValueError):
    """An affine map or set that is none of axis expressions over the given axes; the message says why."""


def symbols_of(shape: Iterable[Dim], expressions: Iterable[AxisExpr]) -> tuple[str, ...]:
    """Return the text of every monomial in sizes and expressions, in order of appearance."""
    found: dict[str, None] = {}
    for dim in shape:
        found.update(dict.fromkeys(_monomials(dim)))
    for row in expressions:
        for each in (row, *(division.numerator for division in divisions(row))):
            found.update(dict.fromkeys(_monomials(each.constant)))
    return tuple(found)


def _monomials(dim: Dim) -> Iterable[str]:
    return (monomial_text(monomial) for monomial, _ in dim.terms if monomial) if isinstance(dim, Extent) else ()


# --- to MLIR ----------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=4096)
def to_map(index: Index, rank: int, symbols: tuple[str, ...]) -> Any:
    """Return `index` over `rank` axes as an `ir.AffineMap`."""
    return ir.AffineMap.get(rank, len(symbols), [to_affine(row, symbols) for row in index])


@functools.lru_cache(maxsize=4096)
def to_set(rows: tuple[AxisExpr, ...], rank: int, symbols: tuple[str, ...]) -> Any:
    """Return where every row is at least 0 as an `ir.IntegerSet`; MLIR writes that of no rows as ``0 == 0``."""
    equalities = [False] * len(rows) or [True]
    conditions = [to_affine(row, symbols) for row in rows] or [ir.AffineConstantExpr.get(0)]
    return ir.IntegerSet.get(rank, len(symbols), conditions, equalities)


def to_affine(expression: AxisExpr, symbols: Sequence[str]) -> Any:
    """Return an expression as an `ir.AffineExpr`."""
    total = ir.AffineConstantExpr.get(0)
    for atom, coefficient in expression.terms:
        if isinstance(atom, Axis):
            term = ir.AffineDimExpr.get(atom.position)
        else:
            term = ir.AffineExpr.get_floor_div(to_affine(atom.numerator, symbols), atom.divisor)
        total = total + term * coefficient
    return total + _extent(expression.constant, symbols)


def _extent(dim: Dim, symbols: Sequence[str]) -> Any:
    if isinstance(dim, int):
        return ir.AffineConstantExpr.get(dim)
    total = ir.AffineConstantExpr.get(0)
    for monomial, coefficient in dim.terms:
        name = monomial_text(monomial) if monomial else None
        total = total + (coefficient if name is None else ir.AffineSymbolExpr.get(symbols.index(name)) * coefficient)
    return total


# --- from MLIR --------------------------------------------------------------------------------------------------------


def from_map(affine_map: Any, sizes: Shape, symbols: Sequence[str]) -> Index:
    """Return an `ir.AffineMap` over axes of these sizes as axis expressions.

    Raises:
        NotReadable: it is over other axes or symbols, or has a product of axes, or nests too deeply.
        ExtentError: a symbol is no extent.
    """
    if (affine_map.n_dims, affine_map.n_symbols) != (len(sizes), len(symbols)):
        raise NotReadable(f"affine_map<{affine_map}> is not over {len(sizes)} axes and {len(symbols)} symbols")
    values = [extents.parse(text) for text in symbols]
    return tuple(_expression(row, sizes, values, 0) for row in affine_map.results)


def from_set(attribute: Any, sizes: Shape, symbols: Sequence[str]) -> tuple[AxisExpr, ...]:
    """Return the expressions that the set of an `ir.IntegerSetAttr` wants to be at least 0.

    The bindings do not give the set of an attribute; as the text of a map it can be read.

    Raises:
        NotReadable: as `from_map`; or it has an equality.
        ExtentError: a symbol is no extent.
    """
    text = re.sub(r" >= 0(?=[,)])", "", str(attribute).replace("affine_set", "affine_map").replace(" : ", " -> "))
    if text.endswith("(0 == 0)>"):
        return ()
    if "==" in text:
        raise NotReadable(f"{attribute} has an equality")
    return from_map(ir.AffineMapAttr(ir.Attribute.parse(text, attribute.context)).value, sizes, symbols)


def _expression(row: Any, sizes: Shape, values: Sequence[Dim], depth: int) -> AxisExpr:
    if depth > _MAX_DEPTH:
        raise NotReadable("an affine expression nests too deeply")
    if isinstance(row, ir.AffineConstantExpr):
        return constant(row.value)
    if isinstance(row, ir.AffineDimExpr):
        return axis(row.position, sizes)
    if isinstance(row, ir.AffineSymbolExpr):
        return constant(values[row.position])
    depth += _DIVISION_DEPTH if type(row) in _DIVISIONS else 1
    left, right = (_expression(each, sizes, values, depth) for each in (row.lhs, row.rhs))
    if isinstance(row, ir.AffineAddExpr):
        return left + right
    number = right.constant
    if right.terms or not isinstance(number, int):
        raise NotReadable(f"{row} is not affine")
    if isinstance(row, ir.AffineMulExpr):
        return left * number
    if number <= 0:
        raise NotReadable(f"{row} divides by {number}")
    return _DIVISIONS[type(row)](left, number, sizes)


_DIVISIONS: dict[Any, Callable[[AxisExpr, int, Shape], AxisExpr]] = {
    ir.AffineFloorDivExpr: floordiv,
    ir.AffineModExpr: mod,
    ir.AffineCeilDivExpr: lambda left, number, sizes: floordiv(left + (number - 1), number, sizes),
}
