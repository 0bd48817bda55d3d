"""Pooling as formulas: reductions of sliding windows, of which no copy is made.

`x` is `[batch, channels, spatial…]`. `kernel`, `stride` and `dilation` have a number for each spatial axis, `pads` has
those before each axis, then those behind. With `ceil_mode` a last window may reach beyond the pads, unless it starts
there.
"""

import math
from dataclasses import dataclass

from tinyc.diagnostics import TinycError
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.formulas.reductions import power, root
from tinyc.formulas.schema import Function
from tinyc.formulas.value import Value
from tinyc.vocabulary.element_type import ElementType

#: Windows of more elements than 5 by 5 are reduced axis by axis.
_JOINT_TERMS = 25


@dataclass(frozen=True)
class _Axis:
    """The windows along one axis: `after` has what is padded beyond `pad_after`, `places` is how many there are."""

    extent: Dim
    kernel: int
    stride: int
    dilation: int
    before: int
    pad_after: int
    after: int
    places: Dim


def _axes(
    x: Value,
    kernel: tuple[int, ...],
    stride: tuple[int, ...] | None,
    dilation: tuple[int, ...] | None,
    pads: tuple[int, ...] | None,
    ceil_mode: bool,
) -> list[_Axis]:
    rank = len(kernel)
    strides, dilations, padded = stride or (1,) * rank, dilation or (1,) * rank, pads or (0,) * (2 * rank)
    if (len(strides), len(dilations), len(padded), x.rank) != (rank, rank, 2 * rank, rank + 2) or not rank:
        message = f"a kernel {list(kernel)} with stride {stride}, dilation {dilation} and pads {pads} on {x.type}"
        raise TinycError("InvalidAttribute", f"{message}; give one of each for each axis behind the first two")
    if min((*kernel, *strides, *dilations)) < 1:
        raise TinycError("InvalidAttribute", "kernel, stride and dilation must be positive")
    sizes = zip(x.shape[2:], kernel, strides, dilations, padded[:rank], padded[rank:], strict=True)
    return [
        _axis(extent, size, step, spread, before, after, ceil_mode)
        for extent, size, step, spread, before, after in sizes
    ]


