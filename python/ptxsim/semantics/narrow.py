"""Arithmetic on f32, f16 and bf16: correctly rounded in every direction.

In general a result is found in float64, exact or rounded to odd, and rounded once (`rounding`). To nearest there are
faster ways to the same bits, each with the case in which it might round twice, which is left to the general way:

* sums, products, quotients and roots of f32: numpy's own;
* sums and products of halves: in float32, which has more than twice their bits, and so rounds twice without harm; a
  product of bf16 that it does not have exactly is less than half of the least number;
* fma: in float64; only a sum that is a midpoint of the format, or of f32 below its normal numbers, might not be exact.
  For f16 it is: what float64 lacks is less than 2**-32 of an addend, or the result overflows.

Source: S. A. Figueroa, "When is double rounding innocuous?", SIGNUM Newsletter 30(3), 1995.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from ptxsim.semantics.float_format import BF16, F16, F32, Format, decode, numbers
from ptxsim.semantics.rounding import odd_sum, rounded_bits, shortened

NATIVE: dict[str, Callable[..., np.ndarray]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "sqrt": np.sqrt,
}
_HALF = np.uint32(16)


def operation_on(name: str, form: Format, direction: str) -> Callable[..., np.ndarray]:
    """The operation on bit patterns: add, sub, mul, div, sqrt or fma."""
    if direction == "rn" and name == "fma":
        fused: dict[Format, Callable[..., np.ndarray]] = {F32: _fused_single, F16: _fused_half, BF16: _fused_bfloat}
        return fused[form]
    if direction == "rn" and form is F32:
        return partial(_single, name)
    if direction == "rn" and name in ("add", "sub", "mul"):
        return partial(_half if form is F16 else _bfloat, name)
    return partial(general, name, form, direction)


def general(name: str, form: Format, direction: str, *operands: np.ndarray) -> np.ndarray:
    """An operation in any direction.

    A quotient and a root need no more than float64 to nearest: an inexact one, of numbers of 24 bits, differs from any
    number of 25 bits by more than 2**-51 of itself.
    """
    values = [decode(form, each) for each in operands]
    if name == "add":
        result = odd_sum(values[0], values[1], direction)
    elif name == "sub":
        result = odd_sum(values[0], -values[1], direction)
    elif name == "fma":
        result = odd_sum(values[0] * values[1], values[2], direction)
    else:
        result = NATIVE[name](*values)
    return rounded_bits(form, result, direction)


def canonical(form: Format, values: np.ndarray, bits: np.ndarray) -> np.ndarray:
    """`bits` with the canonical NaN where `values`, what they came from, are NaN."""
    nan = values != values
    return np.where(nan, form.nan, bits) if np.count_nonzero(nan) else bits


def _single(name: str, *operands: np.ndarray) -> np.ndarray:
    result = NATIVE[name](*(each.view(np.float32) for each in operands))
    return canonical(F32, result, result.view(np.uint32))


def _fused_single(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    total = a.view(np.float32).astype(np.float64) * b.view(np.float32) + c.view(np.float32)
    midpoint = (total.view(np.uint64) & np.uint64(0x1FFFFFFF)) == np.uint64(0x10000000)
    below_normal = (np.abs(total) < 2.0**-126) & (total != 0)
    if np.count_nonzero(midpoint | below_normal):
        return general("fma", F32, "rn", a, b, c)
    result = total.astype(np.float32)
    return canonical(F32, result, result.view(np.uint32))


def _half(name: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    result = NATIVE[name](numbers(F16, a), numbers(F16, b))
    return canonical(F16, result, result.astype(np.float16).view(np.uint16))


def _fused_half(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    x, y, z = (each.view(np.float16).astype(np.float64) for each in (a, b, c))
    total = x * y + z
    return canonical(F16, total, total.astype(np.float16).view(np.uint16))


def _bfloat(name: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    result = NATIVE[name](numbers(BF16, a), numbers(BF16, b))
    return _bfloat_of(result)


def _fused_bfloat(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    x, y, z = (numbers(BF16, each) for each in (a, b, c))
    result = (x.astype(np.float64) * y + z).astype(np.float32)
    if np.count_nonzero((result.view(np.uint32) & np.uint32(0xFFFF)) == np.uint32(0x8000)):
        return general("fma", BF16, "rn", a, b, c)
    return _bfloat_of(result)


def _bfloat_of(values: np.ndarray) -> np.ndarray:
    """The bf16 patterns nearest to float32 values."""
    bits = shortened(values.view(np.uint32), 16, "rn") >> _HALF
    return canonical(BF16, values, bits.astype(np.uint16))
