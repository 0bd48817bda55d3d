"""Normalisations as formulas: two passes, mean first, then the mean of squared differences, in f32 or f64.

The variance as a difference of two means would lose all digits where the mean is large. What is computed in f32 for
16-bit floats is rounded once, at the end.
"""

from tinyc.diagnostics import TinycError
from tinyc.expr import extents
from tinyc.formulas.reductions import absolute, mean_of
from tinyc.formulas.schema import Function
from tinyc.formulas.value import Value
from tinyc.vocabulary.element_type import ElementType


def _wide(x: Value) -> Value:
    """A value in the type in which it is normalised."""
    if not x.element.is_float:
        raise TinycError("DtypeMismatch", f"a norm takes floats, and its operand is {x.element.json_name}; cast it")
    return x.to(x.element.accumulator)


def _moments(x: Value, axes: tuple[int, ...]) -> tuple[Value, Value, Value]:
    """The differences from the mean over axes, the mean and the variance; the axes stay, of extent 1."""
    mean = mean_of(x, axes, keep=True)
    centred = x - mean
    return centred, mean, mean_of(centred * centred, axes, keep=True)


def _per_channel(x: Value, beside: Value) -> Value:
    """A vector with an element for each index of axis 1, to stand beside `beside` in its type.

    Raises:
        TinycError: `AxisSizeMismatch`, `BroadcastMismatch`: it is none.
    """
    if x.rank != 1 or beside.rank < 2:
        message = f"{x.type} is no vector of the channels of {beside.type}, [batch, channels, spatial…]"
        raise TinycError("AxisSizeMismatch", f"{message}; reshape it")
    x.builder.assume_equal(x.shape[0], beside.shape[1])
    return x.to(beside.element).reshape(*x.shape, *(1,) * (beside.rank - 2))


def _from_axis(x: Value, axis: int) -> tuple[int, ...]:
    return tuple(range(x.axis(axis), x.rank))


def layer_norm(
    x: Value,
    scale: Value,
    bias: Value | None = None,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash: ElementType = ElementType.F32,
) -> tuple[Value, Value, Value]:
    """`(x - mean) / sqrt(variance + epsilon) * scale + bias` over the axes from `axis` on.

    Beside it the mean and the inverse of the deviation, in the type `stash`.
    """
    centred, mean, variance = _moments(_wide(x), _from_axis(x, axis))
    inverse = (variance + epsilon).apply("rsqrt")
    result = centred * inverse * scale.to(centred.element)
    if bias is not None:
        result = result + bias.to(centred.element)
    return result.to(x.element), mean.to(stash), inverse.to(stash)


def rms_norm(x: Value, scale: Value, *, axis: int = -1, epsilon: float = 1e-5) -> Value:
    """`x / sqrt(mean of x² + epsilon) * scale` over the axes from `axis` on."""
    wide = _wide(x)
    square = mean_of(wide * wide, _from_axis(x, axis), keep=True)
    return (wide * (square + epsilon).apply("rsqrt") * scale.to(wide.element)).to(x.element)


def group_norm(x: Value, scale: Value, bias: Value, *, groups: int, epsilon: float = 1e-5) -> Value:
    """Normalise the channels of `[batch, channels, spatial…]` in groups, with a scale and a bias for each channel."""
    wide = _wide(x)
    if x.rank < 2:
        raise TinycError("AxisSizeMismatch", f"group_norm takes [batch, channels, spatial…], not {x.type}; reshape it")
    batch, channels, *spatial = x.shape
    inside = extents.divide(extents.product((channels, *spatial)), groups) if groups > 0 else None
    if inside is None or extents.divide(channels, groups) is None:
        raise TinycError("AxisSizeMismatch", f"{channels} channels are not {groups} groups of them; choose a divisor")
    centred, _, variance = _moments(wide.reshape(batch, groups, inside), (2,))
    normalised = (centred * (variance + epsilon).apply("rsqrt")).reshape(*x.shape)
    return (normalised * _per_channel(scale, wide) + _per_channel(bias, wide)).to(x.element)


