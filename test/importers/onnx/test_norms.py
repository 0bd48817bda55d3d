"""ONNX's norms: what opsets differ in, and outputs beside the first."""

import numpy as np
import pytest

import tinyc
from importers.onnx.test_reductions import model_of, run

X = np.random.default_rng(6).standard_normal((2, 4, 3)).astype(np.float32)


def standardised(x, axes):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)


def test_groups_had_a_scale_each_before_channels_had():
    pair, four = np.array([2, 3], np.float32), np.array([2, 2, 3, 3], np.float32)
    expected = (
        np.concatenate([standardised(part, (1, 2)) for part in np.split(X, 2, 1)], 1) * four[:, None] + four[:, None]
    )
    for opset, vector in ((18, pair), (21, four)):
        (found,) = run(model_of("GroupNormalization", [2, 4, 3], opset, [vector, vector], num_groups=2), X)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_a_layer_norm_gives_its_statistics_where_they_are_wanted():
    model = model_of("LayerNormalization", [2, 4, 3], 17, [np.ones(3, np.float32)], outputs=3)
    result, mean, inverse = run(model, X)
    np.testing.assert_allclose(result, standardised(X, (2,)), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(mean, X.mean(2, keepdims=True), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(inverse, 1 / np.sqrt(X.var(2, keepdims=True) + 1e-5), rtol=1e-4)


def test_a_batch_norm_that_trains_gives_running_statistics():
    vectors = [np.full(4, each, np.float32) for each in (1, 0, 0.5, 2)]
    model = model_of("BatchNormalization", [2, 4, 3], 15, vectors, outputs=3, training_mode=1, momentum=0.5)
    result, mean, variance = run(model, X)
    np.testing.assert_allclose(result, standardised(X, (0, 2)), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(mean, 0.25 + X.mean((0, 2)) / 2, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(variance, 1 + X.var((0, 2)) / 2, rtol=1e-4)


def test_a_norm_of_another_exponent_is_refused():
    with pytest.raises(tinyc.TinycError, match="p is 3; it is 1 or 2"):
        tinyc.compile(model_of("LpNormalization", [2, 4, 3], 22, p=3), target="cpu")
