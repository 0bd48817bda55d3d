"""Reductions, and what is made of them along an axis."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tinyc.executors.frontend.elementwise import NumpyFunction, NumpyFunctions

# --- reductions -------------------------------------------------------------------------------------------------------


def _reduce(function: Callable[..., np.ndarray]) -> NumpyFunction:
    def reduce(x: np.ndarray, axes: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
        return np.asarray(function(x, axis=axes, keepdims=keepdims)).astype(x.dtype)

    return reduce


def _extreme(function: Callable[..., np.ndarray], floats: float, least: bool) -> NumpyFunction:
    """The greatest or the least, which over nothing is the neutral element."""

    def reduce(x: np.ndarray, axes: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
        if x.dtype == bool:
            initial: bool | float = not least
        elif x.dtype.kind in "iu":
            initial = np.iinfo(x.dtype).min if least else np.iinfo(x.dtype).max
        else:
            initial = floats
        return function(x, axis=axes, keepdims=keepdims, initial=initial)

    return reduce


def _mean(x: np.ndarray, axis: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        total = np.sum(x, axis=axis, keepdims=keepdims, dtype=np.float64 if x.dtype.kind == "f" else x.dtype)
        count = x.size if axis is None else np.prod([x.shape[each] for each in axis], dtype=np.int64)
        return np.trunc(total / count) if x.dtype.kind in "iu" else total / count


def _sum(x: np.ndarray, **options: Any) -> np.ndarray:
    return np.sum(x, dtype=np.float64 if x.dtype.kind == "f" else x.dtype, **options)


def _prod(x: np.ndarray, **options: Any) -> np.ndarray:
    return np.asarray(np.prod(x, dtype=np.float64 if x.dtype.kind == "f" else x.dtype, **options))


def _log(x: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(x)


def _log_sum_exp(x: np.ndarray, axis: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.asarray(np.logaddexp.reduce(x.astype(np.longdouble), axis=axis or None, keepdims=keepdims))


def _lp(x: np.ndarray, p: int, axes: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
    return np.sum(np.abs(x.astype(np.float64)) ** p, axis=axes, keepdims=keepdims) ** (1 / p)


def _logs(x: np.ndarray, axes: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
    if axes == ():
        return x
    axes = tuple(range(x.ndim)) if axes is None else axes
    return np.asarray(_log_sum_exp(x, axes, keepdims)).astype(x.dtype)


# --- along an axis ----------------------------------------------------------------------------------------------------


def _softmax(x: np.ndarray, axis: int) -> np.ndarray:
    terms = np.exp(x - x.max(axis=axis, keepdims=True))
    return terms / terms.sum(axis=axis, keepdims=True)


def _log_softmax(x: np.ndarray, axis: int) -> np.ndarray:
    wide = x.astype(np.float64)
    return wide - np.logaddexp.reduce(wide, axis=axis, keepdims=True)


def _hardmax(x: np.ndarray, axis: int) -> np.ndarray:
    result = np.zeros_like(x)
    np.put_along_axis(result, np.expand_dims(x.argmax(axis), axis), 1, axis)
    return result


def _cumulative(function: np.ufunc, neutral: int) -> NumpyFunction:
    def cumulative(x: np.ndarray, axis: int, exclusive: bool, reverse: bool) -> np.ndarray:
        line = np.moveaxis(x, axis, 0)[:: -1 if reverse else 1]
        if exclusive and len(line):
            line = np.concatenate([np.full_like(line[:1], neutral), line[:-1]])
        wide = np.float64 if x.dtype.kind == "f" else x.dtype
        result = function.accumulate(line, axis=0, dtype=wide)[:: -1 if reverse else 1]
        return np.moveaxis(result, 0, axis).astype(x.dtype)

    return cumulative


def _nll_loss(
    scores: np.ndarray, target: np.ndarray, weight: np.ndarray | None, ignore_index: int | None, reduction: str
) -> np.ndarray:
    losses, weights = np.zeros(target.shape), np.zeros(target.shape)
    for at in np.ndindex(target.shape):
        if target[at] != ignore_index:
            weights[at] = 1 if weight is None else weight[target[at]]
            losses[at] = -scores[at[0], target[at], *at[1:]] * weights[at]
    if reduction == "none":
        return losses
    return np.asarray(losses.sum() / (weights.sum() if reduction == "mean" else 1))


def _cross_entropy_loss(
    scores: np.ndarray, target: np.ndarray, weight: np.ndarray | None, ignore_index: int | None, reduction: str
) -> tuple[np.ndarray, np.ndarray]:
    logs = _log_softmax(scores, 1)
    return _nll_loss(logs, target, weight, ignore_index, reduction), logs


IN_NUMPY: NumpyFunctions = {
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "hardmax": _hardmax,
    "nll_loss": _nll_loss,
    "cross_entropy_loss": _cross_entropy_loss,
    "reduce": {
        "sum": _reduce(_sum),
        "max": _extreme(np.max, -np.inf, least=True),
        "min": _extreme(np.min, np.inf, least=False),
        "prod": _reduce(_prod),
        "mean": _reduce(_mean),
        "l1": _reduce(lambda x, **options: _sum(np.abs(x), **options)),
        "l2": _reduce(lambda x, **options: np.sqrt(_sum(np.square(x.astype(np.float64)), **options))),
        "lp": _lp,
        "sum_square": _reduce(lambda x, **options: _sum(np.square(x), **options)),
        "log_sum": _reduce(lambda x, **options: _log(_sum(x, **options))),
        "log_sum_exp": _logs,
    },
    "cumulative": {"sum": _cumulative(np.add, 0), "prod": _cumulative(np.multiply, 1)},
}
