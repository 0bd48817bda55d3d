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


#: More elements than are ever padded where their number is a symbol; that it is enough is checked in a run.
_FAR = 2**31


def placed(x: Value, axis: int, before: Dim, after: Dim, constant: float = 0) -> Value:
    """More elements before and after one axis.

    Where their numbers are symbolic, which a pad's are not, they are cut from more than there are ever: none of these
    is in memory, since they are conditions on an index.
    """
    if isinstance(before, int) and isinstance(after, int):
        return x.pad_axis(axis, before, after, constant)
    low, high = (each if isinstance(each, int) else _FAR for each in (before, after))
    return x.pad_axis(axis, low, high, constant).slice(axis, low - before, low + x.shape[axis] + after)


def concat(x: Value, y: Value, *, axis: int) -> Value:
    """The elements of `y` behind those of `x` along an axis.

    Where the index along the axis is below the extent of `x`, an element of `x` padded, elsewhere one of `y` padded.
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
    front = placed(x, axis, 0, second)
    back = y.expand(front.shape) if second == 1 else placed(y, axis, first, 0)
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
