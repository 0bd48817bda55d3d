"""Exponentials, hyperbolic functions and powers as formulas that keep their precision.

`exp2`, `log2` and `tanh` are good to some two units in the last place. Where a function would lose digits, because it
subtracts what is nearly equal (`exp(x) - 1` near 0) or multiplies what an exponential amplifies, it is made otherwise.
"""

import math
from fractions import Fraction

from tinyc.diagnostics import TinycError
from tinyc.formulas.elementwise import absolute, integer_power, log, of_floats, product_power
from tinyc.formulas.schema import Function
from tinyc.formulas.value import Value
from tinyc.vocabulary.element_type import ElementType

#: Beyond this, a square is as large as the square and 1, and exp(x) + 1 as exp(x), for f32 and f64.
_LARGE = 2.0**28


def leading_digits(number: float, digits: int) -> float:
    """A number cut to its first binary digits, so that its products with small integers are exact."""
    exponent = math.frexp(number)[1] - digits
    return float(math.floor(Fraction(number) / Fraction(2) ** exponent) * Fraction(2) ** exponent)


def _power_and_rest(x: Value, y: Value) -> tuple[Value, Value]:
    """`p` and a small `c` of `exp(x) = p (1 + c)`, where y is `x log2(e)`, rounded: `p = exp2(y)`.

    With n the integer next to y, what is left of x beyond `n ln 2` is as good as exact, and so is `y - n`: their
    difference, in units of x, is what rounding y has left out. Below half, both have more bits than an exponential.
    """
    leading = leading_digits(math.log(2), x.element.precision - 12)
    whole = (y + 0.5).apply("floor")
    rest = (x - whole * leading) - whole * _LN_2_BEYOND[leading]
    return y.apply("exp2"), rest - (y - whole) * math.log(2)


@of_floats
def precise_exp(x: Value) -> Value:
    """The exponential function, good to two units in the last place: `p (1 + c)` as `p + p c`, which rounds p once.

    The power p is always finite, and c grows with x beyond: an infinite power times a negative c would become NaN.
    """
    least, greatest = _LEAST[x.element], _BELOW_INFINITE[x.element]
    x = x.where(~(x < least), least)
    y = x * math.log2(math.e)
    p, c = _power_and_rest(x, y.where(~(y > greatest), greatest))
    return p + p * c


@of_floats
def precise_sigmoid(x: Value) -> Value:
    """`1 / (1 + exp(-x))`, good to two units in the last place, also where it is as small as `exp(x)`.

    It is z below 0 and `1 - z` above, with `z = e / (1 + e)` and `e = exp(-|x|) = p (1 + c)`. As e is not rounded, nor
    is its sum with 1, both of which z would double below a power of two: that sum is s, and what rounding s has left
    out. A small z is `e - e z`, so that its quotient is not rounded twice.
    """
    least, is_negative = _LEAST[x.element], x < 0
    exponent = x.where(is_negative, -x)
    exponent = exponent.where(~(exponent < least), least)
    p, c = _power_and_rest(exponent, exponent * math.log2(math.e))
    s, rest = p + 1, p * c
    quotient = p / s
    left_out = (p - (s - 1)) + rest
    z = quotient + (rest - quotient * left_out) * (1 - quotient)
    z = (p + (rest - p * quotient)).where(p < 0.125, z)
    return z.where(is_negative, 1 - z)


#: Up to this exp is 0, and -inf would become NaN; beside it `log2` of the greatest power that is finite.
_LEAST = {ElementType.F32: -104.0, ElementType.F64: -746.0}
_BELOW_INFINITE = {ElementType.F32: 128 - 2.0**-17, ElementType.F64: 1024 - 2.0**-43}

#: ln 2 less its leading digits, which is more than the difference of two floats of f64 says.
_LN_2 = Fraction(69314718055994530941723212145817656807550013436026, 10**50)
_LN_2_BEYOND = {each: float(_LN_2 - Fraction(each)) for each in (leading_digits(math.log(2), n) for n in (12, 41))}


