"""IndexBook entries as attributes: extents become symbols, axis expressions affine maps. `decode` is the inverse.

In an affine map or set, `d<k>` is the axis `i<k>` and `s<k>` the k-th item of `symbols`: a symbol, or a product or a
quotient of symbols that affine expressions cannot say. MLIR shows ``d0 - (d0 floordiv 3) * 3`` as ``d0 mod 3``.
"""

import functools
from collections.abc import Iterable, Sequence
from typing import Any

from tinyc.analysis import axis as axes
from tinyc.analysis.axis import Axis, AxisExpr, Shape
from tinyc.analysis.extents import Dim, Extent
from tinyc.analysis.index_book import Entry, Guard, NonScopEntry
from tinyc.analysis.movement import Index
from tinyc.dialects.tiny.attributes import extents_attribute
from tinyc.mlir import ir


def encode_entry(entry: Entry | NonScopEntry) -> dict[str, Any]:
    """Return the attributes of the op that stands for an entry."""
    if isinstance(entry, NonScopEntry):
        return {
            "value": ir.StringAttr.get(entry.value),
            "inputs": _strings(entry.inputs),
            "reason": ir.StringAttr.get(entry.reason),
        }
    symbols = _symbols(entry)
    return {
        "value": ir.StringAttr.get(entry.value),
        "sizes": extents_attribute(entry.shape),
        "kinds": _strings([axis.kind for axis in entry.axes]),
        "labels": _strings([axis.label for axis in entry.axes]),
        "symbols": _strings(symbols),
        "domain": domain_set(entry.shape, symbols),
        "inputs": _strings([each.value for each in entry.inputs]),
        "maps": ir.ArrayAttr.get([_map(each.map, len(entry.axes), symbols) for each in entry.inputs]),
        "guards": ir.ArrayAttr.get([_guard_set(guard, len(entry.axes), symbols) for guard in entry.guards]),
        "guard_values": ir.ArrayAttr.get([number_attribute(guard.value) for guard in entry.guards]),
        "reduce_axes": ir.DenseI64ArrayAttr.get(entry.reduce_axes),
    }


def _strings(texts: Iterable[str]) -> Any:
    return ir.ArrayAttr.get([ir.StringAttr.get(text) for text in texts])


def number_attribute(value: bool | int | float) -> Any:
    """Return the value of a guard as an attribute: `true`, `0 : i64` or `0.0 : f64`."""
    if isinstance(value, bool):
        return ir.BoolAttr.get(value)
    if isinstance(value, float):
        return ir.FloatAttr.get_f64(value)
    wrapped = value - 2**64 if value >= 2**63 else value
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), wrapped)


def _symbols(entry: Entry) -> tuple[str, ...]:
    """Return the text of every monomial in the extents of an entry, in order of appearance."""
    found: dict[str, None] = {}
    rows = [row for each in entry.inputs for row in each.map] + [guard.expression for guard in entry.guards]
    for dim in (*entry.shape, *(guard.size for guard in entry.guards)):
        found.update(dict.fromkeys(_monomials(dim)))
    for row in rows:
        for expression in (row, *(division.numerator for division in axes.divisions(row))):
            found.update(dict.fromkeys(_monomials(expression.constant)))
    return tuple(found)


def _monomials(dim: Dim) -> Iterable[str]:
    return (str(Extent(((m, 1),))) for m, _ in dim.terms if m) if isinstance(dim, Extent) else ()


def _extent(dim: Dim, symbols: Sequence[str]) -> Any:
    if isinstance(dim, int):
        return ir.AffineConstantExpr.get(dim)
    total = ir.AffineConstantExpr.get(0)
    for monomial, coefficient in dim.terms:
        name = str(Extent(((monomial, 1),))) if monomial else None
        total = total + (coefficient if name is None else ir.AffineSymbolExpr.get(symbols.index(name)) * coefficient)
    return total


def _affine(expression: AxisExpr, symbols: Sequence[str]) -> Any:
    total = ir.AffineConstantExpr.get(0)
    for atom, coefficient in expression.terms:
        if isinstance(atom, Axis):
            term = ir.AffineDimExpr.get(atom.position)
        else:
            term = ir.AffineExpr.get_floor_div(_affine(atom.numerator, symbols), atom.divisor)
        total = total + term * coefficient
    return total + _extent(expression.constant, symbols)


@functools.lru_cache(maxsize=4096)
def _map(index: Index, rank: int, symbols: tuple[str, ...]) -> Any:
    rows = [_affine(row, symbols) for row in index]
    return ir.AffineMapAttr.get(ir.AffineMap.get(rank, len(symbols), rows))


@functools.lru_cache(maxsize=4096)
def domain_set(shape: Shape, symbols: tuple[str, ...]) -> Any:
    """Return the box of `shape` as an affine set."""
    rows: list[AxisExpr] = []
    for position, size in enumerate(shape):
        index = AxisExpr(0, ((Axis(position), 1),))  # also where the size is 1: the set says that it is 0
        rows += [index, index * -1 + (size - 1)]
    return _set(rows, len(shape), symbols)


def _guard_set(guard: Guard, rank: int, symbols: tuple[str, ...]) -> Any:
    value = guard.expression
    return _set([value, value * -1 + (guard.size - 1)], rank, symbols)


def _set(rows: list[AxisExpr], rank: int, symbols: tuple[str, ...]) -> Any:
    """Return the set where every row is at least 0; MLIR writes that of a scalar as ``0 == 0``."""
    equalities = [False] * len(rows) or [True]
    conditions = [_affine(row, symbols) for row in rows] or [ir.AffineConstantExpr.get(0)]
    return ir.IntegerSetAttr.get(ir.IntegerSet.get(rank, len(symbols), conditions, equalities))
