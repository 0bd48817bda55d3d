"""Layer, rms, group, instance and batch norms; in f64."""

import numpy as np

from tinyc.executors.frontend.elementwise import NumpyFunctions
from tinyc.vocabulary.element_type import ElementType


def _standardised(x: np.ndarray, axes: tuple[int, ...], epsilon: float) -> np.ndarray:
    wide = x.astype(np.float64)
    return (wide - wide.mean(axes, keepdims=True)) / np.sqrt(wide.var(axes, keepdims=True) + epsilon)


def _channels(vector: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A vector along axis 1 of `x`."""
    return vector.astype(np.float64).reshape(1, -1, *[1] * (x.ndim - 2))


def _layer_norm(
    x: np.ndarray, scale: np.ndarray, bias: np.ndarray | None, axis: int, epsilon: float, stash: ElementType
) -> tuple[np.ndarray, ...]:
    axes = tuple(range(axis % x.ndim, x.ndim))
    wide = x.astype(np.float64)
    result = _standardised(x, axes, epsilon) * scale
    inverse = 1 / np.sqrt(wide.var(axes, keepdims=True) + epsilon)
    return result if bias is None else result + bias, wide.mean(axes, keepdims=True), inverse


def _rms_norm(x: np.ndarray, scale: np.ndarray, axis: int, epsilon: float) -> np.ndarray:
    axes = tuple(range(axis % x.ndim, x.ndim))
    return x / np.sqrt(np.mean(np.square(x.astype(np.float64)), axes, keepdims=True) + epsilon) * scale


def _group_norm(x: np.ndarray, scale: np.ndarray, bias: np.ndarray, groups: int, epsilon: float) -> np.ndarray:
    parts = np.split(x, groups, axis=1)
    axes = tuple(range(1, x.ndim))
    return _affine(np.concatenate([_standardised(part, axes, epsilon) for part in parts], axis=1), scale, bias)


def _affine(x: np.ndarray, scale: np.ndarray, bias: np.ndarray) -> np.ndarray:
    return x * _channels(scale, x) + _channels(bias, x)


def _instance_norm(x: np.ndarray, scale: np.ndarray, bias: np.ndarray, epsilon: float) -> np.ndarray:
    return _affine(_standardised(x, tuple(range(2, x.ndim)), epsilon), scale, bias)


def _batch_norm(
    x: np.ndarray, scale: np.ndarray, bias: np.ndarray, mean: np.ndarray, variance: np.ndarray, epsilon: float
) -> np.ndarray:
    deviation = np.sqrt(_channels(variance, x) + epsilon)
    return _affine((x - _channels(mean, x)) / deviation, scale, bias)


def _batch_norm_training(
    x: np.ndarray,
    scale: np.ndarray,
    bias: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    epsilon: float,
    momentum: float,
) -> tuple[np.ndarray, ...]:
    axes = (0, *range(2, x.ndim))
    wide = x.astype(np.float64)
    result = _affine(_standardised(x, axes, epsilon), scale, bias)
    running_mean = mean * momentum + wide.mean(axes) * (1 - momentum)
    return result, running_mean, variance * momentum + wide.var(axes) * (1 - momentum)


def _lp_norm(x: np.ndarray, axis: int, p: int) -> np.ndarray:
    norm = np.linalg.norm(x.astype(np.float64), ord=p, axis=axis, keepdims=True)
    return np.divide(x, norm, out=np.zeros(x.shape), where=norm != 0)


def _mean_variance_norm(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    wide = x.astype(np.float64)
    return (wide - wide.mean(axes, keepdims=True)) / (wide.std(axes, keepdims=True) + 1e-9)


def _local_response_norm(x: np.ndarray, size: int, alpha: float, beta: float, bias: float) -> np.ndarray:
    squares = np.square(x.astype(np.float64))
    result = np.empty(x.shape)
    for channel in range(x.shape[1]):
        first, last = max(0, channel - (size - 1) // 2), channel + size // 2
        around = squares[:, first : last + 1].sum(1)
        result[:, channel] = x[:, channel] / (bias + alpha / size * around) ** beta
    return result


IN_NUMPY: NumpyFunctions = {
    "layer_norm": _layer_norm,
    "rms_norm": _rms_norm,
    "group_norm": _group_norm,
    "instance_norm": _instance_norm,
    "batch_norm": _batch_norm,
    "batch_norm_training": _batch_norm_training,
    "lp_norm": _lp_norm,
    "mean_variance_norm": _mean_variance_norm,
    "local_response_norm": _local_response_norm,
}
