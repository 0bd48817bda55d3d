"""The element-wise ops of Tiny in numpy."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinyc.executors.elements import Precision, convert

_F64 = np.float64


def elementwise(op: str, operands: Sequence[np.ndarray], element: str, precision: Precision) -> np.ndarray:
    """Apply the op named `op`; `element` is the element type of its operands (of the branches of `where`).

    Axes along which every operand is a broadcast are computed once, so that an expanded operand costs no memory.
    """
    if op in _SELECT:
        return on_distinct_elements(_SELECT[op], *operands)

    def compute(*core: np.ndarray) -> np.ndarray:
        registers = [convert(operand, precision.arithmetic(element)) for operand in core]
        return precision.round(_ARITHMETIC[op](*registers), element)

    return on_distinct_elements(compute, *operands)


def on_distinct_elements(function: Callable[..., np.ndarray], *operands: np.ndarray) -> np.ndarray:
    """Apply an element-wise function once along the axes on which every operand is a broadcast."""
    shape = operands[0].shape
    kept = tuple(
        slice(0, 1) if extent > 1 and all(operand.strides[axis] == 0 for operand in operands) else slice(None)
        for axis, extent in enumerate(shape)
    )
    return np.broadcast_to(function(*(operand[kept] for operand in operands)), shape)


def in_f64(function: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function computed in f64 and rounded once to the type of its operand."""
    return lambda x: function(x.astype(_F64)).astype(x.dtype)


def _erf(x: np.ndarray) -> np.ndarray:
    return np.fromiter(map(math.erf, x.ravel().tolist()), _F64, x.size).reshape(x.shape)


def _idiv(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Truncate towards 0; ``x idiv 0`` is 0. `fmod` is C's remainder, so the difference divides evenly."""
    divisor = np.where(y == 0, y.dtype.type(1), y)
    quotient = np.floor_divide(x - np.fmod(x, divisor), divisor)
    return np.where(y == 0, y.dtype.type(0), quotient)


def _mod(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Remainder with the sign of the dividend; ``x mod 0`` is x."""
    return np.where(y == 0, x, np.fmod(x, np.where(y == 0, y.dtype.type(1), y)))


#: Ops that need no arithmetic: they work on values as they are held.
_SELECT: dict[str, Callable[..., Any]] = {"where": np.where, "cmp_lt": np.less, "cmp_eq": np.equal}

_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "neg": np.negative,
    "exp2": in_f64(np.exp2),
    "log2": in_f64(np.log2),
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "recip": lambda x: 1 / x,
    "relu": lambda x: np.maximum(x, x.dtype.type(0)),
    "sin": in_f64(np.sin),
    "erf": in_f64(_erf),
    "tanh": in_f64(np.tanh),
    "floor": np.floor,
    "not": np.invert,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "fdiv": np.divide,
    "idiv": _idiv,
    "mod": _mod,
    "max": np.maximum,
    "min": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
