"""Exponentials, hyperbolic functions and powers: numpy's, in f64."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tinyc.executors.frontend.elementwise import NumpyFunction, NumpyFunctions


def in_f64(function: Callable[..., Any]) -> NumpyFunction:
    """A function of floats that is computed in f64, whatever its operands are."""

    def wide(*operands: np.ndarray, **attributes: Any) -> np.ndarray:
        with np.errstate(all="ignore"):
            return function(*(each.astype(np.float64) for each in operands), **attributes)

    return wide


def _elu(x: np.ndarray, alpha: float) -> np.ndarray:
    return np.where(x < 0, alpha * np.expm1(np.minimum(x, 0)), x)


def _celu(x: np.ndarray, alpha: float) -> np.ndarray:
    return np.maximum(x, 0) + np.minimum(0, alpha * np.expm1(x / alpha))


def _softplus(x: np.ndarray) -> np.ndarray:
    return np.logaddexp(0, x)


def _power(x: np.ndarray, exponent: float) -> np.ndarray:
    if x.dtype.kind in "iu":
        return _pow(x, np.asarray(int(exponent) if exponent.is_integer() else exponent))
    return np.power(x.astype(np.float64), exponent)


def _pow(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Integers by Python's, which do not overflow; those of a negative exponent are truncated."""
    with np.errstate(all="ignore"):
        if x.dtype.kind == "f" or y.dtype.kind == "f":
            return np.power(x.astype(np.float64), y.astype(np.float64))
    one, other = np.broadcast_arrays(x, y)
    pairs = zip(one.ravel().tolist(), other.ravel().tolist(), strict=True)
    found = [base**exponent if exponent >= 0 else int(base**exponent) if base else 0 for base, exponent in pairs]
    wrapped = [each & (2 ** (x.itemsize * 8) - 1) for each in found]
    return np.asarray(wrapped, np.uint64).astype(x.dtype).reshape(one.shape)


IN_NUMPY: NumpyFunctions = {
    "elementwise": {
        "exp": in_f64(np.exp),
        "elu": in_f64(_elu),
        "celu": in_f64(_celu),
        "selu": in_f64(lambda x, alpha, gamma: gamma * _elu(x, alpha)),
        "softplus": in_f64(_softplus),
        "mish": in_f64(lambda x: x * np.tanh(_softplus(x))),
        "cosh": in_f64(np.cosh),
        "sinh": in_f64(np.sinh),
        "asinh": in_f64(np.arcsinh),
        "acosh": in_f64(np.arccosh),
        "atanh": in_f64(np.arctanh),
        "pow": _pow,
        "power": _power,
    }
}
