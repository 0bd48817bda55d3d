"""The numbers of element types: every bit pattern, against the formats' definitions."""

import math
import struct
from collections.abc import Callable

import numpy as np
import pytest

from ptxsim.matrix.elements import ELEMENTS, pack, unpack
from ptxsim_cases.matrix_values import small_float


def e4m3(bits: int) -> float:
    # No infinities; S.1111.111 is NaN (PTX ISA §5.2.3).
    return math.nan if bits & 0x7F == 0x7F else small_float(bits, 4, 3)


def e5m2(bits: int) -> float:
    if bits & 0x7C != 0x7C:
        return small_float(bits, 5, 2)
    return math.nan if bits & 3 else math.copysign(math.inf, -1 if bits & 0x80 else 1)


def f16(bits: int) -> float:
    return struct.unpack("<e", struct.pack("<H", bits))[0]


def bf16(bits: int) -> float:
    return struct.unpack("<f", struct.pack("<I", bits << 16))[0]


def s8(bits: int) -> float:
    return bits - 256 if bits >= 128 else bits


@pytest.mark.parametrize(
    ("name", "number"),
    [("e4m3", e4m3), ("e5m2", e5m2), ("f16", f16), ("bf16", bf16), ("s8", s8), ("u8", float)],
)
def test_every_pattern(name: str, number: Callable[[int], float]) -> None:
    element = ELEMENTS[name]
    patterns = np.arange(1 << element.bits, dtype=element.dtype)
    found, expected = element.numbers(patterns), np.array([number(int(bits)) for bits in patterns], np.float64)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found[expected == 0]), np.signbit(expected[expected == 0]))


def test_elements_lie_in_registers_from_the_lowest_bits_up() -> None:
    registers = np.array([[0x44332211, 0x88776655]], np.uint32)
    assert unpack(registers, 8).tolist() == [[0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88]]
    assert unpack(registers, 16).tolist() == [[0x2211, 0x4433, 0x6655, 0x8877]]
    np.testing.assert_array_equal(pack(unpack(registers, 16)), registers)


def test_registers_of_a_strided_view_are_unpacked() -> None:
    registers = np.array([[1, 9, 2, 9]], np.uint32)[:, ::2]
    assert unpack(registers, 32).tolist() == [[1, 2]]
