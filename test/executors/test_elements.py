"""Conversions between element types: one rounding, saturation, wrapping."""

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from tinyc.executors.elements import ORACLE, REFERENCE, cast_array, convert
from tinyc.vocabulary.element_type import ElementType

BF16 = np.dtype(ml_dtypes.bfloat16)


def nearest_bf16(number):
    """Return the bf16 nearest to an exact number, ties to even, by searching all of them."""
    finite = np.arange(0x7F80, dtype=np.uint16)
    magnitudes = [Fraction(float(value)) for value in finite.view(BF16).astype(np.float64)]
    distance, at = min((abs(value - abs(number)), at % 2, at) for at, value in enumerate(magnitudes))[::2]
    return float(finite[at : at + 1].view(BF16)[0]) * (-1 if number < 0 else 1), distance


@pytest.mark.parametrize(
    "number", [1 + 2**-8 + 2**-40, 1 + 2**-8 - 2**-40, -(1 + 3 * 2**-8 + 2**-45), 2**-133 * 1.5, 3.0e38]
)
def test_f64_to_bf16_rounds_once(number):
    # By way of f32 the first would round to a tie, and then to the wrong neighbour.
    assert float(convert(np.float64(number), BF16)) == nearest_bf16(Fraction(number))[0]


@pytest.mark.parametrize("number", [2**24 + 2**16 + 1, -(2**62 + 2**54 + 1), 2**63 - 1, 2**53 + 2**45 + 1])
def test_i64_to_bf16_rounds_once(number):
    assert float(convert(np.int64(number), BF16)) == nearest_bf16(Fraction(number))[0]


def test_f64_to_f16_rounds_once_with_subnormals_and_overflow():
    numbers = np.array([1 + 2**-11 + 2**-40, 2**-24 * 1.5, 2**-25, 65519.99, 65520.0, np.inf, np.nan])
    expected = np.array([1 + 2**-10, 2**-23, 0, 65504, np.inf, np.inf, np.nan], np.float16)
    np.testing.assert_array_equal(convert(numbers, np.dtype(np.float16)), expected)


@pytest.mark.parametrize("element", ["i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64"])
@pytest.mark.parametrize("source", ["f32", "f64", "bf16"])
def test_float_to_integer_truncates_and_saturates(source, element):
    numbers = np.array([np.nan, np.inf, -np.inf, 3.0e38, -3.0e38, 2.75, -2.75, 0.5], ElementType(source).dtype)
    info = np.iinfo(ElementType(element).dtype)
    expected = [0, info.max, info.min, info.max, info.min, 2, max(-2, info.min), 0]
    assert convert(numbers, ElementType(element).dtype).tolist() == expected


def test_to_bool_is_not_equal_to_zero():
    assert convert(np.array([0.0, -0.0, np.nan, 0.25]), np.dtype(bool)).tolist() == [False, False, True, True]


def test_integers_wrap():
    assert convert(np.array([300, -1, 128]), np.dtype(np.int8)).tolist() == [44, -1, -128]


def test_the_oracle_rounds_at_a_cast_only():
    third = np.array(1 / 3)
    assert cast_array(third, ElementType.F16, ORACLE) == np.float64(np.float16(1 / 3))
    assert ORACLE.round(third, ElementType.F16) == 1 / 3
    assert REFERENCE.round(third, ElementType.F16) == np.float16(1 / 3)
