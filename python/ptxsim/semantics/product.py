"""The halves of an integer product, at every width of PTX.

In: bit patterns of one type. Out: the low half, the high half, or the whole product. Source: PTX ISA §9.7.1.3.
"""

import numpy as np

from ptxsim.semantics.integer_type import IntegerType

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


def low(kind: IntegerType, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Bits n-1..0 of the product; they do not depend on the signs."""
    return kind.pattern(np.multiply(a, b))


def wide(kind: IntegerType, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The product of two 16- or 32-bit integers as a bit pattern of double width."""
    double = kind.twice.value_dtype
    product = np.multiply(kind.values(a).astype(double), kind.values(b).astype(double))
    return product.view(kind.twice.dtype)


def high(kind: IntegerType, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Bits 2n-1..n of the product."""
    if kind.bits < 64:
        return kind.pattern(wide(kind, a, b) >> kind.twice.dtype.type(kind.bits))
    unsigned = _high_u64(a, b)
    if not kind.is_signed:
        return unsigned
    # A negative operand is its pattern minus 2^64, so the product's high half has the other operand too often.
    zero = np.uint64(0)
    return unsigned - np.where(kind.values(a) < 0, b, zero) - np.where(kind.values(b) < 0, a, zero)


def half(kind: IntegerType, mode: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The half of the product that `mode`, "hi" or "lo", names."""
    return high(kind, a, b) if mode == "hi" else low(kind, a, b)


def _high_u64(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a_low, a_high, b_low, b_high = a & _LOW, a >> _HALF, b & _LOW, b >> _HALF
    first = a_high * b_low + ((a_low * b_low) >> _HALF)  # at most 2^64 - 2^32: no carry is lost
    second = a_low * b_high + (first & _LOW)
    return a_high * b_high + (first >> _HALF) + (second >> _HALF)
