"""Element-wise functions as formulas; operands broadcast as numpy's do.

Functions of floats are computed in f32 where the operand is f16 or bf16, so that the result is as good as one
operation's, and rounded once at the end.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

from tinyc.diagnostics import TinycError
from tinyc.formulas.schema import Function
from tinyc.formulas.value import Value


def of_floats(function: Callable[..., Value]) -> Callable[..., Value]:
    """The function, computed in the accumulator's type of its operand, and rounded once."""

    @functools.wraps(function)
    def rounded_once(x: Value, **attributes: Any) -> Value:
        if not x.element.is_float:
            message = f"it takes floats, and its operand is {x.element.json_name}; cast it"
            raise TinycError("DtypeMismatch", message)
        return function(x.to(x.element.accumulator), **attributes).to(x.element)

    return rounded_once


# --- one Tiny op each -------------------------------------------------------------------------------------------------


def _unary(op: str) -> Function:
    def apply(x: Value) -> Value:
        return x.apply(op)

    apply.__doc__ = f"`tiny.{op}` of each element."
    return apply


def _binary(op: str) -> Function:
    def apply(x: Value, y: Value) -> Value:
        return x.apply(op, y)

    apply.__doc__ = f"`tiny.{op}` of each pair of elements."
    return apply


# --- exponentials and activations -------------------------------------------------------------------------------------


@of_floats
def exp(x: Value) -> Value:
    """The exponential function."""
    return (x * math.log2(math.e)).apply("exp2")


@of_floats
def log(x: Value) -> Value:
    """The natural logarithm."""
    return x.apply("log2") * math.log(2)


@of_floats
def sigmoid(x: Value) -> Value:
    """`1 / (1 + exp(-x))`: where exp overflows, the result is 0 as it should be."""
    return ((x * -math.log2(math.e)).apply("exp2") + 1).apply("recip")


@of_floats
def silu(x: Value) -> Value:
    """`x * sigmoid(x)`."""
    return x * sigmoid(x)


@of_floats
def gelu(x: Value, *, approximate: str = "none") -> Value:
    """`x/2 (1 + erf(x / sqrt(2)))`; with `approximate = "tanh"`, `x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x³)))`."""
    if approximate == "tanh":
        return x * 0.5 * (((x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)).apply("tanh") + 1)
    if approximate != "none":
        raise TinycError("InvalidAttribute", f"approximate is {approximate!r}; it is 'none' or 'tanh'")
    return x * 0.5 * ((x * math.sqrt(0.5)).apply("erf") + 1)


def where(condition: Value, x: Value, y: Value) -> Value:
    """`x` where the condition holds, else `y`."""
    return x.where(condition, y)


_UNARY = ("neg", "exp2", "log2", "sqrt", "rsqrt", "recip", "relu", "sin", "erf", "tanh", "floor", "not")
_BINARY = ("add", "sub", "mul", "fdiv", "idiv", "mod", "max", "min", "and", "or", "xor", "cmp_lt", "cmp_eq")

FORMULAS: dict[str, Function | dict[str, Function]] = {
    "elementwise": {
        **{op: _unary(op) for op in _UNARY},
        **{op: _binary(op) for op in _BINARY},
        "exp": exp,
        "log": log,
        "sigmoid": sigmoid,
        "silu": silu,
        "gelu": gelu,
    },
    "where": where,
}
