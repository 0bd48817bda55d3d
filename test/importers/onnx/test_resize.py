"""ONNX's Resize, grids and regions: dynamic extents, opsets, and what is refused."""

import numpy as np
import pytest

import tinyc
from importers.onnx.test_reductions import model_of, run

X = np.arange(24, dtype=np.float32).reshape(1, 1, 4, 6)


def test_a_dynamic_extent_is_scaled_by_a_ratio():
    scales = np.array([1, 1, 0.5, 2], np.float32)
    attributes = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    (found,) = run(model_of("Resize", [1, 1, "H", 6], 13, [None, scales], **attributes), X)
    np.testing.assert_array_equal(found, X[:, :, ::2].repeat(2, 3))
    irrational = np.array([1, 1, 1.41421356, 1], np.float32)
    with pytest.raises(tinyc.TinycError, match=r"Resize: the dynamic extent H times 1.41.*; scale by a ratio"):
        tinyc.compile(model_of("Resize", [1, 1, "H", 6], 13, [None, irrational]), target="cpu")


def test_sizes_with_axes():
    sizes = np.array([3, 8])
    (found,) = run(model_of("Resize", [1, 1, 4, 6], 18, [None, None, sizes], axes=[3, 2], mode="linear"), X)
    assert found.shape == (1, 1, 8, 3)


def test_an_aspect_ratio_needs_extents():
    attributes = {"keep_aspect_ratio_policy": "not_larger"}
    with pytest.raises(
        tinyc.TinycError,
        match="Resize: keep_aspect_ratio_policy with the dynamic extent H; use 'stretch', or bind it: --bind H=SIZE",
    ):
        tinyc.compile(model_of("Resize", [1, 1, "H", 6], 18, [None, None, np.array([1, 1, 2, 3])], **attributes))
    attributes["keep_aspect_ratio_policy"] = "any"
    with pytest.raises(tinyc.TinycError, match="keep_aspect_ratio_policy is 'any'"):
        tinyc.compile(model_of("Resize", [1, 1, 4, 6], 18, [None, None, np.array([1, 1, 2, 3])], **attributes))


def test_modes_of_grids_were_called_otherwise():
    grid = np.random.default_rng(8).uniform(-1, 1, (1, 2, 3, 2)).astype(np.float32)
    (old,) = run(model_of("GridSample", [1, 1, 4, 6], 16, [grid], mode="bilinear"), X)
    (new,) = run(model_of("GridSample", [1, 1, 4, 6], 20, [grid], mode="linear"), X)
    np.testing.assert_array_equal(old, new)


def test_pixels_of_regions_were_corners():
    regions = [np.array([[0, 0, 4, 3]], np.float32), np.array([0])]
    (old,) = run(model_of("RoiAlign", [1, 1, 4, 6], 13, regions, sampling_ratio=1), X)
    (new,) = run(model_of("RoiAlign", [1, 1, 4, 6], 16, regions, sampling_ratio=1), X)
    np.testing.assert_allclose([old.item(), new.item()], [1.5 * 6 + 2, 1 * 6 + 1.5], rtol=1e-6)
    with pytest.raises(
        tinyc.TinycError, match="RoiAlign: sampling_ratio = 0 makes the number of samples depend on data"
    ):
        tinyc.compile(model_of("RoiAlign", [1, 1, 4, 6], 16, regions), target="cpu")
