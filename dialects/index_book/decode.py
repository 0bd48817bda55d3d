"""The attributes of the ops of an IndexBook table as entries: the inverse of `encode`.

Affine maps and sets are read in any form; what they mean is normalised. Raises `TinycError` (`InvalidAttribute`) for
attributes that cannot be read or contradict each other.
"""

import contextlib
import functools
from collections.abc import Generator

from tinyc.analysis.index_book.book import AXIS_KINDS, AxisVar, Entry, Guard, InputAccess, NonScopEntry
from tinyc.diagnostics import TinycError
from tinyc.expr import extents
from tinyc.expr.affine_map import NotQuasiAffine, from_map, from_set, map_symbols, to_set
from tinyc.expr.axes import Axis, AxisExpr, Index, Shape, divisions, term
from tinyc.expr.extents import Extent
from tinyc.expr.isl import TooHard
from tinyc.mlir import ir
from tinyc.vocabulary.attributes import decode


def decode_non_scop(attributes: ir.OpAttributeMap) -> NonScopEntry:
    """The entry that an `index_book.non_scop` with these attributes is."""
    sizes = _sizes(attributes)
    value, inputs, reason = _text(attributes, "value"), _texts(attributes, "inputs"), _text(attributes, "reason")
    return NonScopEntry(value, sizes, _dims(attributes, len(sizes)), inputs, reason)


def decode_entry(attributes: ir.OpAttributeMap) -> Entry:
    """The entry that an `index_book.entry` with these attributes is."""
    found = _axes(attributes)
    reader = _Reader(tuple(axis.size for axis in found), _texts(attributes, "symbols"))
    names, maps = _texts(attributes, "inputs"), _items(attributes, "maps")
    sets, values = _items(attributes, "guards"), _items(attributes, "guard_values")
    if len(names) != len(maps) or len(sets) != len(values):
        raise _malformed("there must be one map for each input, and one value for each guard")
    reduced = attributes["reduce_axes"]
    expected = sum(axis.kind == "reduce" for axis in found)
    if not isinstance(reduced, ir.DenseI64ArrayAttr) or len(reduced) != expected:
        raise _malformed(f"'reduce_axes' must be array<i64: …> with {expected} items, one for each axis of kind reduce")
    dims = _dims(attributes, len(found) - expected)
    inputs = tuple(InputAccess(name, reader.map(attribute)) for name, attribute in zip(names, maps, strict=True))
    reader.require_domain(attributes["domain"], inputs)
    guards = tuple(reader.guard(region, decode(value)) for region, value in zip(sets, values, strict=True))
    return Entry(_text(attributes, "value"), found, dims, inputs, guards, tuple(reduced))


def _sizes(attributes: ir.OpAttributeMap) -> Shape:
    items = [decode(size) for size in _items(attributes, "sizes")]
    sizes = [_extent(size) if isinstance(size, str) else size for size in items]
    found = tuple(size for size in sizes if isinstance(size, int | Extent) and not isinstance(size, bool))
    if len(found) < len(sizes):
        raise _malformed(f"'sizes' is {attributes['sizes']}, not a list of extents")
    return found


def _dims(attributes: ir.OpAttributeMap, count: int) -> tuple[int, ...]:
    """How many axes each dimension has, `count` in all."""
    dims = attributes["dims"]
    if not isinstance(dims, ir.DenseI64ArrayAttr) or any(each < 1 for each in dims) or sum(dims) != count:
        raise _malformed(
            f"'dims' is {dims}, not array<i64: …> of positive numbers that add up to the {count} kept axes"
        )
    return tuple(dims)


def _axes(attributes: ir.OpAttributeMap) -> tuple[AxisVar, ...]:
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
        return extents.parse_extent(text)
    except extents.ExtentError as error:
        raise _malformed(str(error)) from None


def _malformed(message: str) -> TinycError:
    return TinycError("InvalidAttribute", message)


def _text(attributes: ir.OpAttributeMap, name: str) -> str:
    attribute = attributes[name]
    if not isinstance(attribute, ir.StringAttr):
        raise _malformed(f"'{name}' is {attribute}, not a string")
    return attribute.value


