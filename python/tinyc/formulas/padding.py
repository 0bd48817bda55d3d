"""Padding as formulas: constants, the edge, reflections or repetitions around a value."""

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
    """More elements before and after each axis: `constant`, or `value` if it is there; with a mode other than
    "constant", the nearest element ("edge"), the elements mirrored at it ("reflect") or repeated ("wrap")."""
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
    """More elements before and after one axis. Where their numbers are symbolic, which a pad's are not, each element is
    gathered: what is outside, from one more place that holds the constant."""
    if isinstance(before, int) and isinstance(after, int):
        return x.pad_axis(axis, before, after, constant)
    extent = x.shape[axis]
    place = x.builder.iota(ElementType.I64, (before + extent + after,), 0) - _number(x, before)
    end = _number(x, extent)
    inside = ~(place < 0) & (place < end)
    return x.pad_axis(axis, 0, 1, constant).gather(place.where(inside, end), axis)


def _continued(x: Value, axis: int, before: Dim, after: Dim, mode: str) -> Value:
    """An axis continued on both sides by its own elements, gathered."""
    extent = x.shape[axis]
    if extent == 0:
        raise TinycError("IndexOutOfBounds", f"mode {mode!r} continues axis {axis}, which has no element; it needs one")
    place = x.builder.iota(ElementType.I64, (before + extent + after,), 0) - _number(x, before)
    return x.gather(_SOURCES[mode](place, _number(x, extent)), axis)


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
