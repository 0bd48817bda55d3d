"""Convolutions as formulas, and the fold of windows: sums over windows that nothing materialises.

A convolution is a product of windows of the padded image with the weights, summed over channels and kernel: a
contraction of the pattern `conv`. Sums are formed in f32 for 16-bit floats, the bias is added to them, and the result
is rounded once. Source: specification 000 §3.5.
"""

import math
from collections.abc import Sequence

from tinyc.diagnostics import TinycError
from tinyc.expr.extents import Dim, bind_option
from tinyc.formulas.products import product_accumulator
from tinyc.formulas.schema import Function
from tinyc.formulas.value import Value


def conv(
    x: Value,
    w: Value,
    bias: Value | None = None,
    *,
    strides: tuple[int, ...] = (),
    dilations: tuple[int, ...] = (),
    pads: tuple[int, ...] = (),
    groups: int = 1,
    layout: str = "nchw",
    algo_set: str | None = None,
) -> Value:
    """The convolution of `x[batch, channels, spatial…]` with `w[filters, channels / groups, kernel…]`.

    With `layout = "nhwc"` the channels of `x` and of the result are the last axis. `pads` are those before each spatial
    axis, then those after. `algo_set` names the algorithms that a plan may choose from; the numbers are the same.
    """
    spatial = _check(x, w, groups)
    pads, strides = _each(pads, 2 * spatial, 0), _steps(strides, spatial, "strides")
    windows = _channels_first(x, layout)
    _match_channels(x, windows.shape[1], w, w.shape[1] * groups, groups)
    windows = windows.pad((0, 0, *pads[:spatial]), (0, 0, *pads[spatial:]))
    windows = windows.windows(_kernel(w), strides, _steps(dilations, spatial, "dilations"))
    filters = _divided(w.shape[0], groups, "filters")
    total = _summed(windows, w.reshape(groups, filters, *w.shape[1:]))
    return _layout(_with_bias(total, bias, w.shape[0], (1,)).to(x.element), layout)


