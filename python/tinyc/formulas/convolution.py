"""Convolutions as formulas, and the fold of windows: sums over windows that nothing materialises.

A convolution is a product of windows of the padded image with the weights, summed over channels and kernel: a
contraction of the pattern `conv`. Sums are formed in f32 for 16-bit floats, the bias is added to them, and the result
is rounded once. Source: specification 000 §3.5.
"""

from collections.abc import Sequence

from tinyc.diagnostics import TinycError
from tinyc.expr.extents import Dim
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
    pads, strides = _each(pads, 2 * spatial, 0), _each(strides, spatial, 1)
    windows = _channels_first(x, layout)
    windows = windows.pad((0, 0, *pads[:spatial]), (0, 0, *pads[spatial:]))
    windows = windows.windows(_kernel(w), strides, _each(dilations, spatial, 1))
    filters = _divided(w.shape[0], groups, "filters")
    weights = w.reshape(groups, filters, *w.shape[1:])
    return _layout(_with_bias(_summed(windows, weights), bias).to(x.element), layout)


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

    A convolution of the elements of `x` at a distance of `strides`, with zeros between them, with the weights reversed.
    `pads` are cut off the result, and `output_padding` is added behind it.
    """
    spatial, kernel = _check(x, w, groups, transposed=True), _kernel(w)
    dilations, pads = _each(dilations, spatial, 1), _each(pads, 2 * spatial, 0)
    behind = _each(output_padding, spatial, 0)
    image = _channels_first(x, layout)
    for axis, stride in enumerate(_each(strides, spatial, 1)):
        reach = dilations[axis] * (kernel[axis] - 1)
        image = _spread(image, 2 + axis, stride)
        after = reach - pads[spatial + axis] + behind[axis] - (stride - 1)
        image = _margins(image, 2 + axis, reach - pads[axis], after)
    windows = image.windows(kernel, (1,) * spatial, dilations)
    channels = _divided(w.shape[0], groups, "channels")
    weights = w.flip(*range(2, w.rank)).reshape(groups, channels, w.shape[1], *kernel)
    weights = weights.permute(0, 2, 1, *range(3, weights.rank))
    return _layout(_with_bias(_summed(windows, weights), bias).to(x.element), layout)


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
    strides, dilations = _each(strides, spatial, 1), _each(dilations, spatial, 1)
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
    taps = 1
    for size in kernel:
        taps *= size
    rows = x.reshape(x.shape[0], _divided(x.shape[1], taps, "rows"), *kernel, *counts)
    for axis in range(spatial):
        left = (
            spatial - axis
        )  # taps, then windows, of the axes that are left; behind them positions and taps of those done
        kept = [each for each in range(rows.rank) if each not in (2, 2 + left)]
        rows = rows.permute(*kept, 2, 2 + left)
        rows = _skewed(rows, shape[axis], strides[axis], dilations[axis], pads[axis])
    summed = range(3, rows.rank, 2)
    if x.element.is_bool:
        return rows.reduce("max", *summed)
    return rows.reduce("sum", *summed, element=product_accumulator(x.element)).to(x.element)


# --- what they share --------------------------------------------------------------------------------------------------


def _summed(windows: Value, weights: Value) -> Value:
    """Windows `[batch, groups · channels, places…, kernel…]` by weights `[groups, filters, channels, kernel…]`."""
    groups, filters, channels, *kernel = weights.shape
    places = windows.shape[2 : windows.rank - len(kernel)]
    batch, count = windows.shape[0], len(places)
    windows.builder.assume_equal(windows.shape[1], groups * channels)
    element = product_accumulator(windows.element)
    if groups == 1:
        ordered = windows.permute(0, *range(2, 2 + count), 1, *range(2 + count, windows.rank))
        joint = (batch, filters, *places, channels, *kernel)
        placed = ordered.expand(joint, (0, *range(2, len(joint))))
        spread = weights.reshape(*weights.shape[1:]).expand(joint, (1, *range(2 + count, len(joint))))
        return (placed * spread).reduce("sum", *range(2 + count, len(joint)), element=element)
    grouped = windows.reshape(batch, groups, channels, *windows.shape[2:])
    ordered = grouped.permute(0, 1, *range(3, 3 + count), 2, *range(3 + count, grouped.rank))
    joint = (batch, groups, filters, *places, channels, *kernel)
    placed = ordered.expand(joint, (0, 1, *range(3, len(joint))))
    spread = weights.expand(joint, (1, 2, *range(3 + count, len(joint))))
    total = (placed * spread).reduce("sum", *range(3 + count, len(joint)), element=element)
    return total.reshape(batch, groups * filters, *places)


def _with_bias(total: Value, bias: Value | None) -> Value:
    """A sum with a number added for each channel."""
    if bias is None:
        return total
    if bias.rank != 1:
        raise TinycError("AxisSizeMismatch", f"the bias is a number for each filter, not {bias.type}")
    total.builder.assume_equal(bias.shape[0], total.shape[1])
    return total + bias.to(total.element).expand(total.shape, (1,))


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
        raise TinycError("InvalidExtent", f"fold needs the number of windows, which is {length}; bind its symbols")
    margin = max(dilation * (taps - 1), pad + extent - length)
    row = length + margin
    x = x.pad_axis(x.rank - 1, 0, margin).reshape(*lead, taps * row)
    x = x.windows((taps,), (1,), (row - dilation if taps > 1 else 1,))
    return x.slice(x.rank - 2, pad, pad + extent)


def _check(x: Value, w: Value, groups: int, transposed: bool = False) -> int:
    """The number of spatial axes."""
    if x.rank != w.rank or x.rank < 3:
        message = f"a convolution takes an image [batch, channels, spatial…] and weights of its rank, not {x.type}"
        raise TinycError("AxisSizeMismatch", f"{message} and {w.type}")
    if groups < 1:
        raise TinycError("InvalidAttribute", f"groups is {groups}; it is at least 1")
    if x.element != w.element:
        raise TinycError("DtypeMismatch", f"the image is {x.type} and the weights are {w.type}; cast one of them")
    return x.rank - 2


def _kernel(w: Value) -> tuple[int, ...]:
    kernel = tuple(each for each in w.shape[2:] if isinstance(each, int))
    if len(kernel) != w.rank - 2:
        raise TinycError("InvalidExtent", f"the kernel {list(map(str, w.shape[2:]))} must be numbers; bind its symbols")
    return kernel


def _each(values: Sequence[int], count: int, default: int) -> tuple[int, ...]:
    """A number for each spatial axis, or the default for all."""
    if values and len(values) != count:
        raise TinycError("InvalidAttribute", f"{list(values)} has {len(values)} numbers; there must be {count}")
    return tuple(values) or (default,) * count


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