def _expm1_of_negative(x: Value) -> Value:
    """`exp(x) - 1` for `x <= 0`, by `t = tanh(x/2)`: `2t / (1 - t)` cancels nothing."""
    half = (x * 0.5).apply("tanh")
    return (half * 2) / (1 - half)


@of_floats
def log1p(x: Value) -> Value:
    """`log(1 + x)` of a finite number, by Kahan: the error of `u = 1 + x` cancels in `log(u) x / (u - 1)`."""
    u = x + 1
    return x.where(u.equals(1), log(u) * (x / (u - 1)))


# --- activations ------------------------------------------------------------------------------------------------------


@of_floats
def elu(x: Value, *, alpha: float = 1.0) -> Value:
    """`x` above 0, `alpha (exp(x) - 1)` below."""
    return (_expm1_of_negative(x.apply("min", 0)) * alpha).where(x < 0, x)


@of_floats
def _celu(x: Value, *, alpha: float = 1.0) -> Value:
    """`x` above 0, `alpha (exp(x / alpha) - 1)` below."""
    if alpha <= 0:
        raise TinycError("InvalidAttribute", f"alpha is {alpha}; celu takes one above 0")
    return (_expm1_of_negative((x / alpha).apply("min", 0)) * alpha).where(x < 0, x)


@of_floats
def _selu(x: Value, *, alpha: float = 1.6732632423543772, gamma: float = 1.0507009873554805) -> Value:
    """`gamma x` above 0, `gamma alpha (exp(x) - 1)` below."""
    return elu(x, alpha=alpha) * gamma


@of_floats
def softplus(x: Value) -> Value:
    """`log(1 + exp(x))`, as `max(x, 0) + log(1 + exp(-|x|))`, where nothing overflows."""
    return x.apply("relu") + log1p(precise_exp(-absolute(x)))


@of_floats
def _mish(x: Value) -> Value:
    """`x tanh(softplus(x))`, which is `x w / (w + 2)` with `w = e (e + 2)`, `e = exp(x)`."""
    e = precise_exp(x.apply("min", 30))  # from there on w is as good as w + 2, and does not overflow
    w = e * (e + 2)
    return x * (w / (w + 2))


# --- hyperbolic functions ---------------------------------------------------------------------------------------------


def _half_exp(x: Value) -> Value:
    """`exp(x) / 2`, which overflows only if the result does."""
    root = precise_exp(x * 0.5)
    return (root * 0.5) * root


def with_sign_of(x: Value, magnitude: Value) -> Value:
    """A magnitude with the sign of x."""
    return (-magnitude).where(x < 0, magnitude)


@of_floats
def _cosh(x: Value) -> Value:
    """The hyperbolic cosine."""
    half = _half_exp(absolute(x))
    return half + 0.25 / half


@of_floats
def _sinh(x: Value) -> Value:
    """The hyperbolic sine: near 0 by `t = tanh(x/2)`, as `2t / ((1 - t) (1 + t))`."""
    magnitude = absolute(x)
    t, half = (x * 0.5).apply("tanh"), _half_exp(magnitude)
    return ((t * 2) / ((1 - t) * (t + 1))).where(magnitude < 1, with_sign_of(x, half - 0.25 / half))


@of_floats
def _asinh(x: Value) -> Value:
    """The inverse of sinh: `log(1 + a + a² / (1 + sqrt(a² + 1)))` with `a = |x|`; for large ones `log(a) + log(2)`."""
    a = absolute(x)
    square = a * a
    near = log1p(a + square / ((square + 1).apply("sqrt") + 1))
    return x.where(x.equals(0), with_sign_of(x, near.where(a < _LARGE, log(a) + math.log(2))))


@of_floats
def _acosh(x: Value) -> Value:
    """The inverse of cosh, NaN below 1: `log(1 + t + sqrt(t) sqrt(t + 2))` with `t = x - 1`."""
    t = x - 1
    near = log1p(t + t.apply("sqrt") * (t + 2).apply("sqrt"))
    return near.where(x < _LARGE, log(x) + math.log(2))


