"""Integer quotient and remainder, rounded towards zero as NVIDIA's GPUs do.

In: bit patterns of one type. Out: bit patterns. Source: PTX ISA §9.7.1.8 and §9.7.1.9, which leave the result of a
division by zero to the machine: the code that ptxas makes for sm_80 and sm_90 gives all ones, for the quotient and for
the remainder, at every width. The most negative number divided by -1 wraps to itself.
"""

import numpy as np

from ptxsim.semantics.integer_type import IntegerType


def quotient(kind: IntegerType, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A / b; all ones where b is zero."""
    divided = np.floor_divide(_magnitude(kind, a), np.maximum(_magnitude(kind, b), 1))
    if kind.is_signed:
        divided = np.where(kind.values(a ^ b) < 0, 0 - divided, divided)
    return _unless_zero(kind, b, divided)


def remainder(kind: IntegerType, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A - b * (a / b), which has the sign of a; all ones where b is zero."""
    rest = np.remainder(_magnitude(kind, a), np.maximum(_magnitude(kind, b), 1))
    if kind.is_signed:
        rest = np.where(kind.values(a) < 0, 0 - rest, rest)
    return _unless_zero(kind, b, rest)


def _magnitude(kind: IntegerType, bits: np.ndarray) -> np.ndarray:
    """Absolute values, unsigned: that of the most negative number is 2^(n-1)."""
    return kind.pattern(np.abs(kind.values(bits))) if kind.is_signed else bits


def _unless_zero(kind: IntegerType, divisor: np.ndarray, result: np.ndarray) -> np.ndarray:
    return np.where(divisor == 0, np.iinfo(kind.dtype).max, result).astype(kind.dtype, copy=False)
