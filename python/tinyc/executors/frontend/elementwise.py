"""Element-wise functions."""

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

#: A function of arrays: operands by place, attributes by name.
NumpyFunction: TypeAlias = Callable[..., np.ndarray | tuple[np.ndarray, ...]]
NumpyFunctions: TypeAlias = Mapping[str, NumpyFunction | Mapping[str, NumpyFunction]]

_erf = np.vectorize(math.erf, otypes=[np.float64])


def _gelu(x: np.ndarray, approximate: str) -> np.ndarray:
    wide = x.astype(np.float64)
    if approximate == "tanh":
        return 0.5 * wide * (1 + np.tanh(math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3)))
    return 0.5 * wide * (1 + _erf(wide / math.sqrt(2)))


def _quotient(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """By way of Python's integers, which do not overflow; a division by 0 gives 0."""
    pairs = np.broadcast(x, y)
    found = [0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) for a, b in _numbers(x, y)]
    return np.asarray(found, object).reshape(pairs.shape).astype(np.int64 if x.dtype.kind == "i" else np.uint64)


def _numbers(x: np.ndarray, y: np.ndarray) -> list[tuple[int, int]]:
    one, other = np.broadcast_arrays(x, y)
    return list(zip(one.ravel().tolist(), other.ravel().tolist(), strict=True))


def _shift(x: np.ndarray, y: np.ndarray, function: Callable[..., np.ndarray], outside: Any) -> np.ndarray:
    is_place = (y >= 0) & (y < x.itemsize * 8)
    return np.where(is_place, function(x, np.where(is_place, y, 0).astype(y.dtype)), outside).astype(x.dtype)


def _modulo(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if x.dtype.kind == "f":
        return np.mod(x, y)
    found = [a if b == 0 else a % b for a, b in _numbers(x, y)]
    return np.asarray(found, object).reshape(np.broadcast(x, y).shape).astype(x.dtype)


def _fmod(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if x.dtype.kind == "f":
        return np.fmod(x, y)
    return np.where(y == 0, x, np.fmod(x, np.where(y == 0, 1, y))).astype(x.dtype)


def _is_inf(x: np.ndarray, detect_negative: bool, detect_positive: bool) -> np.ndarray:
    return (np.isneginf(x) & detect_negative) | (np.isposinf(x) & detect_positive)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    small = np.exp(-np.abs(x.astype(np.float64)))  # which does not overflow
    return np.where(x < 0, small, 1) / (1 + small)


IN_NUMPY: NumpyFunctions = {
    "elementwise": {
        "neg": np.negative,
        "exp2": np.exp2,
        "log2": np.log2,
        "sqrt": np.sqrt,
        "rsqrt": lambda x: 1 / np.sqrt(x),
        "recip": lambda x: 1 / x,
        "relu": lambda x: np.maximum(x, 0),
        "sin": np.sin,
        "erf": lambda x: _erf(x),
        "tanh": np.tanh,
        "floor": np.floor,
        "not": np.invert,
        "add": np.add,
        "sub": np.subtract,
        "mul": np.multiply,
        "fdiv": np.divide,
        "idiv": _quotient,
        "mod": _fmod,
        "max": np.maximum,
        "min": np.minimum,
        "and": np.bitwise_and,
        "or": np.bitwise_or,
        "xor": np.bitwise_xor,
        "cmp_lt": np.less,
        "cmp_eq": np.equal,
        "abs": np.abs,
        "sign": np.sign,
        "modulo": _modulo,
        "fmod": _fmod,
        "shift_left": lambda x, y: _shift(x, y, np.left_shift, 0),
        "shift_right": lambda x, y: _shift(x, y, np.right_shift, np.where(x < 0, -1, 0)),
        "cmp_le": np.less_equal,
        "is_nan": np.isnan,
        "is_inf": _is_inf,
        "ceil": np.ceil,
        "round": np.rint,
        "log": np.log,
        "sigmoid": _sigmoid,
        "silu": lambda x: x * _sigmoid(x),
        "swish": lambda x, alpha: x * _sigmoid(x * alpha),
        "swiglu": lambda x, y, alpha: x * _sigmoid(x * alpha) * y,
        "gelu": _gelu,
    },
    "where": np.where,
}