def _items(attributes: ir.OpAttributeMap, name: str) -> list[ir.Attribute]:
    attribute = attributes[name]
    if not isinstance(attribute, ir.ArrayAttr):
        raise _malformed(f"'{name}' is {attribute}, not a list")
    return list(attribute)


def _texts(attributes: ir.OpAttributeMap, name: str) -> tuple[str, ...]:
    items = _items(attributes, name)
    found = tuple(item.value for item in items if isinstance(item, ir.StringAttr))
    if len(found) < len(items):
        raise _malformed(f"'{name}' is {attributes[name]}, not a list of strings")
    return found


@functools.lru_cache(maxsize=4096)
def domain_set(shape: Shape, inputs: tuple[InputAccess, ...], symbols: tuple[str, ...]) -> ir.IntegerSetAttr:
    """The domain of an entry as an affine set: the box of its axes, and each division of its maps with its remainder.

    A remainder is ``e - n*(e floordiv n)``, which MLIR writes as ``e mod n``; that it is one of 0 … n - 1 is its guard.
    """
    # Also where the size is 1 there is an axis: the set says that it is 0.
    bounded = [(term(Axis(position)), size) for position, size in enumerate(shape)]
    divided = dict.fromkeys(each for access in inputs for row in access.map for each in divisions(row))
    bounded += [(each.numerator - term(each) * each.divisor, each.divisor) for each in divided]
    rows = tuple(row for value, size in bounded for row in (value, value * -1 + (size - 1)))
    return ir.IntegerSetAttr.get(to_set(rows, len(shape), symbols))


class _Reader:
    """Reads the affine maps and sets of an entry with axes of these sizes."""

    def __init__(self, sizes: Shape, symbols: tuple[str, ...]) -> None:
        self.sizes, self.symbols = sizes, symbols
        missing = [name for name in map_symbols(sizes, ()) if name not in symbols]
        if missing:
            raise _malformed(f"'symbols' is {list(symbols)} and lacks '{missing[0]}', which 'sizes' has; list it")

    def require_domain(self, attribute: ir.Attribute, inputs: tuple[InputAccess, ...]) -> None:
        """Check that a set is the domain: the box of the axes, where what guards remainders may be left out."""
        expected = domain_set(self.sizes, inputs, self.symbols)
        if attribute in (expected, domain_set(self.sizes, (), self.symbols)):
            return
        from tinyc.analysis.isl.polyhedra import same_set  # islpy takes its time to load

        try:
            same = same_set(self.sizes, self.rows(attribute), self.rows(expected))
        except TooHard as error:
            raise _malformed(f"'domain' is {attribute}, and cannot be compared with {expected}: {error}") from None
        if not same:
            raise _malformed(f"'domain' is {attribute}; the sizes give {expected}")

    def map(self, attribute: ir.Attribute) -> Index:
        """An access map as axis expressions."""
        if not isinstance(attribute, ir.AffineMapAttr):
            raise _malformed(f"{attribute} is not an affine map")
        with _malformed_where_unreadable():
            return from_map(attribute.value, self.sizes, self.symbols)

    def guard(self, attribute: ir.Attribute, value: object) -> Guard:
        """A guard from its set ``(e >= 0, size - 1 - e >= 0)`` and its value."""
        rows = self.rows(attribute)
        size = rows[0] + rows[1] + 1 if len(rows) == 2 else None
        if size is None or size.terms or not isinstance(value, int | float):
            raise _malformed(f"{attribute} is not the guard (e >= 0, size - 1 - e >= 0) of a number")
        return Guard(rows[0], size.constant, value)

    def rows(self, attribute: ir.Attribute) -> tuple[AxisExpr, ...]:
        """The expressions that a set wants to be at least 0."""
        if not isinstance(attribute, ir.IntegerSetAttr):
            raise _malformed(f"{attribute} is not an affine set")
        with _malformed_where_unreadable():
            return from_set(attribute, self.sizes, self.symbols)


@contextlib.contextmanager
def _malformed_where_unreadable() -> Generator[None, None, None]:
    try:
        yield
    except (NotQuasiAffine, extents.ExtentError) as error:
        raise _malformed(str(error)) from None
