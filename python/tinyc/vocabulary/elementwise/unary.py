"""The element-wise ops of one operand."""

import math as host_math
from collections.abc import Callable
from typing import TYPE_CHECKING

from tinyc.vocabulary.deferred import Deferred
from tinyc.vocabulary.elementwise.binary import greater
from tinyc.vocabulary.elementwise.row import BITS, FLOATS, NUMBERS, Accepted, Effort, Elementwise, unary

if TYPE_CHECKING:
    import numpy as np

    from tinyc import mlir
    from tinyc.mlir import constants
    from tinyc.vocabulary.elementwise.row import NumpyArray
else:
    np, mlir, constants = Deferred("numpy"), Deferred("tinyc.mlir"), Deferred("tinyc.mlir.constants")


def _in_f64(function: "Callable[[NumpyArray], NumpyArray]", x: "NumpyArray") -> "NumpyArray":
    """Compute in f64 and round once to the type of the operand."""
    return function(x.astype(np.float64)).astype(x.dtype)


def _erf(x: "NumpyArray") -> "NumpyArray":
    return np.fromiter(map(host_math.erf, x.ravel().tolist()), np.float64, x.size).reshape(x.shape)


ROWS: tuple[Elementwise, ...] = (
    unary(
        "neg",
        "`-x`; floats and signed integers (which wrap).",
        Accepted("floats and signed integers", lambda e: e.is_float or e.is_signed),
        meaning=lambda x: np.negative(x),
        code=lambda e, x: mlir.arith.negf(x) if e.is_float else mlir.arith.subi(constants.number(0, x.type), x),
        rounds=False,
    ),
    unary(
        "exp2",
        "Two to the power of `x`.",
        FLOATS,
        meaning=lambda x: _in_f64(np.exp2, x),
        code=lambda e, x: mlir.math.exp2(x),
        c_functions={"math.exp2": "exp2"},
        effort=Effort.FUNCTION,
    ),
    unary(
        "log2",
        "The base-2 logarithm.",
        FLOATS,
        meaning=lambda x: _in_f64(np.log2, x),
        code=lambda e, x: mlir.math.log2(x),
        c_functions={"math.log2": "log2"},
        effort=Effort.FUNCTION,
    ),
    unary(
        "sqrt",
        "The square root.",
        FLOATS,
        meaning=lambda x: np.sqrt(x),
        code=lambda e, x: mlir.math.sqrt(x),
        c_functions={"math.sqrt": "sqrt"},
        effort=Effort.DIVISION,
    ),
    unary(
        "rsqrt",
        "`1 / sqrt(x)`.",
        FLOATS,
        meaning=lambda x: 1 / np.sqrt(x),
        code=lambda e, x: mlir.arith.divf(constants.number(1, x.type), mlir.math.sqrt(x)),
        c_functions={"math.sqrt": "sqrt"},
        effort=Effort.DIVISION,
    ),
    unary(
        "recip",
        "`1 / x`.",
        FLOATS,
        meaning=lambda x: 1 / x,
        code=lambda e, x: mlir.arith.divf(constants.number(1, x.type), x),
        effort=Effort.DIVISION,
    ),
    unary(
        "sin",
        "The sine of `x` radians.",
        FLOATS,
        meaning=lambda x: _in_f64(np.sin, x),
        code=lambda e, x: mlir.math.sin(x),
        c_functions={"math.sin": "sin"},
        effort=Effort.FUNCTION,
    ),
    unary(
        "erf",
        "The error function.",
        FLOATS,
        meaning=lambda x: _in_f64(_erf, x),
        code=lambda e, x: mlir.math.erf(x),
        c_functions={"math.erf": "erf"},
        effort=Effort.FUNCTION,
    ),
    unary(
        "tanh",
        "The hyperbolic tangent.",
        FLOATS,
        meaning=lambda x: _in_f64(np.tanh, x),
        code=lambda e, x: mlir.math.tanh(x),
        c_functions={"math.tanh": "tanh"},
        effort=Effort.FUNCTION,
    ),
    unary(
        "floor",
        "The greatest integer that is not greater.",
        FLOATS,
        meaning=lambda x: np.floor(x),
        code=lambda e, x: mlir.math.floor(x),
        rounds=False,
        c_functions={"math.floor": "floor"},
    ),
    unary(
        "relu",
        "`max(x, 0)`; NaN stays NaN.",
        NUMBERS,
        meaning=lambda x: np.maximum(x, x.dtype.type(0)),
        code=lambda e, x: greater(e, x, constants.number(0, x.type)),
        rounds=False,
    ),
    unary(
        "not",
        "Bitwise complement of integers; negation of bool.",
        BITS,
        meaning=lambda x: np.invert(x),
        code=lambda e, x: mlir.arith.xori(x, constants.number(1 if e.is_bool else -1, x.type)),
        rounds=False,
    ),
)
