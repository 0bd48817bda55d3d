"""Grids, and regions of interest."""

import numpy as np
import pytest

import tinyc
from formulas.agreement import assert_op_agrees
from frontend_modules import module_of
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType

RNG = np.random.default_rng(4)


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("size", [(3, 5), (2, 3, 4), (1, 1)])
def test_grids(size, align_corners):
    theta = RNG.standard_normal((2, len(size), len(size) + 1)).astype(np.float32)
    attributes = {"size": size, "align_corners": align_corners}
    assert_op_agrees("affine_grid", {"theta": theta}, rtol=1e-4, atol=1e-5, **attributes)


def test_the_identity_is_a_grid_of_centres():
    theta = np.eye(2, 3, dtype=np.float32)[None]
    expected = np.array([[[[-0.5, 0], [0.5, 0]]]], np.float32)
    assert_op_agrees("affine_grid", {"theta": theta}, expected, size=(1, 2))


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_samples_agree(mode, padding, align_corners):
    x = RNG.standard_normal((2, 3, 4, 5)).astype(np.float32)
    grid = RNG.uniform(-1.7, 1.7, (2, 3, 7, 2)).astype(np.float32)
    attributes = {"mode": mode, "padding": padding, "align_corners": align_corners}
    assert_op_agrees("grid_sample", {"x": x, "grid": grid}, rtol=1e-3, atol=1e-4, **attributes)


def test_samples_of_three_axes():
    x = RNG.standard_normal((1, 2, 3, 4, 5)).astype(np.float32)
    grid = RNG.uniform(-1.2, 1.2, (1, 2, 3, 2, 3)).astype(np.float32)
    assert_op_agrees("grid_sample", {"x": x, "grid": grid}, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("half_pixel", [False, True])
def test_regions_agree(mode, half_pixel):
    x = RNG.uniform(0, 1, (2, 3, 8, 9)).astype(np.float32)
    rois = np.array([[0, 0, 7, 6], [2, 1, 5.5, 20], [-9, 3, -3, 4]], np.float32)
    operands = {"x": x, "rois": rois, "batches": np.array([1, 0, 1], np.int64)}
    attributes = {"size": (2, 3), "samples": 2, "mode": mode, "scale": 0.5, "half_pixel": half_pixel}
    assert_op_agrees("roi_align", operands, rtol=1e-4, atol=1e-5, **attributes)


def test_what_there_is_not():
    def types(*shapes):
        return [TensorType(ElementType.F32, shape) for shape in shapes]

    x, grid, flat = types((1, 2, 3, 4), (1, 5, 5, 2), (1, 5, 5, 3))
    with pytest.raises(tinyc.TinycError, match="padding 'wrap'; they are 'nearest', 'linear' or 'cubic', and"):
        module_of("grid_sample", {"x": x, "grid": grid}, padding="wrap")
    with pytest.raises(tinyc.TinycError, match="its last axis must be 2 long"):
        module_of("grid_sample", {"x": x, "grid": flat})
    with pytest.raises(tinyc.TinycError, match=r"must be \[batch, 2, 3\]"):
        module_of("affine_grid", {"theta": x}, size=(2, 2))
    rois, batches = TensorType(ElementType.F32, (3, 5)), TensorType(ElementType.I64, (3,))
    with pytest.raises(tinyc.TinycError, match=r"rois are \[n, 4\]"):
        module_of("roi_align", {"x": x, "rois": rois, "batches": batches}, size=(2, 2), samples=1)
