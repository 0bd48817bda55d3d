"""Arithmetic on f64: correctly rounded in every direction.

numpy gives the nearest result of a sum, product, quotient or root. What else is asked for, a direction or a fused
multiply-add, takes the exact result: by error-free transformations where no exponent comes near the ends of the range,
else, an element at a time, by rational arithmetic.
"""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ptxsim.semantics.rounding import nudged, odd_sum, two_sum

#: Within these magnitudes no part of an error-free product over- or underflows.
_LEAST, _GREATEST = 2.0**-900, 2.0**900
_SPLITTER = 2.0**27 + 1

_NEAREST: dict[str, Callable[..., np.ndarray]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "sqrt": np.sqrt,
}
_EXACT: dict[str, Callable[..., Fraction]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "fma": lambda a, b, c: a * b + c,
}
#: Which addends are negative.
_ADDENDS: dict[str, Callable[..., tuple[np.ndarray, np.ndarray]]] = {
    "add": lambda a, b: (np.signbit(a), np.signbit(b)),
    "sub": lambda a, b: (np.signbit(a), ~np.signbit(b)),
    "fma": lambda a, b, c: (np.signbit(a) ^ np.signbit(b), np.signbit(c)),
}


def compute(name: str, direction: str, *operands: np.ndarray) -> np.ndarray:
    """The operation on float64 values: add, sub, mul, div, sqrt or fma, rounded in `direction`."""
    nearest = fused(*operands) if name == "fma" else _NEAREST[name](*operands)
    if direction == "rn":
        return nearest
    error = _error_sign(name, nearest, *operands)
    result = nudged(nearest, error, direction)
    if direction == "rm" and name in _ADDENDS:  # an exact sum of zero is -0, but for +0 + +0
        left, right = _ADDENDS[name](*operands)
        return np.where((nearest == 0) & (error == 0) & (left | right), -0.0, result)
    return result


def fused(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """The float64 nearest to `a * b + c`, with one rounding (Boldo and Melquiond, see `rounding`)."""
    product = a * b
    exact_zero = (a == 0) | (b == 0)
    safe = exact_zero | ((np.abs(product) > _LEAST) & (np.abs(product) < _GREATEST))
    for each in (a, b, c):
        safe = safe & (np.abs(each) < _GREATEST)
    low_high, low_low = two_sum(c, _product_error(a, b, product))
    high, low = two_sum(product, low_high)
    result = high + odd_sum(low, low_low)
    plain = np.where(np.isfinite(a) & np.isfinite(b) & ~np.isfinite(c), c, product + c)
    result = np.where(safe & (result != 0), result, plain)
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    return _by_fractions(finite & ~safe, result, a, b, c)


def _product_error(a: np.ndarray, b: np.ndarray, product: np.ndarray) -> np.ndarray:
    """The exact `a * b - product` (T. J. Dekker, 1971: each factor is split in two of at most 26 bits)."""
    a_high, b_high = a * _SPLITTER - (a * _SPLITTER - a), b * _SPLITTER - (b * _SPLITTER - b)
    a_low, b_low = a - a_high, b - b_high
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _by_fractions(where: np.ndarray, result: np.ndarray, *operands: np.ndarray) -> np.ndarray:
    """`result` with the elements `where` replaced by exact multiply-adds, rounded to nearest."""
    if not where.any():
        return result
    result = np.array(result)
    broadcast = np.broadcast_arrays(*operands)
    for index in zip(*np.nonzero(where), strict=True) if result.ndim else [()]:
        a, b, c = (float(each[index]) for each in broadcast)
        exact = _EXACT["fma"](Fraction(a), Fraction(b), Fraction(c))
        if exact:
            result[index] = _nearest(exact)
    return result


def _nearest(exact: Fraction) -> float:
    """The nearest float64: Python's division of integers is correctly rounded."""
    try:
        return exact.numerator / exact.denominator
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def _error_sign(name: str, nearest: np.ndarray, *operands: np.ndarray) -> np.ndarray:
    """The sign of exact minus nearest; 0 where an operand is not finite or the exact result is not."""
    *broadcast, near = np.broadcast_arrays(*operands, nearest)
    elements = zip(*(each.ravel().tolist() for each in (near, *broadcast)), strict=True)
    return np.array([_one_sign(name, *each) for each in elements], np.float64).reshape(near.shape)


def _one_sign(name: str, nearest: float, *operands: float) -> int:
    """The sign of exact minus nearest for one element."""
    if math.isnan(nearest) or not all(math.isfinite(each) for each in operands):
        return 0
    if math.isinf(nearest):
        return 0 if name == "div" and operands[1] == 0 else int(math.copysign(1, -nearest))
    if name == "sqrt":
        exact, near = Fraction(operands[0]), Fraction(nearest) ** 2
    else:
        exact, near = _EXACT[name](*map(Fraction, operands)), Fraction(nearest)
    return (exact > near) - (exact < near)
