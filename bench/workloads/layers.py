"""What networks are made of: functions from tensors to tensors.

16-bit floats are computed in fp32 between the contractions, and rounded once, as training frameworks do.
"""

import math

from .graph import Tensor

EPSILON = 1e-5
#: What a masked score is: exp of it is 0, and it is a number, so that a row of them gives no NaN.
MASKED = -1e30


# --- functions of an element ------------------------------------------------------------------------------------------


def gelu_tanh(x: Tensor) -> Tensor:
    """GELU in the tanh form: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x³)))."""
    inner = (x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)
    return x * 0.5 * (inner.apply("TANH") + 1.0)


def gelu_erf(x: Tensor) -> Tensor:
    """GELU as it is defined: x/2 (1 + erf(x / sqrt(2)))."""
    return x * 0.5 * ((x * math.sqrt(0.5)).apply("ERF") + 1.0)


def silu(x: Tensor) -> Tensor:
    """The product of x and sigmoid(x)."""
    return x * x.apply("SIGMOID")


# --- normalisation ----------------------------------------------------------------------------------------------------


def normalised(x: Tensor, *axes: int) -> Tensor:
    """The tensor less its mean along axes, by its standard deviation."""
    centred = x - x.spread("MEAN", *axes)
    variance = (centred * centred).spread("MEAN", *axes)
    return centred * (variance + EPSILON).apply("RSQRT")


def scaled(x: Tensor, gamma: Tensor, beta: Tensor, axis: int) -> Tensor:
    """Each index along an axis with its own factor gamma and summand beta."""
    return x * gamma.expand(x.shape, axis) + beta.expand(x.shape, axis)


def layer_norm(x: Tensor, gamma: Tensor, beta: Tensor) -> Tensor:
    """Normalise the last axis."""
    last = len(x.shape) - 1
    return scaled(normalised(x.wide, last), gamma.wide, beta.wide, last).to(x.dtype)


def rms_norm(x: Tensor, gamma: Tensor) -> Tensor:
    """Divide by the root of the mean square along the last axis."""
    wide, last = x.wide, len(x.shape) - 1
    inverse = ((wide * wide).spread("MEAN", last) + EPSILON).apply("RSQRT")
    return (wide * inverse * gamma.wide.expand(x.shape, last)).to(x.dtype)


