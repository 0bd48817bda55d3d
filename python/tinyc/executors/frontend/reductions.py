"""Reductions, and what is made of them along an axis."""

from collections.abc import Callable

import numpy as np

from tinyc.executors.frontend.elementwise import NumpyFunction, NumpyFunctions


def _reduce(function: Callable[..., np.ndarray]) -> NumpyFunction:
    def reduce(x: np.ndarray, axes: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
        return function(x, axis=axes, keepdims=keepdims)

    return reduce


def _softmax(x: np.ndarray, axis: int) -> np.ndarray:
    terms = np.exp(x - x.max(axis=axis, keepdims=True))
    return terms / terms.sum(axis=axis, keepdims=True)


FUNCTIONS: NumpyFunctions = {
    "softmax": _softmax,
    "reduce": {"sum": _reduce(np.sum), "max": _reduce(np.max), "min": _reduce(np.min), "prod": _reduce(np.prod)},
}
