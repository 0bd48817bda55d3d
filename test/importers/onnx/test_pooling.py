"""ONNX's pooling: automatic pads, global pools, dynamic extents."""

import numpy as np
import pytest

import tinyc
from importers.onnx.test_reductions import model_of, run

X = np.random.default_rng(7).standard_normal((1, 2, 5, 4)).astype(np.float32)


def test_automatic_pads_are_before_or_behind():
    for kind, padded in (
        ("SAME_UPPER", ((0, 0), (0, 0), (0, 1), (0, 1))),
        ("SAME_LOWER", ((0, 0), (0, 0), (1, 0), (1, 0))),
    ):
        (found,) = run(model_of("MaxPool", [1, 2, 5, 4], 13, kernel_shape=[2, 2], auto_pad=kind), X)
        wide = np.pad(X, padded, constant_values=-np.inf)
        windows = np.lib.stride_tricks.sliding_window_view(wide, (2, 2), (2, 3))
        np.testing.assert_array_equal(found, windows.max((-1, -2)))


def test_automatic_pads_of_a_dynamic_extent_need_the_stride_1():
    (found,) = run(model_of("AveragePool", [1, 2, "H", 4], 19, kernel_shape=[3, 3], auto_pad="SAME_UPPER"), X)
    (known,) = run(model_of("AveragePool", [1, 2, 5, 4], 19, kernel_shape=[3, 3], auto_pad="SAME_UPPER"), X)
    np.testing.assert_array_equal(found, known)
    model = model_of("MaxPool", [1, 2, "H", 4], 12 + 1, kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER")
    why = (
        "MaxPool: auto_pad = 'SAME_UPPER' with strides needs extents that are numbers, not H; bind them: --bind H=SIZE"
    )
    with pytest.raises(tinyc.TinycError, match=why):
        tinyc.compile(model, target="cpu")


def test_an_automatic_pad_that_there_is_not():
    with pytest.raises(tinyc.TinycError, match="auto_pad is 'SAME'; it is NOTSET, SAME_UPPER, SAME_LOWER or VALID"):
        tinyc.compile(model_of("MaxPool", [1, 2, 5, 4], 13, kernel_shape=[2, 2], auto_pad="SAME"), target="cpu")


@pytest.mark.parametrize("p", [1, 2, 3])
def test_the_norm_of_an_image(p):
    (found,) = run(model_of("GlobalLpPool", [1, 2, "H", 4], 13, p=p), X)
    expected = (np.abs(X) ** p).sum((2, 3), keepdims=True) ** (1 / p)
    np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_maxima_are_put_back():
    indices = np.array([[[[1, 3], [8, 10]]]])
    values = np.array([[[[1, 2], [3, 4]]]], np.float32)
    (found,) = run(model_of("MaxUnpool", [1, 1, 2, 2], 13, [indices], kernel_shape=[2, 2], strides=[2, 2]), values)
    expected = np.zeros(16, np.float32)
    expected[indices.ravel()] = values.ravel()
    np.testing.assert_array_equal(found, expected.reshape(1, 1, 4, 4))