def group_norm(x: Tensor, gamma: Tensor, beta: Tensor, groups: int) -> Tensor:
    """Normalise the channels of [N, C, H, W] in groups."""
    batch, channels, height, width = (int(extent) for extent in x.shape)
    grouped = x.wide.reshape(batch, groups, channels // groups * height * width)
    return scaled(normalised(grouped, 2).reshape(*x.shape), gamma.wide, beta.wide, 1).to(x.dtype)


def instance_norm(x: Tensor, gamma: Tensor, beta: Tensor) -> Tensor:
    """Normalise each channel of [N, C, H, W]."""
    return scaled(normalised(x.wide, 2, 3), gamma.wide, beta.wide, 1).to(x.dtype)


def batch_norm(x: Tensor, mean: Tensor, deviation: Tensor, gamma: Tensor, beta: Tensor) -> Tensor:
    """Normalise each channel by numbers that are known.

    They come with a deviation, whose square is the variance: so any input is a meaningful one.
    """
    inverse = (deviation.wide * deviation.wide + EPSILON).apply("RSQRT")
    centred = x.wide - mean.wide.expand(x.shape, 1)
    return scaled(centred * inverse.expand(x.shape, 1), gamma.wide, beta.wide, 1)


def log_softmax(x: Tensor) -> Tensor:
    """The logarithm of the softmax along the last axis: x - max - log(sum(exp(x - max)))."""
    wide, last = x.wide, len(x.shape) - 1
    centred = wide - wide.spread("MAX", last)
    total = centred.apply("EXP").reduce("SUM", last).apply("LOG")
    return (centred - total.expand(x.shape, *range(last))).to(x.dtype)


# --- rotary embedding -------------------------------------------------------------------------------------------------


def beside(left: Tensor, right: Tensor) -> Tensor:
    """Two tensors as one, along the last axis."""
    last = len(left.shape) - 1
    first, second = int(left.shape[last]), int(right.shape[last])
    return left.pad(last, 0, second) + right.pad(last, first, 0)


def rotated_halves(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Rotate each pair (i, i + D/2) of the last axis of [..., S, D] by an angle, whose cosine and sine are [S, D]."""
    last = len(x.shape) - 1
    depth = int(x.shape[last])
    wide = x.wide
    turned = beside(wide.shrink(last, depth // 2, depth).apply("NEG"), wide.shrink(last, 0, depth // 2))
    cosines, sines = (each.wide.expand(x.shape, last - 1, last) for each in (cosine, sine))
    return (wide * cosines + turned * sines).to(x.dtype)


def rotated_pairs(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Rotate each pair (2i, 2i + 1) of the last axis of [..., S, D] by an angle, whose cosine and sine are [S, D/2]."""
    last = len(x.shape) - 1
    pairs = x.wide.reshape(*x.shape[:last], int(x.shape[last]) // 2, 2)
    even, odd = (pairs.shrink(last + 1, k, k + 1) for k in (0, 1))
    angles = (each.wide.reshape(*each.shape, 1) for each in (cosine, sine))
    cosines, sines = (each.expand(even.shape, last - 1, last, last + 1) for each in angles)
    turned = beside(even * cosines - odd * sines, even * sines + odd * cosines)
    return turned.reshape(*x.shape).to(x.dtype)


# --- contractions -----------------------------------------------------------------------------------------------------


def linear(x: Tensor, weights: Tensor) -> Tensor:
    """The last axis times weights [K, N], in fp32 for 16-bit floats."""
    *lead, inner = x.shape
    joint, last = (*lead, weights.shape[1], inner), len(lead)
    product = x.expand(joint, *range(last), last + 1) * weights.permute(1, 0).expand(joint, last, last + 1)
    return product.reduce("SUM", last + 1)


def biased(x: Tensor, bias: Tensor) -> Tensor:
    """A row with a bias, in the type of the row."""
    return x + bias.to(x.dtype).expand(x.shape, len(x.shape) - 1)


def matmul(left: Tensor, right: Tensor) -> Tensor:
    """The products of the matrices in the last two axes, in fp32 for 16-bit floats."""
    dtype = "fp32" if left.dtype in ("fp16", "bf16") else left.dtype
    return left.graph.add(dtype, (*left.shape[:-1], right.shape[-1]), "MATMUL", left, right, dtype=dtype)


def convolution(x: Tensor, weights: Tensor, pad: int, stride: int = 1) -> Tensor:
    """[N, Cin, H, W] with weights [Cout, Cin, KH, KW], in fp32 for 16-bit floats."""
    kernel = [int(extent) for extent in weights.shape[2:]]
    padded = x.pad(2, pad, pad).pad(3, pad, pad) if pad else x
    windows = padded.windows(kernel, stride)
    batch, channels, height, width = windows.shape[:4]
    joint = (batch, weights.shape[0], height, width, channels, *kernel)
    placed = windows.permute(0, 2, 3, 1, 4, 5).expand(joint, 0, 2, 3, 4, 5, 6)
    return (placed * weights.expand(joint, 1, 4, 5, 6)).reduce("SUM", 4, 5, 6)


def softmax(x: Tensor) -> Tensor:
    """Weights along the last axis."""
    return x.apply("SOFTMAX")


def causal_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention of [B, H, S, D] in which a row sees itself and the rows before it, in the type of the query."""
    depth = int(query.shape[3])
    scores = matmul(query, key.permute(0, 1, 3, 2)) * (1 / math.sqrt(depth))
    rows, columns = (query.graph.iota("i32", scores.shape[2:], axis) for axis in (0, 1))
    visible = columns.less(rows + 1).expand(scores.shape, 2, 3)
    weights = softmax(scores.where(visible, MASKED)).to(value.dtype)
    return matmul(weights, value).to(query.dtype)
