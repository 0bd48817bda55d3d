"""Activations that are piecewise linear, or rational."""

import numpy as np

from tinyc.executors.frontend.elementwise import NumpyFunctions


def _hard_sigmoid(x: np.ndarray, alpha: float, beta: float) -> np.ndarray:
    return np.clip(x.astype(np.float64) * alpha + beta, 0, 1)


def _shrink(x: np.ndarray, lambd: float, bias: float) -> np.ndarray:
    wide = x.astype(np.float64)
    return np.select([wide < -lambd, wide > lambd, np.isnan(wide)], [wide + bias, wide - bias, 0], 0)


IN_NUMPY: NumpyFunctions = {
    "elementwise": {
        "hard_sigmoid": _hard_sigmoid,
        "hard_swish": lambda x: x * _hard_sigmoid(x, 1 / 6, 0.5),
        "leaky_relu": lambda x, alpha: np.where(x < 0, x * alpha, x),
        "prelu": lambda x, y: np.where(x < 0, x * y, x),
        "shrink": _shrink,
        "thresholded_relu": lambda x, alpha: np.where(x > alpha, x, 0),
        "softsign": lambda x: x / (1 + np.abs(x)),
    }
}