def _axis(extent: Dim, kernel: int, stride: int, dilation: int, before: int, after: int, ceil_mode: bool) -> _Axis:
    span = dilation * (kernel - 1) + 1
    steps = extent + before + after - span
    if not ceil_mode or stride == 1:
        places = extents.floordiv(steps, stride) + 1
        return _Axis(extent, kernel, stride, dilation, before, after, after, places)
    if not isinstance(steps, int) or not isinstance(extent, int):
        if after + stride > span:  # the last window may start behind the last element
            message = f"the extent {extent} does not say whether the last window starts in a pad; bind it: "
            message += extents.bind_option(extent)
            raise TinycError("InvalidExtent", message)
        last = after + stride - 1
        return _Axis(extent, kernel, stride, dilation, before, after, last, extents.ceildiv(steps, stride) + 1)
    places = -(-steps // stride) + 1
    if (places - 1) * stride >= extent + before:
        places -= 1
    missing = (places - 1) * stride + span - (extent + before + after)
    return _Axis(extent, kernel, stride, dilation, before, after, after + max(0, missing), places)


def _windows(x: Value, axes: list[_Axis], value: float) -> Value:
    """`[batch, channels, places…, kernel…]`, with a value in the pads."""
    padded = x.pad([0, 0, *(each.before for each in axes)], [0, 0, *(each.after for each in axes)], value)
    windows = padded.windows(
        [each.kernel for each in axes], [each.stride for each in axes], [each.dilation for each in axes]
    )
    for axis, each in enumerate(axes, 2):
        if windows.shape[axis] != each.places:
            windows = windows.slice(axis, 0, each.places)
    return windows


def _reduced(x: Value, axes: list[_Axis], op: str, pad: float) -> Value:
    """What each window is reduced to; axis by axis where windows are so large that neighbours share what these give."""
    if math.prod(each.kernel for each in axes) <= _JOINT_TERMS:
        return _windows(x, axes, pad).reduce(op, *_taps(x))
    for at, each in reversed(list(enumerate(axes))):
        if each.kernel > 1 or each.stride > 1 or each.before or each.after:
            along = [each if other == at else _untouched(x.shape[2 + other]) for other in range(len(axes))]
            x = _windows(x, along, pad).reduce(op, *_taps(x))
    return x


def _untouched(extent: Dim) -> _Axis:
    """An axis each element of which is a window of its own."""
    return _Axis(extent, kernel=1, stride=1, dilation=1, before=0, pad_after=0, after=0, places=extent)


def _taps(x: Value) -> tuple[int, ...]:
    """The axes of windows that are the kernel's, where the operand is `x`."""
    return tuple(range(x.rank, 2 * x.rank - 2))


def _lowest(element: ElementType) -> float:
    return -math.inf if element.is_float else element.integer_range[0]


def max_pool(
    x: Value,
    *,
    kernel: tuple[int, ...],
    stride: tuple[int, ...] | None = None,
    dilation: tuple[int, ...] | None = None,
    pads: tuple[int, ...] | None = None,
    ceil_mode: bool = False,
) -> Value:
    """The greatest of each window; pads never are."""
    axes = _axes(x, kernel, stride, dilation, pads, ceil_mode)
    return _reduced(x, axes, "max", _lowest(x.element)).to(x.element)


def average_pool(
    x: Value,
    *,
    kernel: tuple[int, ...],
    stride: tuple[int, ...] | None = None,
    dilation: tuple[int, ...] | None = None,
    pads: tuple[int, ...] | None = None,
    ceil_mode: bool = False,
    count_include_pad: bool = False,
) -> Value:
    """The mean of each window: of its elements, and with `count_include_pad` of its pads."""
    if not x.element.is_float:
        raise TinycError("DtypeMismatch", f"a mean of windows takes floats, not {x.element.json_name}; cast it")
    axes = _axes(x, kernel, stride, dilation, pads, ceil_mode)
    summed = _reduced(x.to(x.element.accumulator), axes, "sum", 0)
    full = math.prod(kernel)
    if all(_always_full(each, count_include_pad) for each in axes):
        return (summed / float(full)).to(x.element)
    counts = None
    for axis, each in enumerate(axes):
        along = _count(x, each, count_include_pad).unsqueeze(*(at for at in range(len(axes)) if at != axis))
        counts = along if counts is None else counts * along
    assert counts is not None
    return (summed / counts.to(summed.element)).to(x.element)


def _always_full(axis: _Axis, count_include_pad: bool) -> bool:
    if count_include_pad:
        return axis.after == axis.pad_after
    return not axis.before and not axis.after


def _count(x: Value, axis: _Axis, count_include_pad: bool) -> Value:
    """How many taps of each window along an axis lie on elements, or on pads that count."""
    builder = x.builder
    start = builder.iota(ElementType.I64, (axis.places,), 0) * axis.stride - axis.before
    low, high = (-axis.before, axis.extent + axis.pad_after) if count_include_pad else (0, axis.extent)
    left = (low - start).apply("max", 0) + (axis.dilation - 1)  # by how much the window starts too early
    first = left.apply("idiv", axis.dilation)
    right = builder.extent(high, ElementType.I64) - start + (axis.dilation - 1)
    return right.apply("max", 0).apply("idiv", axis.dilation).apply("min", axis.kernel) - first


def lp_pool(
    x: Value,
    *,
    kernel: tuple[int, ...],
    stride: tuple[int, ...] | None = None,
    dilation: tuple[int, ...] | None = None,
    pads: tuple[int, ...] | None = None,
    ceil_mode: bool = False,
    p: int = 2,
) -> Value:
    """The p-norm of each window."""
    if not x.element.is_float:
        raise TinycError("DtypeMismatch", f"a norm of windows takes floats, not {x.element.json_name}; cast it")
    axes = _axes(x, kernel, stride, dilation, pads, ceil_mode)
    powers = power(x.to(x.element.accumulator), p)
    return root(_reduced(powers, axes, "sum", 0), p).to(x.element)


def max_pool_indices(
    x: Value,
    *,
    kernel: tuple[int, ...],
    stride: tuple[int, ...] | None = None,
    dilation: tuple[int, ...] | None = None,
    pads: tuple[int, ...] | None = None,
    ceil_mode: bool = False,
    column_major: bool = False,
) -> tuple[Value, Value]:
    """The greatest of each window, and where it is: its place in `x` in row-major order, the first of several.

    With `column_major` the spatial axes count from the first on.
    """
    axes = _axes(x, kernel, stride, dilation, pads, ceil_mode)
    windows = _windows(x, axes, _lowest(x.element))
    best = windows.reduce("max", *_taps(x)).to(x.element)
    place, is_inside = _places(x, axes, column_major)
    is_best = windows.equals(best.unsqueeze(*_taps(x))) & is_inside
    beyond = ElementType.I64.integer_range[1]
    return best, place.where(is_best, beyond).reduce("min", *_taps(x))


def _places(x: Value, axes: list[_Axis], column_major: bool) -> tuple[Value, Value]:
    """The place in `x` of what each tap of each window reads, and whether it is one of its elements."""
    builder, spatial = x.builder, len(axes)
    rank = x.rank + spatial

    def along(extent: Dim, axis: int) -> Value:
        return builder.iota(ElementType.I64, (extent,), 0).reshape(*(extent if at == axis else 1 for at in range(rank)))

    order = range(spatial) if column_major else reversed(range(spatial))
    place, is_inside, step = None, None, builder.full(1, ElementType.I64, ())
    for at in order:
        each = axes[at]
        index = along(each.places, 2 + at) * each.stride + along(each.kernel, x.rank + at) * each.dilation
        index = index - each.before
        extent = builder.extent(each.extent, ElementType.I64)
        inside = (index > -1) & (index < extent)
        place = index * step if place is None else place + index * step
        is_inside = inside if is_inside is None else is_inside & inside
        step = step * extent
    assert place is not None
    assert is_inside is not None
    channel = along(x.shape[0], 0) * builder.extent(x.shape[1], ElementType.I64) + along(x.shape[1], 1)
    return place + channel * step, is_inside


def max_unpool(x: Value, indices: Value, *, shape: tuple[Dim, ...], padded: tuple[Dim, ...] | None = None) -> Value:
    """Zeros of a shape, with each element of `x` at its place in row-major order, and zeros behind, up to `padded`."""
    if indices.shape != x.shape:
        raise TinycError("AxisSizeMismatch", f"the indices are {indices.type}, and the elements {x.type}")
    count, places = extents.product(x.shape), extents.product(shape)
    zeros = x.builder.full(0, x.element, (places,))
    index, updates = indices.to(ElementType.I64).reshape(count), x.reshape(count)
    result = x.builder.add("scatter", zeros, index, updates, axis=0, op="set").reshape(*shape)
    more = [large - small for large, small in zip(padded or shape, shape, strict=True)]
    if not all(isinstance(each, int) and each >= 0 for each in more):
        raise TinycError("AxisSizeMismatch", f"{list(padded or ())} is not {list(shape)} with more behind each axis")
    return result.pad([0] * x.rank, [each for each in more if isinstance(each, int)])


FORMULAS: dict[str, Function | dict[str, Function]] = {
    "pool": {"max": max_pool, "average": average_pool, "lp": lp_pool},
    "max_pool_indices": max_pool_indices,
    "max_unpool": max_unpool,
}
