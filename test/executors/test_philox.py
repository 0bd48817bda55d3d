"""Philox-4x32-10 against the known answers of Random123, and what is made of its words."""

import numpy as np
import pytest

from tinyc.executors import leaves, philox
from tinyc.executors.elements import Precision
from tinyc.vocabulary.element_type import ElementType

ONES = 2**32 - 1
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((ONES, ONES, ONES, ONES), (ONES, ONES), (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN)
def test_known_answers(counter, key, expected):
    assert tuple(philox.philox(np.array([counter], np.uint32), key)[0]) == expected


def test_words_use_position_stream_and_seed():
    # Element e takes word e % 4 of the counter (e // 4, stream) under the seed.
    seed, stream = 0x123456789ABCDEF0, 0xFEDCBA9876543210
    counter = np.array([[1, 0, 0x76543210, 0xFEDCBA98]], np.uint32)
    block = philox.philox(counter, (0x9ABCDEF0, 0x12345678))[0]
    np.testing.assert_array_equal(philox.words(7, seed, stream)[4:], block[:3])


def test_a_negative_seed_is_taken_modulo_2_to_the_64():
    np.testing.assert_array_equal(philox.words(4, -1, 0), philox.words(4, 2**64 - 1, 0))


def test_uniform_numbers_are_the_upper_24_bits():
    numbers = philox.uniform(5, 7, 0)
    assert numbers.dtype == np.float32
    np.testing.assert_array_equal(numbers * 2**24, philox.words(5, 7, 0) >> 8)


def test_normal_numbers_are_standard_normal():
    numbers = philox.normal(100_001, 3, 1)
    assert len(numbers) == 100_001
    assert abs(numbers.mean()) < 0.02
    assert abs(numbers.std() - 1) < 0.02
    assert 0.67 < (abs(numbers) < 1).mean() < 0.70


@pytest.mark.parametrize(("element", "bits"), [("f16", 11), ("bf16", 8), ("f32", 24), ("f64", 24)])
def test_uniform_numbers_of_every_type_stay_below_one(element, bits):
    assert ElementType(element).uniform_bits == bits
    numbers = leaves.rand(
        {"shape": (100_000,), "element": ElementType(element), "distribution": "uniform", "seed": 1, "stream": 0},
        Precision(False),
    )
    assert numbers.min() >= 0
    assert numbers.max() < 1
