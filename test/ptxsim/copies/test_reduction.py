"""The reductions of bulk copies: which operators and types there are, and what they do (PTX ISA §9.7.9.25.4.2)."""

import ml_dtypes
import numpy as np
import pytest

from ptxsim.copies.reduction import reduction_of


def reduced(operator, element_type, dtype, old, given, destination="global"):
    """The results of a reduction as integers of `dtype`; the values are integers, too."""
    function = reduction_of(operator, element_type, destination)
    assert function is not None
    unsigned = np.dtype(f"u{np.dtype(dtype).itemsize}")
    arrays = (np.array(each, dtype).view(unsigned) for each in (old, given))
    return function(*arrays).view(dtype).tolist()


def test_addition_wraps():
    assert reduced("add", "u32", np.uint32, [2**32 - 1, 5], [2, 7]) == [1, 12]
    assert reduced("add", "s32", np.int32, [2**31 - 1, -5], [1, 2]) == [-(2**31), -3]
    assert reduced("add", "u64", np.uint64, [2**64 - 1], [2]) == [1]


def test_minimum_and_maximum_know_the_sign():
    assert reduced("min", "s32", np.int32, [-1, 4], [3, -9]) == [-1, -9]
    assert reduced("max", "s64", np.int64, [-1, 4], [3, -9]) == [3, 4]
    assert reduced("min", "u32", np.uint32, [2**32 - 1], [3]) == [3]


# inc counts up to the source's value, dec down from it.
def test_increment_and_decrement_stay_within_the_source():
    assert reduced("inc", "u32", np.uint32, [0, 6, 7, 9], [7, 7, 7, 7]) == [1, 7, 0, 0]
    assert reduced("dec", "u32", np.uint32, [0, 6, 7, 9], [7, 7, 7, 7]) == [7, 5, 6, 7]


# A tensor map has no bit-size types: its integers are taken for them.
@pytest.mark.parametrize(("operator", "expected"), [("and", 0b1000), ("or", 0b1110), ("xor", 0b0110)])
def test_bits_of_integers_are_combined(operator, expected):
    assert reduced(operator, "b32", np.uint32, [0b1100], [0b1010]) == [expected]
    assert reduced(operator, "s64", np.int64, [0b1100], [0b1010], "tensor") == [expected]


# What the tables of the ISA do not have is refused.
@pytest.mark.parametrize(
    ("operator", "element_type", "destination"),
    [
        ("min", "f32", "global"),
        ("add", "s64", "global"),
        ("inc", "s32", "global"),
        ("and", "u32", "global"),
        ("add", "f32", "shared::cluster"),
        ("max", "u64", "shared::cluster"),
        ("xor", "b64", "shared::cluster"),
        ("add", "f64", "tensor"),
        ("add", "u8", "tensor"),
        ("and", "f32", "tensor"),
        ("mul", "u32", "global"),
    ],
)
def test_a_reduction_that_the_isa_does_not_have_is_none(operator, element_type, destination):
    assert reduction_of(operator, element_type, destination) is None


# Sums are rounded to nearest even; f32 alone flushes subnormal inputs and results.
@pytest.mark.parametrize(
    ("element_type", "dtype", "ulp"),
    [
        ("f16", np.float16, 2**-10),
        ("bf16", ml_dtypes.bfloat16, 2**-7),
        ("f32", np.float32, 2**-23),
        ("f64", float, 2**-52),
    ],
)
def test_floating_point_sums_are_rounded_to_even(element_type, dtype, ulp):
    old, given = [1.5, 1.0, 1 + ulp], [2.25, ulp / 2, ulp / 2]
    assert reduced("add", element_type, dtype, old, given) == [3.75, 1.0, 1 + 2 * ulp]


def test_sums_of_f32_flush_subnormals_and_those_of_f16_keep_them():
    assert reduced("add", "f32", np.float32, [2.0**-130], [2.0**-130]) == [0]
    assert reduced("add", "f16", np.float16, [2.0**-24], [2.0**-24]) == [2.0**-23]


def test_minimum_and_maximum_of_halves():
    assert reduced("min", "f16", np.float16, [-1, 4], [3, -9]) == [-1, -9]
    assert reduced("max", "bf16", ml_dtypes.bfloat16, [-1, 4], [3, -9]) == [3, 4]