@of_floats
def _atanh(x: Value) -> Value:
    """The inverse of tanh: `log(1 + 2a / (1 - a)) / 2` with `a = |x|`."""
    a = absolute(x)
    value = (log1p((a * 2) / (1 - a)) * 0.5).where(~a.equals(1), math.inf)
    return x.where(x.equals(0), with_sign_of(x, value))


# --- powers -----------------------------------------------------------------------------------------------------------


def _pow(x: Value, y: Value) -> Value:
    """`x` to the power of `y`, of any two types of numbers; the result has the type of `x`.

    Floats of 32 bits are computed in f64 and rounded. A negative base has a result where the exponent is an integer.
    """
    if x.element.is_bool or y.element.is_bool:
        raise TinycError("DtypeMismatch", f"pow takes numbers, not {x.element.json_name} and {y.element.json_name}")
    if x.element.is_integer and y.element.is_integer:
        return integer_power(x, y)
    wide = ElementType.F32 if x.element.is_small_float else ElementType.F64
    is_double = x.element not in (ElementType.F16, ElementType.BF16, ElementType.F32)
    return _float_power(x.to(wide), y.to(wide), is_double).to(x.element)


def _float_power(x: Value, y: Value, is_double: bool) -> Value:
    """`x` to the power of `y` as IEEE 754 has it; `is_double`: small integer exponents by products, no logarithm."""
    magnitude = absolute(x)
    value = (y * magnitude.apply("log2")).apply("exp2")
    is_whole = y.equals(y.apply("floor"))
    is_odd = is_whole & ~(y * 0.5).apply("floor").equals(y * 0.5)
    if is_double:
        product = product_power(magnitude, absolute(y).apply("min", 63).to(ElementType.I32))
        product = product.apply("recip").where(y < 0, product)
        value = product.where(is_whole & (absolute(y) < 64), value)
    value = value.where(~(y.equals(0) | x.equals(1) | (magnitude.equals(1) & absolute(y).equals(math.inf))), 1)
    is_negative = (x < 0) | (x.apply("recip") < 0)  # -0 too
    value = (-value).where(is_negative & is_odd, value)
    has_no_root = (x < 0) & (x > -math.inf) & ~is_whole
    return value.where(~has_no_root, math.nan)


def _power(x: Value, *, exponent: float) -> Value:
    """`x` to the power of one number: by products if it is a small integer, by roots if it is 0.5 or -0.5."""
    if x.element.is_integer and not exponent.is_integer():
        return _pow(x, x.builder.full(exponent, ElementType.F64, ()))
    if x.element.is_integer:
        return integer_power(x, x.builder.full(int(exponent), ElementType.I64, ()))
    wide = x.to(x.element.accumulator)
    if abs(exponent) == 0.5:
        return wide.apply("sqrt" if exponent > 0 else "rsqrt").to(x.element)
    if not exponent.is_integer() or abs(exponent) > 64:
        return _pow(x, x.builder.full(exponent, wide.element, ()))
    return _static_power(wide, int(exponent)).to(x.element)


def _static_power(x: Value, exponent: int) -> Value:
    result: Value | None = None
    square, left = x, abs(exponent)
    while left:
        if left & 1:
            result = square if result is None else result * square
        left >>= 1
        square = square * square if left else square
    if result is None:
        return x.builder.full(1, x.element, x.shape)
    return result.apply("recip") if exponent < 0 else result


FORMULAS: dict[str, dict[str, Function]] = {
    "elementwise": {
        "exp": precise_exp,
        "sigmoid": precise_sigmoid,
        "elu": elu,
        "celu": _celu,
        "selu": _selu,
        "softplus": softplus,
        "mish": _mish,
        "cosh": _cosh,
        "sinh": _sinh,
        "asinh": _asinh,
        "acosh": _acosh,
        "atanh": _atanh,
        "pow": _pow,
        "power": _power,
    }
}
