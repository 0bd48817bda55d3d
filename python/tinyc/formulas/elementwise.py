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
from tinyc.vocabulary.element_type import ElementType


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


# --- what the operands' types decide ----------------------------------------------------------------------------------


def absolute(x: Value) -> Value:
    """`|x|`; of -0 it is 0, of the least signed integer that integer."""
    if x.element.is_float:
        return x.where(x > 0, 0 - x)
    return x if x.element.is_unsigned else x.apply("max", -x)


def _sign(x: Value) -> Value:
    """-1, 0 or 1; NaN stays NaN."""
    if x.element.is_unsigned:
        return x.apply("min", 1)
    if x.element.is_integer:
        return x.apply("min", 1).apply("max", -1)
    one = x.builder.full(1, x.element, x.shape)
    return (-one).where(x < 0, one.where(x > 0, x))


def _modulo(x: Value, y: Value) -> Value:
    """The remainder with the sign of the divisor, as Python has it."""
    rest = fmod(x, y)
    if x.element.is_unsigned:
        return rest
    result = (rest + y).where((rest < 0).apply("xor", y < 0) & ~rest.equals(0), rest)
    if x.element.is_integer:
        return result
    zero = y.builder.full(0, y.element, y.shape)
    return (-zero).where(y < 0, zero).where(rest.equals(0), result)


def fmod(x: Value, y: Value) -> Value:
    """The remainder with the sign of the dividend, as C has it.

    Of floats it is exact for quotients below 2^29; of f64 it is off by at most half a unit in the last place of `x`.
    """
    if not x.element.is_float:
        return x.apply("mod", y)
    a, b = (each.to(ElementType.F64) for each in (absolute(x), absolute(y)))
    rest = a - (a / b).apply("floor") * b  # the quotient may be rounded up to the next integer
    rest = (rest + b).where(rest < 0, rest)
    finite = (a < math.inf) & b.equals(math.inf)
    rest = a.where(finite, rest).to(x.element)
    return (-rest).where(x < 0, rest)


def _shift_left(x: Value, y: Value) -> Value:
    """`x` with its bits moved towards the most significant one; 0 where `y` is negative, or not below its bits."""
    return (x * integer_power(x.builder.full(2, x.element, ()), y)).where(_is_place(y), 0)


def _shift_right(x: Value, y: Value) -> Value:
    """`x` with its bits moved towards the least significant one, and filled with the sign.

    No bit of `x` is left where `y` is negative, or not below its bits.
    """
    if x.element.is_signed:
        return (~_shift_right_of_positive(~x, y)).where(x < 0, _shift_right_of_positive(x, y))
    return _shift_right_of_positive(x, y)


def _shift_right_of_positive(x: Value, y: Value) -> Value:
    """By a division; the sign bit alone, as a divisor, is as good as its magnitude."""
    return x.apply("idiv", integer_power(x.builder.full(2, x.element, ()), y)).where(_is_place(y), 0)


def _is_place(y: Value) -> Value:
    """Whether a number of places is one of those of its type."""
    is_below = y < y.element.bits
    return is_below if y.element.is_unsigned else is_below & ~(y < 0)


def integer_power(x: Value, y: Value) -> Value:
    """Integers to the power of integers, wrapped; exact wherever the result fits.

    By squares, for the low 6 bits of the exponent: a larger exponent counts as 62 or 63, for the results that fit are
    those of -1, 0 and 1. A negative exponent truncates the fraction.
    """
    parity = y & 1
    exponent = absolute(y)
    exponent = (parity + 62).where(exponent > 63, exponent)
    result = product_power(x, exponent)
    if y.element.is_unsigned:
        return result
    zero = result.builder.full(0, x.element, ())
    return zero.where((y < 0) & ~absolute(x).equals(1), result)


def product_power(x: Value, exponent: Value) -> Value:
    """Numbers to the power of integers from 0 to 63, by squares."""
    result, square = x.builder.full(1, x.element, x.shape), x
    for bit in range(6):
        result = (result * square).where((exponent & (1 << bit)) > 0, result)
        square = square * square if bit < 5 else square
    return result


# --- comparisons ------------------------------------------------------------------------------------------------------


def _less_or_equal(x: Value, y: Value) -> Value:
    """`x <= y` as bool; false where either is NaN."""
    return (x < y) | x.equals(y) if x.element.is_float else ~(x > y)


