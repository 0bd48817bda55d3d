"""Comparing outputs: what counts as equal, and what is said of the first element that is not."""

import numpy as np
import pytest

from tinyc.diagnostics import TinycError
from tinyc.executors.compare import compare
from tinyc.executors.tolerance import Tolerance

LOOSE = Tolerance(1e-3, 1e-3)


def f32(*numbers):
    return np.array(numbers, np.float32)


def test_within_the_tolerance():
    result = compare("y", f32(1.0005, 0.0005), f32(1, 0), LOOSE)
    assert result.ok
    assert 4e-4 < result.largest_error < 6e-4


def test_the_first_mismatch_is_named():
    expected = np.zeros((2, 3), np.float32)
    actual = expected.copy()
    actual[1, 0], actual[1, 2] = 0.5, 7
    result = compare("y", actual, expected, LOOSE)
    assert not result.ok
    assert result.largest_error == 7
    assert result.mismatch.index == (1, 0)
    assert str(result) == (
        "output 'y': largest error 7 (rtol 0.001, atol 0.001); element [1, 0] is 0.5 and should be 0.0: "
        "error 0.5, allowed 0.001; 2 such elements"
    )


@pytest.mark.parametrize(
    ("actual", "expected", "ok"),
    [
        (np.nan, np.nan, True),
        (np.inf, np.inf, True),
        (np.inf, -np.inf, False),
        (np.nan, 1, False),
        (1, np.nan, False),
        (3e38, np.inf, False),
        (np.inf, 3e38, False),
        (-0.0, 0.0, True),
    ],
)
def test_special_values(actual, expected, ok):
    assert compare("y", f32(actual), f32(expected), LOOSE).ok is ok


def test_integers_are_exact_beyond_the_precision_of_f64():
    expected = np.array([2**62], np.int64)
    assert compare("y", expected, expected, Tolerance()).ok
    assert not compare("y", expected + 1, expected, Tolerance()).ok


def test_empty_and_scalar_outputs():
    assert compare("y", np.empty((0, 3)), np.empty((0, 3)), LOOSE).ok
    assert "the one element is 2.0" in str(compare("y", np.array(2.0), np.array(1.0), LOOSE))


def test_another_shape_or_type_is_an_error():
    with pytest.raises(TinycError, match=r"is float64 .* and should be float32") as caught:
        compare("y", np.ones(2), f32(1, 1), LOOSE)
    assert caught.value.name == "VerificationFailed"
