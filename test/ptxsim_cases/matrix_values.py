"""Matrices for the tests of matrix instructions: numbers to bits, and bits to the registers that the ISA names.

Written from the formats' definitions, not with the code under test.
"""

import struct
from collections.abc import Callable

import numpy as np

#: Exponent and mantissa bits of the 8-bit formats.
_SMALL = {"e4m3": (4, 3), "e5m2": (5, 2)}


def integers(rng: np.random.Generator, element: str, shape: tuple[int, ...]) -> np.ndarray:
    """Random integers that a type holds exactly, int64, so small that sums of 64 products are exact in f16."""
    low, high = {"s8": (-128, 128), "u8": (0, 256), "s32": (-(2**20), 2**20)}.get(element, (-5, 6))
    return rng.integers(low, high, shape)


def encoded(numbers: np.ndarray, element: str) -> np.ndarray:
    """The bit patterns of integers that the type holds exactly."""
    match element:
        case "s8" | "u8":
            return (numbers & 0xFF).astype(np.uint8)
        case "s32":
            return (numbers & 0xFFFFFFFF).astype(np.uint32)
        case "e4m3" | "e5m2":
            patterns = {small_float(bits, *_SMALL[element]): bits for bits in range(255, -1, -1) if bits != 0x80}
            return np.vectorize(patterns.__getitem__, otypes=[np.uint8])(numbers.astype(float))
        case "bf16":
            return np.vectorize(lambda x: struct.unpack("<I", struct.pack("<f", x))[0] >> 16, otypes=["u2"])(numbers)
        case _:
            float_format, int_format = {"f16": "eH", "f64": "dQ"}.get(element, "fI")
            return np.vectorize(
                lambda x: struct.unpack(f"<{int_format}", struct.pack(f"<{float_format}", x))[0],
                otypes=[f"u{struct.calcsize(int_format)}"],
            )(numbers)


def small_float(bits: int, exponent_bits: int, mantissa_bits: int) -> float:
    """The value of a pattern of sign, exponent and mantissa, special patterns read as if they were none."""
    mantissa = bits & (1 << mantissa_bits) - 1
    exponent = bits >> mantissa_bits & (1 << exponent_bits) - 1
    sign = -1 if bits >> (mantissa_bits + exponent_bits) else 1
    bias = (1 << exponent_bits - 1) - 1
    fraction = mantissa / (1 << mantissa_bits)
    return sign * (2.0 ** (exponent - bias) * (1 + fraction) if exponent else 2.0 ** (1 - bias) * fraction)


def registers_of(matrix: np.ndarray, place: Callable[[int, int, int], tuple[int, int]], count: int) -> np.ndarray:
    """The registers [..., 32, r] that hold the elements at `place(g, t, i)` of a matrix of bit patterns.

    Elements of 64 bits are in 64-bit registers, the others are packed into 32 bits, low to high.
    """
    bits = matrix.dtype.itemsize * 8
    a_register = max(1, 32 // bits)
    registers = np.zeros((*matrix.shape[:-2], 32, count // a_register), np.uint64 if bits == 64 else np.uint32)
    for lane in range(32):
        for i in range(count):
            row, column = place(lane // 4, lane % 4, i)
            element = matrix[..., row, column].astype(registers.dtype)
            registers[..., lane, i // a_register] |= element << registers.dtype.type(bits * (i % a_register))
    return registers
