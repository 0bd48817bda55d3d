"""Padding and concatenation as formulas: constants, its own elements or another value beside a value."""

from collections.abc import Sequence

from tinyc.diagnostics import TinycError
from tinyc.expr.extents import Dim
from tinyc.formulas.value import Value
from tinyc.vocabulary.element_type import ElementType


def pad(
    x: Value,
    value: Value | None = None,
    *,
    before: tuple[Dim, ...],
    after: tuple[Dim, ...],
    mode: str = "constant",
    constant: float = 0.0,
) -> Value:
    """More elements before and after each axis: `constant`, or `value` if it is there.

    With a mode other than "constant" they are the nearest element ("edge"), the elements mirrored at it ("reflect"), or
    repeated ("wrap").
    """
    if not len(before) == len(after) == x.rank:
        message = f"before and after have {len(before)} and {len(after)} entries; {x.type} has {x.rank} axes"
        raise TinycError("InvalidAttribute", message)
    if mode not in ("constant", *_SOURCES):
        raise TinycError("InvalidAttribute", f"mode is {mode!r}; it is 'constant', 'edge', 'reflect' or 'wrap'")
    axes = [axis for axis in range(x.rank) if (before[axis], after[axis]) != (0, 0)]
    if mode != "constant":
        for axis in axes:
            x = _continued(x, axis, before[axis], after[axis], mode)
        return x
    inside = x.builder.full(True, ElementType.BOOL, x.shape)
    for axis in axes:
        x = placed(x, axis, before[axis], after[axis], constant)
        inside = inside if value is None else placed(inside, axis, before[axis], after[axis])
    return x if value is None or not axes else x.where(inside, value.reshape())


def placed(x: Value, axis: int, before: Dim, after: Dim, constant: float = 0) -> Value:
    """More elements before and after one axis.

    Where their numbers are symbolic, which a pad's are not, the value is written to its place among them.
    """
    if isinstance(before, int) and isinstance(after, int):
        return x.pad_axis(axis, before, after, constant)
    shape = (*x.shape[:axis], before + x.shape[axis] + after, *x.shape[axis + 1 :])
    return _written(x.builder.full(_constant(constant, x.element), x.element, shape), x, axis, before)


def _written(base: Value, x: Value, axis: int, at: Dim) -> Value:
    """`base` with `x` at a place of an axis."""
    places = x.builder.iota(ElementType.I64, (x.shape[axis],), 0)
    if at != 0:
        places = places + _number(x, at)
    return x.builder.add("scatter", base, places, x, axis=axis, op="set")


def _constant(number: float, element: ElementType) -> bool | int | float:
    return float(number) if element.is_float else bool(number) if element.is_bool else int(number)


def concat(x: Value, y: Value, *, axis: int) -> Value:
    """The elements of `y` behind those of `x` along an axis.

    Where the index along the axis is below the extent of `x`, an element of `x` padded, elsewhere one of `y` padded. At
    a place that is symbolic there is no pad: both are written to where they belong.
    """
    axis = x.axis(axis)
    if x.rank != y.rank:
        raise TinycError("BroadcastMismatch", f"{x.type} and {y.type} have no common rank; reshape one of them")
    for each in range(x.rank):
        if each != axis:
            x.builder.assume_equal(x.shape[each], y.shape[each])
    y = y.reshape(*(y.shape[each] if each == axis else x.shape[each] for each in range(x.rank)))
    first, second = x.shape[axis], y.shape[axis]
    if first == 0 or second == 0:
        return y if first == 0 else x
    if isinstance(first, int) and isinstance(second, int):
        front, back = x.pad_axis(axis, 0, second), y.pad_axis(axis, first, 0)
    elif second == 1:
        front = x.pad_axis(axis, 0, 1)
        back = y.expand(front.shape)
    else:
        return _written(placed(x, axis, 0, second), y, axis, first)
    place = x.builder.iota(ElementType.I64, front.shape, axis)
    return front.where(place < _number(x, first), back)


def stack(values: Sequence[Value], axis: int) -> Value:
    """Values of one shape side by side along a new axis."""
    return _joined([each.unsqueeze(axis) for each in values], axis)


def _joined(values: Sequence[Value], axis: int) -> Value:
    """Values one after another along an axis; halves are joined, so that no element asks for all of them."""
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    return concat(_joined(values[:half], axis), _joined(values[half:], axis), axis=axis)


def _continued(x: Value, axis: int, before: Dim, after: Dim, mode: str) -> Value:
    """An axis continued on both sides by its own elements: by pieces of it where numbers say which, or gathered."""
    extent = x.shape[axis]
    if extent == 0:
        raise TinycError("IndexOutOfBounds", f"mode {mode!r} continues axis {axis}, which has no element; it needs one")
    if isinstance(before, int) and isinstance(after, int) and isinstance(extent, int):
        longest = {"edge": max(before, after), "reflect": extent - 1, "wrap": extent}[mode]
        if max(before, after) <= longest:
            left, right = _pieces(x, axis, before, after, extent, mode)
            return concat(concat(left, x, axis=axis), right, axis=axis)
    place = x.builder.iota(ElementType.I64, (before + extent + after,), 0)
    place = place if before == 0 else place - _number(x, before)
    return x.gather(_SOURCES[mode](place, _number(x, extent)), axis)


def _pieces(x: Value, axis: int, before: int, after: int, extent: int, mode: str) -> tuple[Value, Value]:
    """What continues an axis to the left and to the right."""
    if mode == "wrap":
        return x.slice(axis, extent - before, extent), x.slice(axis, 0, after)
    if mode == "reflect":
        left, right = x.slice(axis, 1, 1 + before), x.slice(axis, extent - 1 - after, extent - 1)
        return left.flip(axis), right.flip(axis)

    def repeated(at: int, count: int) -> Value:
        shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
        return x.slice(axis, at, at + 1).expand(shape)

    return repeated(0, before), repeated(extent - 1, after)


def _edge(place: Value, extent: Value) -> Value:
    return place.apply("max", 0).apply("min", extent - 1)


def _wrap(place: Value, extent: Value) -> Value:
    return modulo(place, extent)


def _reflect(place: Value, extent: Value) -> Value:
    """There and back again is a period; of one element alone, 1."""
    period = ((extent - 1) * 2).apply("max", 1)
    forward = modulo(place, period)
    return forward.apply("min", period - forward).apply("min", extent - 1)


def modulo(place: Value, extent: Value) -> Value:
    """The rest of a division that is not negative; that of Tiny has the sign of the dividend."""
    rest = place.apply("mod", extent)
    return (rest + extent).where(rest < 0, rest)


_SOURCES = {"edge": _edge, "reflect": _reflect, "wrap": _wrap}


def _number(beside: Value, extent: Dim) -> Value:
    return beside.builder.extent(extent, ElementType.I64)
