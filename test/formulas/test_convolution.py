"""Convolutions against sums over windows that are written out, their adjoints by their definition, and folds."""

import itertools

import ml_dtypes
import numpy as np
import pytest

import tinyc
from formulas.agreement import assert_op_agrees, results_of
from frontend_modules import module_of
from tinyc.expr import extents
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType


def random(*shape: int, dtype=np.float32, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def convolved(x, w, strides, dilations, pads, groups=1) -> np.ndarray:
    """A convolution, an element of the result at a time."""
    spatial = x.ndim - 2
    x = np.pad(x.astype(np.float64), [(0, 0), (0, 0), *zip(pads[:spatial], pads[spatial:], strict=True)])
    reach = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], dilations, strict=True)]
    places = [(n - r) // s + 1 for n, r, s in zip(x.shape[2:], reach, strides, strict=True)]
    result = np.zeros((x.shape[0], w.shape[0], *places))
    for f, *place in np.ndindex(w.shape[0], *places):
        first = f // (w.shape[0] // groups) * w.shape[1]
        window = [slice(p * s, p * s + r, d) for p, s, r, d in zip(place, strides, reach, dilations, strict=True)]
        seen = x[(slice(None), slice(first, first + w.shape[1]), *window)]
        result[(slice(None), f, *place)] = (seen * w[f]).sum(axis=tuple(range(1, x.ndim)))
    return result


@pytest.mark.parametrize(
    ("image", "weights", "attributes"),
    [
        ((2, 3, 11), (4, 3, 3), {"strides": (2,), "pads": (1, 2)}),
        ((1, 3, 7, 9), (4, 3, 3, 2), {"dilations": (2, 3), "pads": (0, 1, 2, 0)}),
        ((1, 2, 5, 4, 6), (3, 2, 2, 3, 2), {"strides": (1, 1, 2)}),
        ((2, 6, 7, 5), (4, 3, 3, 3), {"groups": 2, "strides": (2, 1), "pads": (1, 1, 1, 1)}),
        ((1, 5, 6, 6), (5, 1, 3, 3), {"groups": 5}),
        ((1, 3, 6, 6), (6, 1, 1, 1), {"groups": 3}),
    ],
)
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_a_convolution_is_a_sum_over_windows(image, weights, attributes, dtype):
    x, w, bias = random(*image, dtype=dtype), random(*weights, dtype=dtype, seed=1), random(weights[0], dtype=dtype)
    spatial = x.ndim - 2
    given = {"strides": (1,) * spatial, "dilations": (1,) * spatial, "pads": (0,) * (2 * spatial), **attributes}
    expected = convolved(x, w, **given) + bias.reshape(-1, *(1,) * spatial).astype(np.float64)
    small = dtype == np.float16
    tolerances = {"rtol": 2e-3 if small else 1e-4, "atol": 2e-3 if small else 1e-5}
    assert_op_agrees("conv", {"x": x, "w": w, "bias": bias}, expected.astype(dtype), **tolerances, **attributes)


def test_channels_may_be_last():
    x, w = random(1, 5, 6, 3), random(4, 3, 2, 2)
    expected = np.moveaxis(convolved(np.moveaxis(x, -1, 1), w, (1, 1), (1, 1), (0,) * 4), 1, -1)
    assert_op_agrees("conv", {"x": x, "w": w}, expected.astype(np.float32), rtol=1e-4, atol=1e-5, layout="nhwc")


def test_bf16_is_summed_in_f32():
    x, w = np.ones((1, 600, 1, 1), ml_dtypes.bfloat16), np.ones((1, 600, 1, 1), ml_dtypes.bfloat16)
    (found,) = results_of("conv", {"x": x, "w": w})
    assert found.astype(np.float32).item() == 600


@pytest.mark.parametrize(
    ("image", "weights", "attributes"),
    [
        ((1, 3, 4, 5), (3, 2, 3, 3), {}),
        ((2, 2, 5), (2, 3, 4), {"strides": (3,), "pads": (2, 1), "output_padding": (2,)}),
        ((1, 2, 3, 4), (2, 2, 2, 3), {"dilations": (2, 1), "strides": (2, 1), "pads": (1, 0, 0, 2)}),
        ((1, 4, 3, 3), (4, 2, 2, 2), {"groups": 2, "strides": (2, 2)}),
        ((1, 2, 2, 3, 2), (2, 1, 2, 2, 3), {"strides": (2, 1, 2)}),
        ((1, 1, 3, 3), (1, 1, 1, 1), {"strides": (3, 2), "pads": (0, 0, -1, -1)}),
    ],
)
def test_a_transposed_convolution_is_the_adjoint(image, weights, attributes):
    """`<conv(y), x> = <y, conv_transpose(x)>` for each y that has one element which is not 0."""
    x, w = random(*image), random(*weights, seed=1)
    (found,) = results_of("conv_transpose", {"x": x, "w": w}, "frontend", **attributes)
    spatial, groups = x.ndim - 2, attributes.get("groups", 1)
    pads = attributes.get("pads", (0,) * (2 * spatial))
    if min(pads) >= 0:
        strides, dilations = (attributes.get(name, (1,) * spatial) for name in ("strides", "dilations"))
        for at in itertools.islice(np.ndindex(*found.shape), 0, None, 3):
            y = np.zeros(found.shape)
            y[at] = 1
            seen = convolved(y, w, strides, dilations, pads, groups)[tuple(map(slice, x.shape))]
            np.testing.assert_allclose((seen * x).sum(), found[at], rtol=1e-4, atol=1e-5)
    assert_op_agrees("conv_transpose", {"x": x, "w": w}, rtol=1e-4, atol=1e-5, **attributes)


@pytest.mark.parametrize(
    ("weights", "attributes"),
    [
        ((8, 3, 3, 3), {}),
        ((8, 3, 3, 3), {"dilations": (2, 2), "pads": (1, 1, 1, 1)}),
        ((8, 3, 2, 2), {"strides": (2, 2)}),
        ((8, 3, 4, 4), {"strides": (2, 2), "pads": (1, 1, 1, 1)}),
        ((8, 3, 3, 5), {"strides": (2, 3), "pads": (1, 0, 0, 2), "output_padding": (1, 2)}),
        ((8, 3, 3, 3), {"strides": (2, 2), "groups": 2}),
    ],
)
def test_a_transposed_convolution_is_a_contraction(weights, attributes):
    x, w, bias = random(2, 8, 9, 10), random(*weights, seed=1), random(weights[1] * attributes.get("groups", 1), seed=2)
    assert_op_agrees("conv_transpose", {"x": x, "w": w, "bias": bias}, rtol=1e-4, atol=1e-5, **attributes)
    types = {"x": TensorType(ElementType.F32, x.shape), "w": TensorType(ElementType.F32, w.shape)}
    model = tinyc.compile(module_of("conv_transpose", types, **attributes), "cpu")
    assert 'kind = "contraction_pattern"' in str(model.lowering.module("poly_view"))


@pytest.mark.parametrize(
    ("columns", "attributes"),
    [
        ((2, 12, 6), {"shape": (3, 4), "kernel": (2, 2)}),
        ((1, 6, 4), {"shape": (10,), "kernel": (3,), "strides": (2,)}),
        ((1, 2, 5), {"shape": (9,), "kernel": (1,), "strides": (2,)}),
        ((1, 8, 6), {"shape": (5, 6), "kernel": (2, 2), "strides": (2, 3), "dilations": (2, 1), "pads": (1, 0, 0, 2)}),
        ((1, 16, 8), {"shape": (3, 3, 3), "kernel": (2, 2, 2)}),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.bool_])
def test_folds_add_up_windows(columns, attributes, dtype):
    x = (random(*columns) * 9).astype(dtype)
    assert_op_agrees("fold", {"x": x}, rtol=1e-4, atol=1e-5, **attributes)


def test_the_image_of_a_convolution_may_have_any_size():
    n, h = (extents.symbol(name) for name in "NH")
    w = random(4, 3, 3, 3)
    types = {"x": TensorType(ElementType.F32, (n, 3, h, 6)), "w": TensorType(ElementType.F32, w.shape)}
    for op, attributes in (("conv", {"pads": (1,) * 4, "strides": (2, 1)}), ("conv_transpose", {"strides": (2, 1)})):
        own = w if op == "conv" else w.transpose(1, 0, 2, 3).copy()
        model = tinyc.compile(
            module_of(op, {**types, "w": TensorType(ElementType.F32, own.shape)}, **attributes), "cpu"
        )
        for size in (3, 8):
            x = random(2, 3, size, 6)
            (found,) = model.run_named({"x": x, "w": own}).values()
            (expected,) = results_of(op, {"x": x, "w": own}, "frontend", **attributes)
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["strides", "dilations"])
@pytest.mark.parametrize("number", [0, -1])
@pytest.mark.parametrize("op", ["conv", "conv_transpose", "fold"])
def test_a_step_of_windows_is_above_zero(op, number, name):
    image, weights = (TensorType(ElementType.F32, shape) for shape in ((1, 4, 8, 8), (4, 4, 3, 3)))
    columns = {"x": TensorType(ElementType.F32, (1, 36, 36))}
    types = columns if op == "fold" else {"x": image, "w": weights}
    sizes = {"shape": (8, 8), "kernel": (3, 3)} if op == "fold" else {}
    message = rf"\[2, {number}\] is given for {name}; each number is at least 1"
    with pytest.raises(tinyc.TinycError, match=message):
        module_of(op, types, **sizes, **{name: (2, number)})


def test_the_kernel_of_a_fold_has_elements():
    with pytest.raises(tinyc.TinycError, match=r"\[0, 3\] is given for the kernel"):
        module_of("fold", {"x": TensorType(ElementType.F32, (1, 36, 36))}, shape=(8, 8), kernel=(0, 3))
