"""Trigonometric functions as formulas: `sin` is given, the others are made of it, and of a polynomial for `atan`."""

import math
from collections.abc import Sequence
from fractions import Fraction

from tinyc.formulas.elementwise import absolute, of_floats
from tinyc.formulas.exponential import leading_digits, with_sign_of
from tinyc.formulas.schema import Function
from tinyc.formulas.value import Value
from tinyc.vocabulary.element_type import ElementType

_PI = Fraction(314159265358979323846264338327950288419716939937510, 10**50)


def _half_pi_in_parts(precision: int) -> list[float]:
    """π/2 as a sum of floats, three of half the digits, so that their products with small integers are exact."""
    parts: list[float] = []
    for digits in (*[precision // 2 - 1] * 3, precision):
        parts.append(leading_digits(float(_PI / 2 - sum(map(Fraction, parts))), digits))
    return parts


@of_floats
def cosine(x: Value) -> Value:
    """The cosine, by one sine.

    Up to 4096 multiples of π/2 (2^26 for f64), the nearest zero of the cosine, an odd multiple m of π/2, is taken
    off in parts, `±sin(x - m π/2)`: precise where the cosine is small. Beyond, it is `1 - 2 sin²(x/2)`.
    """
    precision = x.element.precision
    turns = (x * (1 / math.pi)).apply("floor")
    multiple = turns * 2 + 1
    rest = x
    for part in _half_pi_in_parts(precision):
        rest = rest - multiple * part
    is_near = absolute(multiple) < 2.0 ** (precision // 2)
    sine = rest.where(is_near, x * 0.5).apply("sin")
    half = turns * 0.5
    is_even = half.apply("floor").equals(half)
    return (-sine).where(is_even, sine).where(is_near, 1 - sine * sine * 2)


@of_floats
def _tan(x: Value) -> Value:
    """The tangent."""
    return x.apply("sin") / cosine(x)


#: `(atan(u)/u - 1) / u²` as polynomials of u², for |u| up to tan(π/8): by Chebyshev's nodes, to less than 0.1 units in
#: the last place of the arctangent.
_ATAN = {
    ElementType.F32: (-0.3333333176, 0.1999954031, -0.1426394975, 0.1074366832, -0.06451718869),
    ElementType.F64: (
        -0.3333333333333333,
        0.19999999999995516,
        -0.14285714284665682,
        0.11111111015187018,
        -0.0909090457530649,
        0.07692183125376892,
        -0.06664510525508936,
        0.05858140904866328,
        -0.050854078345894844,
        0.03923044778479309,
        -0.019175404711104932,
    ),
}


def _polynomial(x: Value, coefficients: Sequence[float]) -> Value:
    """By Horner, the lowest coefficient first."""
    result = x * coefficients[-1] + coefficients[-2]
    for coefficient in reversed(coefficients[:-2]):
        result = result * x + coefficient
    return result


@of_floats
def _atan(x: Value) -> Value:
    """The arctangent: of `1/a` above 1, and about π/4 of `(v - 1) / (v + 1)`, so that a short polynomial does."""
    a = absolute(x)
    v = a.apply("recip").where(a > 1, a)
    is_middle = v > math.tan(math.pi / 8)
    u = ((v - 1) / (v + 1)).where(is_middle, v)
    square = u * u
    angle = u + u * (square * _polynomial(square, _ATAN[x.element]))
    angle = (angle + math.pi / 4).where(is_middle, angle)
    return x.where(x.equals(0), with_sign_of(x, (math.pi / 2 - angle).where(a > 1, angle)))


@of_floats
def _asin(x: Value) -> Value:
    """The arcsine, NaN beyond 1: `2 atan(x / (1 + sqrt((1 - x) (1 + x))))`."""
    return _atan(x / (((1 - x) * (x + 1)).apply("sqrt") + 1)) * 2


@of_floats
def _acos(x: Value) -> Value:
    """The arccosine, NaN beyond 1: `2 atan(sqrt((1 - x) / (1 + x)))`."""
    return _atan(((1 - x) / (x + 1)).apply("sqrt")) * 2


FORMULAS: dict[str, dict[str, Function]] = {
    "elementwise": {"cos": cosine, "tan": _tan, "atan": _atan, "asin": _asin, "acos": _acos}
}
