"""Layer, rms, group, instance and batch norms."""

import numpy as np
import pytest

import tinyc
from formulas.agreement import assert_op_agrees
from frontend_modules import module_of
from tinyc.expr.extents import symbol
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType

RNG = np.random.default_rng(1)
TOLERANCES = {np.float16: 3e-3, np.float32: 1e-4, np.float64: 1e-10}


def random(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


def standardised(x, axes, epsilon=1e-5):
    wide = x.astype(np.float64)
    return (wide - wide.mean(axes, keepdims=True)) / np.sqrt(wide.var(axes, keepdims=True) + epsilon)


def channels(vector, rank):
    return vector.astype(np.float64).reshape(-1, *[1] * (rank - 2))


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("axis", [1, -1])
def test_layer_norm_has_three_results(dtype, axis):
    x = random(3, 7, 5, dtype=dtype) + dtype(100)
    scale, bias = random(*x.shape[axis:], dtype=dtype), random(*x.shape[axis:], dtype=dtype)
    axes = tuple(range(axis % 3, 3))
    wide = x.astype(np.float64)
    mean, inverse = wide.mean(axes, keepdims=True), 1 / np.sqrt(wide.var(axes, keepdims=True) + 1e-5)
    expected = standardised(x, axes) * scale + bias
    listed = [expected.astype(dtype), mean.astype(np.float32), inverse.astype(np.float32)]
    rtol = max(TOLERANCES[dtype], 1e-5)
    assert_op_agrees("layer_norm", {"x": x, "scale": scale, "bias": bias}, listed, rtol=rtol, atol=rtol, axis=axis)


def test_layer_norm_without_a_bias():
    x, scale = random(4, 9), random(9)
    assert_op_agrees("layer_norm", {"x": x, "scale": scale}, rtol=1e-4, atol=1e-5)


def test_a_large_mean_costs_no_digits():
    x = (random(2, 64) * 1e-2 + 1e3).astype(np.float32)
    expected = standardised(x, (1,), 1e-12).astype(np.float32)
    operands = {"x": x[:, None], "scale": np.ones(1, np.float32), "bias": np.zeros(1, np.float32)}
    assert_op_agrees("instance_norm", operands, expected[:, None], rtol=1e-2, atol=1e-2, epsilon=1e-12)


@pytest.mark.parametrize("dtype", TOLERANCES)
def test_rms_norm(dtype):
    x, scale = random(3, 7, 5, dtype=dtype), random(5, dtype=dtype)
    wide = x.astype(np.float64)
    expected = wide / np.sqrt((wide * wide).mean(-1, keepdims=True) + 1e-5) * scale
    rtol = TOLERANCES[dtype]
    assert_op_agrees("rms_norm", {"x": x, "scale": scale}, expected.astype(dtype), rtol=rtol, atol=rtol)


@pytest.mark.parametrize("groups", [1, 2, 6])
def test_group_norm(groups):
    x, scale, bias = random(2, 6, 3, 5), random(6), random(6)
    parts = [standardised(part, (1, 2, 3)) for part in np.split(x, groups, 1)]
    expected = (np.concatenate(parts, 1) * channels(scale, 4) + channels(bias, 4)).astype(np.float32)
    operands = {"x": x, "scale": scale, "bias": bias}
    assert_op_agrees("group_norm", operands, expected, rtol=1e-4, atol=1e-5, groups=groups)


def test_groups_divide_channels():
    x, vector = TensorType(ElementType.F32, (2, 6, 4)), TensorType(ElementType.F32, (6,))
    with pytest.raises(tinyc.TinycError, match="6 channels are not 4 groups of them; choose a divisor"):
        module_of("group_norm", {"x": x, "scale": vector, "bias": vector}, groups=4)


@pytest.mark.parametrize("spatial", [(7,), (3, 5), (2, 3, 4)])
def test_instance_norm_and_batch_norm(spatial):
    x, scale, bias = random(2, 3, *spatial), random(3), random(3)
    axes = tuple(range(2, x.ndim))
    expected = standardised(x, axes) * channels(scale, x.ndim) + channels(bias, x.ndim)
    operands = {"x": x, "scale": scale, "bias": bias}
    assert_op_agrees("instance_norm", operands, expected.astype(np.float32), rtol=1e-4, atol=1e-5)
    mean, variance = random(3), np.abs(random(3))
    known = (x - channels(mean, x.ndim)) / np.sqrt(channels(variance, x.ndim) + 1e-5)
    expected = known * channels(scale, x.ndim) + channels(bias, x.ndim)
    operands |= {"mean": mean, "variance": variance}
    assert_op_agrees("batch_norm", operands, expected.astype(np.float32), rtol=1e-4, atol=1e-5)


def test_a_batch_norm_that_trains_gives_running_statistics():
    x, scale, bias, mean, variance = random(4, 3, 5), random(3), random(3), random(3), np.abs(random(3))
    wide = x.astype(np.float64)
    expected = [
        standardised(x, (0, 2)) * channels(scale, 3) + channels(bias, 3),
        mean * 0.75 + wide.mean((0, 2)) * 0.25,
        variance * 0.75 + wide.var((0, 2)) * 0.25,
    ]
    operands = {"x": x, "scale": scale, "bias": bias, "mean": mean, "variance": variance}
    listed = [each.astype(np.float32) for each in expected]
    assert_op_agrees("batch_norm_training", operands, listed, rtol=1e-4, atol=1e-5, momentum=0.75)


@pytest.mark.parametrize("p", [1, 2])
def test_lp_norm_of_zeros_is_zero(p):
    x = random(3, 5)
    x[1] = 0
    norm = np.linalg.norm(x, p, 1, keepdims=True)
    assert_op_agrees("lp_norm", {"x": x}, x / np.where(norm == 0, 1, norm), axis=1, p=p)


@pytest.mark.parametrize("p", [1, 2])
def test_lp_norm_of_a_row_with_nan_is_nan(p):
    x = random(2, 3)
    x[1, 2] = np.nan
    expected = x / np.linalg.norm(x, p, 1, keepdims=True)
    assert np.isnan(expected[1]).all()
    assert_op_agrees("lp_norm", {"x": x}, expected, axis=1, p=p)


def test_mean_variance_norm():
    x = random(2, 3, 5, 4)
    wide = x.astype(np.float64)
    expected = (wide - wide.mean((0, 2, 3), keepdims=True)) / wide.std((0, 2, 3), keepdims=True)
    assert_op_agrees("mean_variance_norm", {"x": x}, expected.astype(np.float32), rtol=1e-4, atol=1e-5, axes=(0, 2, 3))


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_local_response_norm(size):
    x = random(2, 4, 3, 2)
    around = np.zeros(x.shape)
    for channel in range(4):
        around[:, channel] = (x[:, max(0, channel - (size - 1) // 2) : channel + size // 2 + 1] ** 2).sum(1)
    expected = (x / (2 + 0.5 / size * around) ** 0.75).astype(np.float32)
    assert_op_agrees("local_response_norm", {"x": x}, expected, rtol=1e-4, size=size, alpha=0.5, bias=2.0)


def test_norms_take_extents_that_are_known_when_they_run():
    batch, height = symbol("N"), symbol("H")
    vector = TensorType(ElementType.F32, (4,))
    types = {"x": TensorType(ElementType.F32, (batch, 4, height, 3)), "scale": vector, "bias": vector}
    model = tinyc.compile(module_of("group_norm", types, groups=2), "cpu")
    for extents in ((1, 5), (3, 2)):
        x, scale, bias = random(extents[0], 4, extents[1], 3), random(4), random(4)
        (found,) = model.run_named({"x": x, "scale": scale, "bias": bias}).values()
        parts = [standardised(part, (1, 2, 3)) for part in np.split(x, 2, 1)]
        expected = np.concatenate(parts, 1) * channels(scale, 4) + channels(bias, 4)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_integers_have_no_norm():
    x = TensorType(ElementType.I32, (2, 3))
    with pytest.raises(tinyc.TinycError, match="a norm takes floats, and its operand is i32; cast it"):
        module_of("lp_norm", {"x": x})


@pytest.mark.parametrize("shape", [(4,), (2, 3, 5)])
@pytest.mark.parametrize("op", ["group_norm", "instance_norm", "batch_norm"])
def test_a_norm_of_channels_has_a_parameter_for_each(op, shape):
    names = ("scale", "bias", *(("mean", "variance") if op == "batch_norm" else ()))
    types = {"x": TensorType(ElementType.F32, shape), **dict.fromkeys(names, TensorType(ElementType.F32, (4,)))}
    told = r"no vector of the channels of|takes \[batch, channels|they are 4 and 3"
    with pytest.raises(tinyc.TinycError, match=told):
        module_of(op, types, **({"groups": 1} if op == "group_norm" else {}))
