"""Resizing."""

import numpy as np
import pytest

import tinyc
from formulas.agreement import assert_op_agrees, results_of
from frontend_modules import module_of
from parameters import pairwise
from tinyc.expr.extents import symbol
from tinyc.formulas.resize import COORDINATES, NEAREST
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType

RNG = np.random.default_rng(3)
#: Extents after: twice, by a ratio, fewer, few; those before are [2, 3, 6, 7].
SHAPES = [(2, 3, 12, 21), (2, 3, 4, 10), (2, 3, 1, 2)]


def random(*shape, dtype=np.float32):
    return (RNG.standard_normal(shape) * 10).astype(dtype)


def test_known_values():
    x = np.array([[1, 2], [3, 4]], np.float32)
    repeated = x.repeat(2, 0).repeat(2, 1)
    assert_op_agrees("resize", {"x": x}, repeated, shape=(4, 4), coordinates="asymmetric", nearest="floor")
    line = np.array([[1, 1.25, 1.75, 2]], np.float32)
    assert_op_agrees("resize", {"x": x[:1]}, line, shape=(1, 4), mode="linear")
    corners = np.array([[1, 4 / 3, 5 / 3, 2]], np.float32)
    assert_op_agrees("resize", {"x": x[:1]}, corners, shape=(1, 4), mode="linear", coordinates="align_corners")


@pairwise(mode=["linear", "cubic"], coordinates=COORDINATES[:-1], shape=SHAPES)
def test_interpolation_agrees(mode, coordinates, shape):
    operands = {"x": random(2, 3, 6, 7)}
    assert_op_agrees("resize", operands, rtol=1e-4, atol=1e-4, shape=shape, mode=mode, coordinates=coordinates)


@pairwise(coordinates=["half_pixel", "align_corners", "asymmetric"], nearest=NEAREST, shape=SHAPES)
def test_nearest_elements_agree(coordinates, nearest, shape):
    attributes = {"shape": shape, "coordinates": coordinates, "nearest": nearest}
    assert_op_agrees("resize", {"x": random(2, 3, 6, 7)}, **attributes)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("exclude_outside", [False, True])
def test_averages_of_what_a_result_stands_for(mode, exclude_outside):
    attributes = {"mode": mode, "antialias": True, "exclude_outside": exclude_outside}
    assert_op_agrees("resize", {"x": random(1, 11, 7)}, rtol=1e-4, atol=1e-4, shape=(1, 4, 9), **attributes)
    attributes["antialias"] = False
    assert_op_agrees("resize", {"x": random(1, 11, 7)}, rtol=1e-4, atol=1e-4, shape=(1, 4, 9), **attributes)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_a_crop_has_a_number_for_what_is_outside(mode):
    attributes = {"coordinates": "tf_crop_and_resize", "crop": (0, 0.4, -0.2, 1, 0.6, 1.2), "extrapolation": 10.0}
    operands = {"x": random(2, 6, 7)}
    assert_op_agrees("resize", operands, rtol=1e-4, atol=1e-4, shape=(2, 3, 5), mode=mode, **attributes)


def test_a_scale_need_not_be_the_ratio_of_extents():
    attributes = {"shape": (4, 3), "scales": (0.8, 0.6), "mode": "linear"}
    assert_op_agrees("resize", {"x": random(5, 6)}, rtol=1e-4, atol=1e-4, **attributes)
    irrational = {"shape": (7, 8), "scales": (1.414213562, 1.414213562), "mode": "linear"}
    assert_op_agrees("resize", {"x": random(5, 6)}, rtol=1e-4, atol=1e-4, **irrational)


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float16, np.float64])
def test_other_types(dtype):
    x = RNG.integers(0, 200, (3, 5)).astype(dtype)
    assert_op_agrees("resize", {"x": x}, shape=(6, 5), nearest="floor")
    assert_op_agrees("resize", {"x": x}, rtol=2e-3, shape=(6, 5), mode="linear")


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_extents_that_are_known_when_it_runs(mode):
    height = symbol("H")
    types = {"x": TensorType(ElementType.F32, (symbol("N"), height, 5))}
    attributes = {"mode": mode, "coordinates": "asymmetric", "nearest": "floor", "scales": (1.0, 2.0, 2.0)}
    model = tinyc.compile(module_of("resize", types, shape=(symbol("N"), height * 2, 10), **attributes), "cpu")
    for shape in ((1, 3, 5), (2, 8, 5)):
        x = random(*shape)
        (found,) = model.run_named({"x": x}).values()
        after = (shape[0], shape[1] * 2, 10)
        (expected,) = results_of("resize", {"x": x}, "frontend", shape=after, **attributes)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_sizes_that_are_known_when_it_runs():
    types = {"x": TensorType(ElementType.F32, (symbol("H"), 5))}
    model = tinyc.compile(module_of("resize", types, shape=(symbol("H") + 3, 7), mode="linear"), "cpu")
    x = random(4, 5)
    (found,) = model.run_named({"x": x}).values()
    (expected,) = results_of("resize", {"x": x}, "frontend", shape=(7, 7), mode="linear")
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"mode": "best"}, "mode is 'best'; it is"),
        ({"coordinates": "polar"}, "coordinates is 'polar'; it is"),
        ({"scales": (1.0,)}, "do not fit"),
        ({"scales": (1.0, 0.0)}, "do not fit"),
    ],
)
def test_what_there_is_not(attributes, message):
    with pytest.raises(tinyc.TinycError, match=message):
        module_of("resize", {"x": TensorType(ElementType.F32, (2, 3))}, shape=(4, 6), **attributes)


def test_an_average_needs_to_know_its_scale():
    types = {"x": TensorType(ElementType.F32, (symbol("H"),))}
    with pytest.raises(tinyc.TinycError, match="antialias needs the scale 4 / H as a number"):
        module_of("resize", types, shape=(4,), mode="linear", antialias=True)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_of_nothing_nothing_is_resized(mode):
    with pytest.raises(tinyc.TinycError, match=r"axis 1 of fp32 \[2, 0\] has no element; it cannot be resized to 3"):
        module_of("resize", {"x": TensorType(ElementType.F32, (2, 0))}, shape=(2, 3), mode=mode)
