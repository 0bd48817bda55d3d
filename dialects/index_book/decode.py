"""What the ops of an IndexBook table say, as entries: the inverse of `encode`.

Affine maps and sets are read in any form; what they mean is normalised. Raises `TinycError` (`InvalidAttribute`) for
attributes that cannot be read or contradict each other.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

from tinyc.analysis import extents
from tinyc.analysis.axes import AxisExpr, Index, Shape
from tinyc.analysis.axes.affine_map import NotReadable, from_map, from_set
from tinyc.analysis.extents import Extent
from tinyc.analysis.index_book.book import AXIS_KINDS, AxisVar, Entry, Guard, Input, NonScopEntry
from tinyc.analysis.limits import TooHard
from tinyc.diagnostics import TinycError
from tinyc.dialects.index_book.encode import domain_set
from tinyc.dialects.tiny.attributes import decode
from tinyc.mlir import ir


def decode_non_scop(op: Any) -> NonScopEntry:
    """Return what an `index_book.non_scop` says."""
    attributes = op.operation.attributes
    sizes = _sizes(attributes)
    value, inputs, reason = _text(attributes, "value"), _texts(attributes, "inputs"), _text(attributes, "reason")
    return NonScopEntry(value, sizes, _dims(attributes, len(sizes)), inputs, reason)


def decode_entry(op: Any) -> Entry:
    """Return what an `index_book.entry` says."""
    attributes = op.operation.attributes
    found = _axes(attributes)
    reader = _Reader(tuple(axis.size for axis in found), _texts(attributes, "symbols"))
    reader.require_box(attributes["domain"])
    names, maps = _texts(attributes, "inputs"), _items(attributes, "maps")
    sets, values = _items(attributes, "guards"), _items(attributes, "guard_values")
    if len(names) != len(maps) or len(sets) != len(values):
        raise _malformed("there must be one map for each input, and one value for each guard")
    reduced = attributes["reduce_axes"]
    expected = sum(axis.kind == "reduce" for axis in found)
    if not isinstance(reduced, ir.DenseI64ArrayAttr) or len(reduced) != expected:
        raise _malformed(f"'reduce_axes' must be array<i64: …> with {expected} items, one for each axis of kind reduce")
    dims = _dims(attributes, len(found) - expected)
    inputs = tuple(Input(name, reader.map(attribute)) for name, attribute in zip(names, maps, strict=True))
    guards = tuple(reader.guard(region, decode(value)) for region, value in zip(sets, values, strict=True))
    return Entry(_text(attributes, "value"), found, dims, inputs, guards, tuple(reduced))


def _sizes(attributes: Any) -> Shape:
    sizes = tuple(decode(size) for size in _items(attributes, "sizes"))
    sizes = tuple(_extent(size) if isinstance(size, str) else size for size in sizes)
    if not all(isinstance(size, int | Extent) and not isinstance(size, bool) for size in sizes):
        raise _malformed(f"'sizes' is {attributes['sizes']}, not a list of extents")
    return sizes


def _dims(attributes: Any, count: int) -> tuple[int, ...]:
    """Return how many axes each dimension has, `count` in all."""
    dims = attributes["dims"]
    if not isinstance(dims, ir.DenseI64ArrayAttr) or any(each < 1 for each in dims) or sum(dims) != count:
        raise _malformed(
            f"'dims' is {dims}, not array<i64: …> of positive numbers that add up to the {count} kept axes"
        )
    return tuple(dims)


def _axes(attributes: Any) -> tuple[AxisVar, ...]:
    sizes = _sizes(attributes)
    kinds, labels = _texts(attributes, "kinds"), _texts(attributes, "labels")
    if len(kinds) != len(sizes) or not set(kinds) <= set(AXIS_KINDS):
        raise _malformed(f"'kinds' must say {' or '.join(AXIS_KINDS)} for each of the {len(sizes)} axes")
    found = tuple(AxisVar(size, kind) for size, kind in zip(sizes, kinds, strict=True))
    expected = tuple(axis.label for axis in found)
    if labels != expected:
        raise _malformed(f"'labels' is {list(labels)}; the sizes give {list(expected)}")
    return found


def _extent(text: str) -> extents.Dim:
    try:
        return extents.parse(text)
    except extents.ExtentError as error:
        raise _malformed(str(error)) from None


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

    def require_box(self, attribute: Any) -> None:
        """Check that a set is the box of the axes."""
        expected = domain_set(self.sizes, self.symbols)
        if attribute == expected:
            return
        from tinyc.analysis.isl.polyhedra import same_set  # islpy takes its time to load

        try:
            same = same_set(self.sizes, self.rows(attribute), self.rows(expected))
        except TooHard as error:
            raise _malformed(f"'domain' is {attribute}, and cannot be compared with {expected}: {error}") from None
        if not same:
            raise _malformed(f"'domain' is {attribute}; the sizes give {expected}")

    def map(self, attribute: Any) -> Index:
        """Return an access map as axis expressions."""
        if not isinstance(attribute, ir.AffineMapAttr):
            raise _malformed(f"{attribute} is not an affine map")
        with _malformed_where_unreadable():
            return from_map(attribute.value, self.sizes, self.symbols)

    def guard(self, attribute: Any, value: Any) -> Guard:
        """Return a guard from its set ``(e >= 0, size - 1 - e >= 0)`` and its value."""
        rows = self.rows(attribute)
        size = rows[0] + rows[1] + 1 if len(rows) == 2 else None
        if size is None or size.terms or not isinstance(value, int | float):
            raise _malformed(f"{attribute} is not the guard (e >= 0, size - 1 - e >= 0) of a number")
        return Guard(rows[0], size.constant, value)

    def rows(self, attribute: Any) -> tuple[AxisExpr, ...]:
        """Return the expressions that a set wants to be at least 0."""
        if not isinstance(attribute, ir.IntegerSetAttr):
            raise _malformed(f"{attribute} is not an affine set")
        with _malformed_where_unreadable():
            return from_set(attribute, self.sizes, self.symbols)


@contextlib.contextmanager
def _malformed_where_unreadable() -> Iterator[None]:
    try:
        yield
    except (NotReadable, extents.ExtentError) as error:
        raise _malformed(str(error)) from None