def instance_norm(x: Value, scale: Value, bias: Value, *, epsilon: float = 1e-5) -> Value:
    """Normalise each channel of each of `[batch, channels, spatial…]`."""
    wide = _wide(x)
    centred, _, variance = _moments(wide, tuple(range(2, x.rank)))
    normalised = centred * (variance + epsilon).apply("rsqrt")
    return (normalised * _per_channel(scale, wide) + _per_channel(bias, wide)).to(x.element)


def batch_norm(x: Value, scale: Value, bias: Value, mean: Value, variance: Value, *, epsilon: float = 1e-5) -> Value:
    """Normalise each channel of `[batch, channels, spatial…]` by a mean and a variance that are known."""
    wide = _wide(x)
    inverse = (_per_channel(variance, wide) + epsilon).apply("rsqrt")
    factor = inverse * _per_channel(scale, wide)
    return ((wide - _per_channel(mean, wide)) * factor + _per_channel(bias, wide)).to(x.element)


def batch_norm_training(
    x: Value,
    scale: Value,
    bias: Value,
    mean: Value,
    variance: Value,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
) -> tuple[Value, Value, Value]:
    """Normalise each channel by its own mean and variance over the batch.

    Beside it the running mean and variance: `running * momentum + own * (1 - momentum)`.
    """
    wide = _wide(x)
    centred, own_mean, own_variance = _moments(wide, (0, *range(2, x.rank)))
    normalised = centred * (own_variance + epsilon).apply("rsqrt")
    result = (normalised * _per_channel(scale, wide) + _per_channel(bias, wide)).to(x.element)
    running = [
        (old.to(wide.element) * momentum + own.reshape(*old.shape) * (1 - momentum)).to(old.element)
        for old, own in ((mean, own_mean), (variance, own_variance))
    ]
    return result, running[0], running[1]


def lp_norm(x: Value, *, axis: int = -1, p: int = 2) -> Value:
    """`x` by its p-norm along an axis, p 1 or 2; 0 where the norm is 0."""
    wide, axis = _wide(x), x.axis(axis)
    if p not in (1, 2):
        raise TinycError("InvalidAttribute", f"p is {p}; it is 1 or 2")
    terms = absolute(wide) if p == 1 else wide * wide
    summed = terms.reduce("sum", axis, keep=True)
    norm = summed if p == 1 else summed.apply("sqrt")
    return (wide / norm.where(~norm.equals(0), 1)).to(x.element)


def mean_variance_norm(x: Value, *, axes: tuple[int, ...]) -> Value:
    """`(x - mean) / (deviation + 1e-9)` over axes."""
    centred, _, variance = _moments(_wide(x), tuple(x.axis(axis) for axis in axes))
    return (centred / (variance.apply("sqrt") + 1e-9)).to(x.element)


def local_response_norm(x: Value, *, size: int, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0) -> Value:
    """`x / (bias + alpha / size * s)^beta`, where s is the sum of squares over `size` channels around each."""
    wide = _wide(x)
    if size < 1 or x.rank < 2:
        raise TinycError("InvalidAttribute", f"a norm over {size} channels of {x.type}: size must be positive")
    before = (size - 1) // 2
    windows = (wide * wide).pad_axis(1, before, size - 1 - before)
    kernel, ones = (size, *(1,) * (x.rank - 2)), (1,) * (x.rank - 1)
    summed = windows.windows(kernel, ones, ones).reduce("sum", *range(x.rank, 2 * x.rank - 1))
    return (wide * ((summed * (alpha / size) + bias).apply("log2") * -beta).apply("exp2")).to(x.element)


FORMULAS: dict[str, Function | dict[str, Function]] = {
    "layer_norm": layer_norm,
    "rms_norm": rms_norm,
    "group_norm": group_norm,
    "instance_norm": instance_norm,
    "batch_norm": batch_norm,
    "batch_norm_training": batch_norm_training,
    "lp_norm": lp_norm,
    "mean_variance_norm": mean_variance_norm,
    "local_response_norm": local_response_norm,
}
