"""The element types of matrix instructions: how elements lie in registers, and what number a bit pattern is.

In: registers or elements as bit patterns. Out: elements, registers, or numbers in float64, which holds every value of
every type here exactly.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import ml_dtypes
import numpy as np


@dataclass(frozen=True)
class Element:
    """A type of matrix elements: its name in PTX, its width, and how its bit patterns are read as float64."""

    name: str
    bits: int
    reading: Callable[[np.ndarray], np.ndarray]

    def numbers(self, bits: np.ndarray) -> np.ndarray:
        """The numbers of bit patterns, float64, of the same shape."""
        with np.errstate(invalid="ignore"):  # widening a signaling NaN
            return self.reading(bits)

    @property
    def dtype(self) -> np.dtype:
        """The unsigned type of its bit patterns; those of less than a byte have one each."""
        return np.dtype(f"u{-(-self.bits // 8)}")


def _viewed(dtype: type) -> Callable[[np.ndarray], np.ndarray]:
    """The reading of bits as a type that numpy has."""
    return lambda bits: np.ascontiguousarray(bits).view(dtype).astype(np.float64)


def _tabulated(dtype: type) -> Callable[[np.ndarray], np.ndarray]:
    """The reading of bytes by a table of all 256."""
    table = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float64)
    return lambda bits: table[bits]


def _s4(bits: np.ndarray) -> np.ndarray:
    return (bits << 4).view(np.int8).astype(np.float64) / 16


def _bf16(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def _tf32(bits: np.ndarray) -> np.ndarray:
    # wgmma "will truncate lower 13 bits" (§9.7.15.5.2); for mma, where they are unspecified, the same.
    return (bits & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float64)


ELEMENTS: Mapping[str, Element] = {
    element.name: element
    for element in (
        Element("f16", 16, _viewed(np.float16)),
        Element("bf16", 16, _bf16),
        Element("tf32", 32, _tf32),
        Element("f32", 32, _viewed(np.float32)),
        Element("f64", 64, _viewed(np.float64)),
        Element("e4m3", 8, _tabulated(ml_dtypes.float8_e4m3fn)),
        Element("e5m2", 8, _tabulated(ml_dtypes.float8_e5m2)),
        Element("s8", 8, _tabulated(np.int8)),
        Element("u8", 8, _tabulated(np.uint8)),
        Element("s4", 4, _s4),
        Element("u4", 4, _viewed(np.uint8)),
        Element("b1", 1, _viewed(np.uint8)),
        Element("s32", 32, _viewed(np.int32)),
    )
}


def unpack(registers: np.ndarray, bits: int) -> np.ndarray:
    """The elements in registers, the lowest bits first.

    Shapes: registers [..., r] uint32 (uint64 for 64-bit elements); the result [..., r · 32 / bits] unsigned.
    """
    if bits >= 8:
        return np.ascontiguousarray(registers).view(f"<u{bits // 8}")
    octets = np.ascontiguousarray(registers).view(np.uint8)[..., None]
    parts = octets >> np.arange(0, 8, bits, dtype=np.uint8) & np.uint8((1 << bits) - 1)
    return parts.reshape(*registers.shape[:-1], -1)


def pack(elements: np.ndarray) -> np.ndarray:
    """The registers that hold elements, the inverse of `unpack` for elements of 8 bits and more."""
    return np.ascontiguousarray(elements).view("<u8" if elements.dtype.itemsize == 8 else "<u4")
