"""Element-wise functions."""

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

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


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x.astype(np.float64)))


FUNCTIONS: NumpyFunctions = {
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
        "idiv": lambda x, y: np.trunc(x / y),
        "mod": np.mod,
        "max": np.maximum,
        "min": np.minimum,
        "and": np.bitwise_and,
        "or": np.bitwise_or,
        "xor": np.bitwise_xor,
        "cmp_lt": np.less,
        "cmp_eq": np.equal,
        "exp": np.exp,
        "log": np.log,
        "sigmoid": _sigmoid,
        "silu": lambda x: x * _sigmoid(x),
        "gelu": _gelu,
    },
    "where": np.where,
}
