"""Between IndexBook entries and attributes: extents become symbols, axis expressions affine maps.

In an affine map or set, `d<k>` is the axis `i<k>` and `s<k>` the k-th item of `symbols`: a symbol, or a product or a
quotient of symbols that affine expressions cannot say. Malformed attributes raise `TinycError` (`InvalidAttribute`).
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tinyc.analysis import axis as axes
from tinyc.analysis import extents
from tinyc.analysis.axis import Axis, AxisExpr, Shape
from tinyc.analysis.extents import Dim, Extent
from tinyc.analysis.index_book import AxisVar, Entry, Guard, Input, NonScopEntry
from tinyc.analysis.movement import Index
from tinyc.diagnostics import TinycError
from tinyc.dialects.tiny.attributes import decode, extents_attribute
from tinyc.mlir import ir

KINDS = ("iter", "broadcast", "reduce")
_MAX_DEPTH = 200


# --- to attributes ----------------------------------------------------------------------------------------------------


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
        "domain": _domain(entry.shape, symbols),
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
        return ir.FloatAttr.get(ir.F64Type.get(), value)
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
def _domain(shape: Shape, symbols: tuple[str, ...]) -> Any:
    rows = []
    for position, size in enumerate(shape):
        axis = ir.AffineDimExpr.get(position)
        rows += [axis, _extent(size, symbols) - axis - 1]
    return _set(rows, len(shape), symbols)


def _guard_set(guard: Guard, rank: int, symbols: tuple[str, ...]) -> Any:
    value = _affine(guard.expression, symbols)
    return _set([value, _extent(guard.size, symbols) - value - 1], rank, symbols)


def _set(rows: list[Any], rank: int, symbols: tuple[str, ...]) -> Any:
    """Return the set where every row is at least 0; MLIR writes that of a scalar as ``0 == 0``."""
    equalities = [False] * len(rows) or [True]
    rows = rows or [ir.AffineConstantExpr.get(0)]
    return ir.IntegerSetAttr.get(ir.IntegerSet.get(rank, len(symbols), rows, equalities))


# --- from attributes --------------------------------------------------------------------------------------------------


def decode_non_scop(op: Any) -> NonScopEntry:
    """Return what an `index_book.non_scop` says."""
    attributes = op.operation.attributes
    return NonScopEntry(_text(attributes, "value"), _texts(attributes, "inputs"), _text(attributes, "reason"))


def decode_entry(op: Any) -> Entry:
    """Return what an `index_book.entry` says; its domain must be the box of its sizes.

    Raises:
        TinycError: an attribute cannot be read, or two of them disagree.
    """
    attributes = op.operation.attributes
    sizes = decode(attributes["sizes"])
    if not isinstance(sizes, tuple) or not all(isinstance(size, int | Extent) for size in sizes):
        raise _malformed(f"'sizes' is {attributes['sizes']}, not a list of extents")
    kinds, labels = _texts(attributes, "kinds"), _texts(attributes, "labels")
    if not len(kinds) == len(labels) == len(sizes) or not set(kinds) <= set(KINDS):
        raise _malformed(f"'kinds' and 'labels' must have one item for each of the {len(sizes)} axes, {' | '.join(KINDS)}")
    reader = _Reader(sizes, _texts(attributes, "symbols"))
    found = tuple(AxisVar(size, kind) for size, kind in zip(sizes, kinds, strict=True))
    if labels != tuple(axis.label for axis in found):
        raise _malformed(f"'labels' is {list(labels)}; the sizes give {[axis.label for axis in found]}")
    if attributes["domain"] != _domain(sizes, reader.symbols):
        raise _malformed(f"'domain' is {attributes['domain']}; the sizes give {_domain(sizes, reader.symbols)}")
    names, maps = _texts(attributes, "inputs"), _items(attributes, "maps")
    sets, values = _items(attributes, "guards"), _items(attributes, "guard_values")
    if len(names) != len(maps) or len(sets) != len(values):
        raise _malformed("there must be one map for each input, and one value for each guard")
    reduced = decode(attributes["reduce_axes"])
    if not isinstance(attributes["reduce_axes"], ir.DenseI64ArrayAttr) or len(reduced) != kinds.count("reduce"):
        raise _malformed("'reduce_axes' must be array<i64: …> with one item for each axis of kind reduce")
    inputs = tuple(Input(name, reader.map(attribute)) for name, attribute in zip(names, maps, strict=True))
    guards = tuple(reader.guard(region, decode(value)) for region, value in zip(sets, values, strict=True))
    return Entry(_text(attributes, "value"), found, inputs, guards, reduced)


def _malformed(message: str) -> TinycError:
    return TinycError("InvalidAttribute", message)


def _text(attributes: Any, name: str) -> str:
    attribute = attributes[name]
    if not isinstance(attribute, ir.StringAttr):
        raise _malformed(f"'{name}' is {attribute}, not a string")
    return attribute.value


def _items(attributes: Any, name: str) -> list[Any]:
    attribute = attributes[name]
    if not isinstance(attribute, ir.ArrayAttr):
        raise _malformed(f"'{name}' is {attribute}, not a list")
    return list(attribute)


def _texts(attributes: Any, name: str) -> tuple[str, ...]:
    items = _items(attributes, name)
    if not all(isinstance(item, ir.StringAttr) for item in items):
        raise _malformed(f"'{name}' is {attributes[name]}, not a list of strings")
    return tuple(item.value for item in items)


class _Reader:
    """Reads the affine maps and sets of an entry with axes of these sizes."""

    def __init__(self, sizes: Shape, symbols: tuple[str, ...]) -> None:
        self.sizes, self.symbols = sizes, symbols
        try:
            self.values = [extents.parse(text) for text in symbols]
        except extents.ExtentError as error:
            raise _malformed(str(error)) from None

    def map(self, attribute: Any) -> Index:
        """Return an access map as axis expressions."""
        if not isinstance(attribute, ir.AffineMapAttr):
            raise _malformed(f"{attribute} is not an affine map")
        self._check_arity(attribute, attribute.value.n_dims, attribute.value.n_symbols)
        return tuple(self._expression(row) for row in attribute.value.results)

    def guard(self, attribute: Any, value: Any) -> Guard:
        """Return a guard from its set ``(e >= 0, size - 1 - e >= 0)`` and its value."""
        if not isinstance(attribute, ir.IntegerSetAttr):
            raise _malformed(f"{attribute} is not an affine set")
        region = ir.IntegerSet(attribute.value) if hasattr(attribute, "value") else None
        raise _malformed(str(region))

    def _check_arity(self, attribute: Any, dims: int, symbols: int) -> None:
        if (dims, symbols) != (len(self.sizes), len(self.symbols)):
            raise _malformed(f"{attribute} is not over {len(self.sizes)} axes and {len(self.symbols)} symbols")

    def _expression(self, row: Any, depth: int = 0) -> AxisExpr:
        if depth > _MAX_DEPTH:
            raise _malformed("an affine expression nests too deeply")
        if isinstance(row, ir.AffineConstantExpr):
            return axes.constant(row.value)
        if isinstance(row, ir.AffineDimExpr):
            return axes.axis(row.position, self.sizes)
        if isinstance(row, ir.AffineSymbolExpr):
            return axes.constant(self.values[row.position])
        left, right = self._expression(row.lhs, depth + 1), self._expression(row.rhs, depth + 1)
        if isinstance(row, ir.AffineAddExpr):
            return left + right
        number = right.constant
        if right.terms or not isinstance(number, int):
            raise _malformed(f"{row} is not affine")
        if isinstance(row, ir.AffineMulExpr):
            return left * number
        if number <= 0:
            raise _malformed(f"{row} divides by {number}")
        return _DIVISIONS[type(row)](left, number, self.sizes)


_DIVISIONS: dict[Any, Callable[[AxisExpr, int, Shape], AxisExpr]] = {
    ir.AffineFloorDivExpr: axes.floordiv,
    ir.AffineModExpr: axes.mod,
    ir.AffineCeilDivExpr: lambda left, number, sizes: axes.floordiv(left + (number - 1), number, sizes),
}