def _is_nan(x: Value) -> Value:
    """Whether an element of floats is NaN."""
    return ~x.equals(x)


def _is_inf(x: Value, *, detect_negative: bool = True, detect_positive: bool = True) -> Value:
    """Whether an element of floats is an infinity, of either sign unless one is not to be detected."""
    if detect_negative and detect_positive:
        return absolute(x).equals(math.inf)
    if not detect_negative and not detect_positive:
        return x.builder.full(False, ElementType.BOOL, x.shape)
    return x.equals(math.inf if detect_positive else -math.inf)


# --- rounding ---------------------------------------------------------------------------------------------------------


@of_floats
def _ceil(x: Value) -> Value:
    """The least integer that is not less."""
    return -((-x).apply("floor"))


@of_floats
def round_half_even(x: Value) -> Value:
    """The nearest integer, of two the even one."""
    below = x.apply("floor")
    fraction, half = x - below, below * 0.5
    is_odd = ~half.apply("floor").equals(half)
    return (below + 1).where((fraction > 0.5) | (fraction.equals(0.5) & is_odd), below)


# --- exponentials and activations -------------------------------------------------------------------------------------


@of_floats
def exp(x: Value) -> Value:
    """The exponential function as softmax and its like want it: fast, and off by some `x / 2` units in the last place.

    The op `elementwise exp` is `precise_exp`.
    """
    return (x * math.log2(math.e)).apply("exp2")


@of_floats
def log(x: Value) -> Value:
    """The natural logarithm."""
    return x.apply("log2") * math.log(2)


@of_floats
def sigmoid(x: Value) -> Value:
    """`1 / (1 + exp(-x))` as gates and SiLU want it: fast, off by some `x / 2` units in the last place below 0.

    Where `exp(-x)` overflows, it is 0. The op `elementwise sigmoid` is `precise_sigmoid`.
    """
    return ((x * -math.log2(math.e)).apply("exp2") + 1).apply("recip")


@of_floats
def silu(x: Value) -> Value:
    """`x * sigmoid(x)`."""
    return x * sigmoid(x)


@of_floats
def _swish(x: Value, *, alpha: float = 1.0) -> Value:
    """`x * sigmoid(alpha * x)`."""
    return x * sigmoid(x if alpha == 1 else x * alpha)


def _swiglu(x: Value, y: Value, *, alpha: float = 1.0) -> Value:
    """`x * sigmoid(alpha * x) * y`: a gate and what it lets through."""
    wide = x.element.accumulator
    return (_swish(x.to(wide), alpha=alpha) * y.to(wide)).to(x.element)


@of_floats
def gelu(x: Value, *, approximate: str = "none") -> Value:
    """`x/2 (1 + erf(x / sqrt(2)))`; with `approximate = "tanh"`, `x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x³)))`."""
    if approximate == "tanh":
        return x * 0.5 * (((x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)).apply("tanh") + 1)
    if approximate != "none":
        raise TinycError("InvalidAttribute", f"approximate is {approximate!r}; it is 'none' or 'tanh'")
    return x * 0.5 * ((x * math.sqrt(0.5)).apply("erf") + 1)


def select(condition: Value, x: Value, y: Value) -> Value:
    """`x` where the condition holds, else `y`."""
    return x.where(condition, y)


_UNARY = ("neg", "exp2", "log2", "sqrt", "rsqrt", "recip", "relu", "sin", "erf", "tanh", "floor", "not")
_BINARY = ("add", "sub", "mul", "fdiv", "idiv", "mod", "max", "min", "and", "or", "xor", "cmp_lt", "cmp_eq")

FORMULAS: dict[str, Function | dict[str, Function]] = {
    "elementwise": {
        **{op: _unary(op) for op in _UNARY},
        **{op: _binary(op) for op in _BINARY},
        "abs": absolute,
        "sign": _sign,
        "modulo": _modulo,
        "fmod": fmod,
        "shift_left": _shift_left,
        "shift_right": _shift_right,
        "cmp_le": _less_or_equal,
        "is_nan": _is_nan,
        "is_inf": _is_inf,
        "ceil": _ceil,
        "round": round_half_even,
        "log": log,
        "silu": silu,
        "swish": _swish,
        "swiglu": _swiglu,
        "gelu": gelu,
    },
    "where": select,
}
