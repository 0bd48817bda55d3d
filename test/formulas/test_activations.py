"""Activations: their attributes, integers where there are any, and what a slope broadcasts to."""

import numpy as np
import pytest

from formulas.agreement import assert_op_agrees, results_of
from tinyc import TinycError

X = np.array([-3.0, -1.0, -0.25, 0.0, 0.25, 1.0, 3.0, 7.0], np.float32)

EXPECTED = [
    ("elu", {"alpha": 2.0}, np.where(X < 0, 2 * np.expm1(X), X)),
    ("celu", {"alpha": 2.0}, np.maximum(X, 0) + np.minimum(0, 2 * np.expm1(X / 2))),
    ("selu", {"alpha": 2.0, "gamma": 3.0}, 3 * np.where(X < 0, 2 * np.expm1(X), X)),
    ("hard_sigmoid", {"alpha": 0.5, "beta": 0.25}, np.clip(0.5 * X + 0.25, 0, 1)),
    ("hard_swish", {}, X * np.clip(X / 6 + 0.5, 0, 1)),
    ("leaky_relu", {"alpha": 0.125}, np.where(X < 0, 0.125 * X, X)),
    ("shrink", {"lambd": 0.5, "bias": 0.25}, np.array([-2.75, -0.75, 0, 0, 0, 0.75, 2.75, 6.75])),
    ("thresholded_relu", {"alpha": 1.0}, np.where(X > 1, X, 0)),
    ("swish", {"alpha": 2.0}, X / (1 + np.exp(-2 * X))),
    ("softsign", {}, X / (1 + np.abs(X))),
]


@pytest.mark.parametrize(("fn", "attributes", "expected"), EXPECTED)
def test_activations(fn, attributes, expected):
    assert_op_agrees(f"elementwise {fn}", {"x": X}, expected.astype(np.float32), **attributes)
    half = X.astype(np.float16)
    assert_op_agrees(f"elementwise {fn}", {"x": half}, expected.astype(np.float16), rtol=1e-3, **attributes)


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint8])
def test_shrink_of_integers(dtype):
    x = np.array([0, 1, 2, 3, 100], dtype)
    assert results_of("elementwise shrink", {"x": x}, lambd=1.5, bias=1.0)[0].tolist() == [0, 0, 1, 2, 99]


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int32, np.uint32])
def test_slopes_of_channels(dtype):
    x = np.arange(-6, 6).reshape(2, 3, 2).astype(dtype)
    slope = np.array([[2], [3], [4]], dtype)
    assert_op_agrees("elementwise prelu", {"x": x, "y": slope}, np.where(x < 0, x * slope, x).astype(dtype))


def test_slopes_do_not_widen_what_they_scale():
    with pytest.raises(TinycError, match=r"the slopes .* do not broadcast to"):
        results_of("elementwise prelu", {"x": np.zeros((1, 3), np.float32), "y": np.zeros((2, 3), np.float32)})


def test_celu_needs_a_scale_above_0():
    with pytest.raises(TinycError, match=r"alpha is 0\.0; celu takes one above 0"):
        results_of("elementwise celu", {"x": X}, alpha=0.0)


def test_gelu_is_one_of_two():
    with pytest.raises(TinycError, match="approximate is 'sigmoid'; it is 'none' or 'tanh'"):
        results_of("elementwise gelu", {"x": X}, approximate="sigmoid")


def test_pow_takes_numbers():
    with pytest.raises(TinycError, match="pow takes numbers, not bool and fp32"):
        results_of("elementwise pow", {"x": X > 0, "y": X})
