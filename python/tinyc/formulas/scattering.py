"""Scatter as formulas, and the row-major places that gather and scatter share.

Several indices choose an element of a tensor together: with its axes merged, they are one index.
"""

from collections.abc import Mapping, Sequence

from tinyc.diagnostics import TinycError
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.formulas.schema import Function
from tinyc.formulas.value import Builder, Value
from tinyc.vocabulary.element_type import ElementType

# --- places -----------------------------------------------------------------------------------------------------------


def in_range(index: Value, extent: Dim) -> Value:
    """An index as i32 or i64 that is, where it was negative, counted from the end."""
    if index.element not in (ElementType.I32, ElementType.I64):
        index = index.to(ElementType.I64)
    return (index + index.builder.extent(extent, index.element)).where(index < 0, index)


def flat_places(builder: Builder, of: Sequence[Dim], shape: Sequence[Dim], chosen: Mapping[int, Value]) -> Value:
    """The row-major places in a tensor of shape `of` for each index of `shape`.

    Along an axis they are at what is `chosen` for it, else at the index itself.
    """
    total: Value | None = None
    for axis, stride in enumerate(extents.row_major_strides(of)):
        place = chosen[axis] if axis in chosen else builder.iota(ElementType.I64, shape, axis)
        term = _scaled(place.to(ElementType.I64), stride)
        total = term if total is None else total + term
    return builder.full(0, ElementType.I64, shape) if total is None else total


def _scaled(place: Value, stride: Dim) -> Value:
    return place if stride == 1 else place * place.builder.extent(stride, ElementType.I64)


def places_along(data: Value, index: Value, axis: int) -> Value:
    """The place in `data` that each element of `index`, a tensor of the same rank, is for."""
    if index.rank != data.rank:
        raise TinycError("BroadcastMismatch", f"the index has {index.rank} axes and the data {data.rank}; give as many")
    return flat_places(data.builder, data.shape, index.shape, {axis: in_range(index, data.shape[axis])})


def nd_places(data: Value, index: Value, batch: int = 0) -> tuple[Value, int]:
    """For each row of `index` its place among the leading axes of `data`, and how many of these there are."""
    count = index.shape[-1] if index.rank else None
    if not isinstance(count, int):
        message = f"the last extent of the index is {count}; it must be a number"
        raise TinycError("InvalidExtent", message if count is None else f"{message}: {extents.bind_option(count)}")
    depth = batch + count
    if depth > data.rank:
        message = f"an index of {count} numbers behind {batch} batch axes chooses from no more axes; {data.type} has "
        raise TinycError("AxisSizeMismatch", f"{message}{data.rank}")
    lead = index.shape[:-1]
    chosen = {
        batch + each: in_range(index.slice(index.rank - 1, each, each + 1).reshape(*lead), data.shape[batch + each])
        for each in range(count)
    }
    return flat_places(data.builder, data.shape[:depth], lead, chosen), depth


# --- scatter ----------------------------------------------------------------------------------------------------------


def scatter_elements(data: Value, index: Value, updates: Value, *, axis: int = 0, reduction: str = "none") -> Value:
    """At `index[i]` along `axis`, and at i along the others, `updates[i]`."""
    places = places_along(data, index, data.axis(axis))
    count = extents.product(index.shape)
    flat = data.reshape(extents.product(data.shape))
    result = _scattered(flat, places.reshape(count), updates.reshape(count), reduction)
    return result.reshape(*data.shape)


def scatter_nd(data: Value, index: Value, updates: Value, *, reduction: str = "none") -> Value:
    """At `index[i]` the slice `updates[i]`, for each row i of `index`."""
    places, depth = nd_places(data, index)
    count, rest = extents.product(index.shape[:-1]), data.shape[depth:]
    rows = data.reshape(extents.product(data.shape[:depth]), *rest)
    result = _scattered(rows, places.reshape(count), updates.reshape(count, *rest), reduction)
    return result.reshape(*data.shape)


def _scattered(rows: Value, places: Value, updates: Value, reduction: str) -> Value:
    """Rows put or combined at places. Tiny puts and adds; for others, each row looks at all updates for it."""
    if reduction in _PUTS:
        return rows.builder.add("scatter", rows, places, updates, axis=0, op=_PUTS[reduction])
    if reduction not in _COMBINED:
        known = ", ".join([*_PUTS, *_COMBINED])
        raise TinycError("InvalidAttribute", f"reduction is {reduction!r}; it is one of {known}")
    if rows.element.is_bool:
        raise TinycError("DtypeMismatch", f"reduction {reduction!r} takes numbers, and the data is bool; cast it")
    count = updates.shape[0]
    shape = (*rows.shape, count)
    mine = places.expand(shape, (len(shape) - 1,)).equals(rows.builder.iota(ElementType.I64, shape, 0))
    moved = updates.permute(*range(1, updates.rank), 0).expand(shape, tuple(range(1, len(shape))))
    neutral = rows.builder.full(_neutral(reduction, rows.element), rows.element, shape)
    total = moved.where(mine, neutral).reduce(_COMBINED[reduction], -1)
    return rows.to(total.element).apply(reduction, total).to(rows.element)


def _neutral(reduction: str, element: ElementType) -> float:
    if reduction == "mul":
        return 1
    if element.is_float:
        return float("-inf") if reduction == "max" else float("inf")
    low, high = element.integer_range
    return low if reduction == "max" else high


_PUTS = {"none": "set", "add": "add"}
_COMBINED = {"mul": "prod", "max": "max", "min": "min"}

FORMULAS: dict[str, Function | dict[str, Function]] = {"scatter": {"elements": scatter_elements, "nd": scatter_nd}}
