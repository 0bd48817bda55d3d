"""Shifts by any amount: those that C leaves undefined give what PTX states. Source: PTX ISA §9.7.8.8 and §9.7.8.9.

In: bit patterns, and amounts as unsigned arrays of any width. Out: bit patterns of the first operand's dtype.
"""

import numpy as np

from ptxsim.semantics.integer_type import IntegerType


def left(bits: np.ndarray, amount: np.ndarray) -> np.ndarray:
    """`bits << amount`, zero where the amount is the width or more."""
    width = 8 * bits.dtype.itemsize
    shifted = bits << (amount & (width - 1)).astype(bits.dtype)
    return np.where(amount < width, shifted, bits.dtype.type(0))


def right(bits: np.ndarray, amount: np.ndarray) -> np.ndarray:
    """`bits >> amount` filled with zeros, zero where the amount is the width or more."""
    width = 8 * bits.dtype.itemsize
    shifted = bits >> (amount & (width - 1)).astype(bits.dtype)
    return np.where(amount < width, shifted, bits.dtype.type(0))


def arithmetic_right(kind: IntegerType, bits: np.ndarray, amount: np.ndarray) -> np.ndarray:
    """`bits >> amount` filled with copies of the most significant bit."""
    signed = np.dtype(f"i{kind.bits // 8}")
    shifted = bits.view(signed) >> np.minimum(amount, kind.bits - 1).astype(signed)
    return shifted.view(kind.dtype)


def low_bits(dtype: np.dtype, length: np.ndarray) -> np.ndarray:
    """Patterns whose `length` low bits are one; all of them where the length is the width or more."""
    one = dtype.type(1)
    return left(np.broadcast_to(one, np.shape(length)), length) - one