def conv_transpose(
    x: Value,
    w: Value,
    bias: Value | None = None,
    *,
    strides: tuple[int, ...] = (),
    dilations: tuple[int, ...] = (),
    pads: tuple[int, ...] = (),
    output_padding: tuple[int, ...] = (),
    groups: int = 1,
    layout: str = "nchw",
) -> Value:
    """The adjoint of a convolution, of `x[batch, channels, spatial…]` and `w[channels, filters / groups, kernel…]`.

    `pads` are cut off the result, and `output_padding` is added behind it. It is a convolution of `x` with the weights
    reversed. With strides, the places of the result that are a stride apart, a phase, take each its own of the weights:
    phases are filters beside each other, and no zeros stand between the elements of `x`.
    """
    spatial = _check(x, w, groups)
    strides, spread = _steps(strides, spatial, "strides"), list(_steps(dilations, spatial, "dilations"))
    pads, behind = _each(pads, 2 * spatial, 0), _each(output_padding, spatial, 0)
    kernel = _kernel(w)
    channels, filters = _divided(w.shape[0], groups, "channels"), w.shape[1]
    image, weights = _channels_first(x, layout), w.reshape(groups, channels, *w.shape[1:])
    _match_channels(x, image.shape[1], w, w.shape[0], 1)
    kept: list[tuple[Dim, Dim]] = []  # of each axis of the result: from where on, and how much
    for axis, (stride, size) in enumerate(zip(strides, kernel, strict=True)):
        reach = spread[axis] * (size - 1)
        after = behind[axis] - pads[spatial + axis]
        extent = (image.shape[2 + axis] - 1) * stride + reach + 1 - pads[axis] + after
        if stride == 1:
            image = _margins(image, 2 + axis, reach - pads[axis], reach + after)
            kept.append((0, extent))
            continue
        if spread[axis] > 1:
            weights = _spread(weights, 3 + axis, spread[axis]).slice(3 + axis, 0, reach + 1)
            spread[axis] = 1
        taps = reach // stride + 1
        first = max(-(pads[axis] // stride), 0)
        last = max(-((taps * stride - reach - 1 - after) // stride), 0)
        image = _margins(image, 2 + axis, taps - 1 + first, taps - 1 + last)
        kept.append((pads[axis] + first * stride, extent))
    weights, phases = _phases(weights, strides)
    taken = tuple(size for size in weights.shape[weights.rank - spatial :] if isinstance(size, int))
    windows = image.windows(taken, (1,) * spatial, spread)
    total = _summed(windows, weights)
    if not phases:
        return _layout(_with_bias(total, bias, groups * filters, (1,)).to(x.element), layout)
    total = total.reshape(x.shape[0], groups, *phases, filters, *windows.shape[2 : 2 + spatial])
    result = _with_bias(total, bias, groups * filters, (1, 2 + len(phases))).to(x.element)
    return _layout(_phases_joined(result, strides, kept), layout)


def _phases(weights: Value, strides: Sequence[int]) -> tuple[Value, tuple[int, ...]]:
    """`[groups, channels, filters, kernel…]` reversed, as `[groups, phases…, filters, channels, taps…]`.

    An axis with a stride has a phase for each place within it, and every so many of the kernel are its taps.
    """
    order: list[int] = []
    phases: list[int] = []
    for axis, stride in enumerate(strides):
        at = 3 + axis + len(phases)
        order.append(at)
        if stride > 1:
            size = weights.shape[at]
            assert isinstance(size, int)  # a kernel's
            taps = -(-size // stride)
            weights = weights.pad_axis(at, 0, taps * stride - size)
            weights = weights.reshape(*weights.shape[:at], taps, stride, *weights.shape[at + 1 :])
            phases.append(at + 1)
    weights = weights.flip(*order)
    sizes = tuple(stride for stride in strides if stride > 1)
    return weights.permute(0, *phases, 2, 1, *order), sizes


def _phases_joined(x: Value, strides: Sequence[int], kept: Sequence[tuple[Dim, Dim]]) -> Value:
    """`[batch, groups, phases…, filters, places…]` with phases beside each other, as `[batch, filters, places…]`."""
    count = sum(stride > 1 for stride in strides)
    phases = iter(range(2, 2 + count))
    order, shape = [0, 1, 2 + count], [x.shape[0], x.shape[1] * x.shape[2 + count]]
    for axis, stride in enumerate(strides):
        place = 3 + count + axis
        order += [place, next(phases)] if stride > 1 else [place]
        shape.append(x.shape[place] * stride)
    x = x.permute(*order).reshape(*shape)
    for axis, (low, extent) in enumerate(kept):
        x = x.slice(2 + axis, low, low + extent)
    return x


def fold_windows(
    x: Value,
    *,
    shape: tuple[int, ...],
    kernel: tuple[int, ...],
    strides: tuple[int, ...] = (),
    dilations: tuple[int, ...] = (),
    pads: tuple[int, ...] = (),
) -> Value:
    """Windows laid over each other and summed (col2im): the adjoint of sliding windows over an image that is padded.

    `x` is `[batch, channels · kernel, windows]`, the result `[batch, channels, shape…]`.
    """
    spatial = len(shape)
    strides, dilations = _steps(strides, spatial, "strides"), _steps(dilations, spatial, "dilations")
    kernel = _steps(kernel, len(kernel), "the kernel")
    pads = _each(pads, 2 * spatial, 0)
    if x.rank != 3 or len(kernel) != spatial:
        message = f"fold takes [batch, channels * kernel, windows] and a kernel of {spatial} axes, not {x.type}"
        raise TinycError("AxisSizeMismatch", f"{message} and {list(kernel)}")
    counts: list[int] = []
    for axis, (extent, size) in enumerate(zip(shape, kernel, strict=True)):
        free = extent + pads[axis] + pads[spatial + axis] - dilations[axis] * (size - 1) - 1
        if free < 0:
            raise TinycError("WindowTooLarge", f"a window of {size} elements does not fit axis {axis} of {list(shape)}")
        counts.append(free // strides[axis] + 1)
    rows = x.reshape(x.shape[0], _divided(x.shape[1], math.prod(kernel), "rows"), *kernel, *counts)
    for axis in range(spatial):
        # Axes 2 … are taps, then windows, of the axes that are left; behind them, positions and taps of those done.
        left = spatial - axis
        kept = [each for each in range(rows.rank) if each not in (2, 2 + left)]
        rows = rows.permute(*kept, 2, 2 + left)
        rows = _skewed(rows, shape[axis], strides[axis], dilations[axis], pads[axis])
    summed = range(3, rows.rank, 2)
    if x.element.is_bool:
        return rows.reduce("max", *summed)
    return rows.reduce("sum", *summed, element=product_accumulator(x.element)).to(x.element)


# --- what they share --------------------------------------------------------------------------------------------------


def _summed(windows: Value, weights: Value) -> Value:
    """The sums of windows by weights, `[groups, phases…, filters, channels, kernel…]`.

    Windows are `[batch, groups · channels, places…, kernel…]`, the result `[batch, groups · filters, places…]`; where
    there are phases, groups (of several), phases and filters are an axis each.
    """
    spatial = (windows.rank - 2) // 2
    groups, *own, channels = weights.shape[: weights.rank - spatial]
    places, kernel = windows.shape[2 : 2 + spatial], weights.shape[weights.rank - spatial :]
    batch = windows.shape[0]
    element = product_accumulator(windows.element)
    lead: list[Dim] = [groups] if groups != 1 else []  # an axis of one group would be one more to loop over
    joint = (batch, *lead, *own, *places, channels, *kernel)
    summed = range(len(joint) - 1 - spatial, len(joint))
    grouped = windows.reshape(batch, *lead, channels, *windows.shape[2:])
    front = 1 + len(lead)
    ordered = grouped.permute(
        *range(front), *range(front + 1, front + 1 + spatial), front, *range(front + 1 + spatial, grouped.rank)
    )
    placed = ordered.expand(joint, (*range(front), *range(front + len(own), len(joint))))
    spread = weights.reshape(*lead, *weights.shape[1:]).expand(joint, (*range(1, front + len(own)), *summed))
    total = (placed * spread).reduce("sum", *summed, element=element)
    return total if len(own) > 1 else total.reshape(batch, groups * own[0], *places)


def _with_bias(total: Value, bias: Value | None, filters: Dim, axes: tuple[int, ...]) -> Value:
    """A sum with a number added for each filter, which `axes` are the axes of."""
    if bias is None:
        return total
    if bias.rank != 1:
        raise TinycError("AxisSizeMismatch", f"the bias is a number for each filter, not {bias.type}")
    total.builder.assume_equal(bias.shape[0], filters, f"the elements of the bias {bias.type} and the filters")
    each = bias.to(total.element).reshape(*(total.shape[axis] for axis in axes))
    return total + each.expand(total.shape, axes)


def _spread(x: Value, axis: int, stride: int) -> Value:
    """`stride - 1` zeros behind each element of an axis."""
    if stride == 1:
        return x
    shape = x.shape
    x = x.unsqueeze(axis + 1).pad_axis(axis + 1, 0, stride - 1)
    return x.reshape(*shape[:axis], shape[axis] * stride, *shape[axis + 1 :])


def _margins(x: Value, axis: int, before: int, after: int) -> Value:
    """Zeros before and after an axis; where a number is negative, that many elements are cut off."""
    x = x.pad_axis(axis, max(before, 0), max(after, 0))
    low, high = max(-before, 0), x.shape[axis] - max(-after, 0)
    return x.slice(axis, low, high)


def _skewed(x: Value, extent: int, stride: int, dilation: int, pad: int) -> Value:
    """`[…, taps, windows]` as `[…, positions, taps]`: the rows of the taps behind each other, read with a skew."""
    x = _spread(x, x.rank - 1, stride)
    *lead, taps, length = x.shape
    if not isinstance(taps, int) or not isinstance(length, int):
        message = f"fold needs the number of windows, which is {length}; bind it: {bind_option(taps, length)}"
        raise TinycError("InvalidExtent", message)
    margin = max(dilation * (taps - 1), pad + extent - length)
    row = length + margin
    x = x.pad_axis(x.rank - 1, 0, margin).reshape(*lead, taps * row)
    x = x.windows((taps,), (1,), (row - dilation if taps > 1 else 1,))
    return x.slice(x.rank - 2, pad, pad + extent)


def _check(x: Value, w: Value, groups: int) -> int:
    """The number of spatial axes."""
    if x.rank != w.rank or x.rank < 3:
        message = f"a convolution takes an image [batch, channels, spatial…] and weights of its rank, not {x.type}"
        raise TinycError("AxisSizeMismatch", f"{message} and {w.type}")
    if groups < 1:
        raise TinycError("InvalidAttribute", f"groups is {groups}; it is at least 1")
    if x.element != w.element:
        raise TinycError("DtypeMismatch", f"the image is {x.type} and the weights are {w.type}; cast one of them")
    return x.rank - 2


def _match_channels(x: Value, channels: Dim, w: Value, taken: Dim, groups: int) -> None:
    """State that an image has the channels that the weights take."""
    of_groups = f" in {groups} groups" if groups > 1 else ""
    what = f"the channels of the image {x.type} and those of the weights {w.type}{of_groups}"
    x.builder.assume_equal(channels, taken, what)


def _kernel(w: Value) -> tuple[int, ...]:
    kernel = tuple(each for each in w.shape[2:] if isinstance(each, int))
    if len(kernel) != w.rank - 2:
        message = f"the kernel {list(map(str, w.shape[2:]))} must be numbers; bind it: {bind_option(*w.shape[2:])}"
        raise TinycError("InvalidExtent", message)
    return kernel


def _each(values: Sequence[int], count: int, default: int) -> tuple[int, ...]:
    """A number for each spatial axis, or the default for all."""
    if values and len(values) != count:
        raise TinycError("InvalidAttribute", f"{list(values)} has {len(values)} numbers; there must be {count}")
    return tuple(values) or (default,) * count


def _steps(values: Sequence[int], count: int, what: str) -> tuple[int, ...]:
    """A number above 0 for each spatial axis, 1 for all by default."""
    if min(values, default=1) < 1:
        raise TinycError("InvalidAttribute", f"{list(values)} is given for {what}; each number is at least 1")
    return _each(values, count, 1)


def _divided(extent: Dim, by: int, what: str) -> Dim:
    if isinstance(extent, int) and extent % by:
        raise TinycError("AxisSizeMismatch", f"the {extent} {what} are no multiple of {by}")
    return extent // by


def _channels_first(x: Value, layout: str) -> Value:
    if layout not in ("nchw", "nhwc"):
        raise TinycError("InvalidAttribute", f"layout is {layout!r}; it is 'nchw' or 'nhwc'")
    return x.permute(0, x.rank - 1, *range(1, x.rank - 1)) if layout == "nhwc" else x


def _layout(x: Value, layout: str) -> Value:
    return x.permute(0, *range(2, x.rank), 1) if layout == "nhwc" else x


FORMULAS: dict[str, Function] = {"conv": conv, "conv_transpose": conv_transpose, "fold": fold_windows}
