"""Pooling."""

import re

import numpy as np
import pytest

import tinyc
from formulas.agreement import assert_op_agrees, results_of
from frontend_modules import module_of
from tinyc.expr.extents import symbol
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType

RNG = np.random.default_rng(2)
#: Windows by their attributes; the operand is [2, 3, 9, 7].
WINDOWS = {
    "plain": {"kernel": (3, 2)},
    "strides": {"kernel": (3, 2), "stride": (2, 3)},
    "pads": {"kernel": (3, 2), "pads": (1, 0, 2, 1), "stride": (1, 2)},
    "dilated": {"kernel": (2, 3), "dilation": (3, 2), "pads": (1, 2, 1, 2)},
    "ceil": {"kernel": (3, 3), "stride": (4, 4), "ceil_mode": True},
    "ceil behind pads": {"kernel": (2, 2), "stride": (3, 3), "pads": (1, 1, 1, 1), "ceil_mode": True},
    "dilated ceil": {"kernel": (2, 2), "stride": (2, 3), "dilation": (2, 2), "pads": (1, 0, 1, 1), "ceil_mode": True},
}
#: Windows of so many elements that they are reduced axis by axis; the operand is [2, 3, 21, 17].
LARGE_WINDOWS = {
    "plain": {"kernel": (7, 5)},
    "strides": {"kernel": (5, 7), "stride": (2, 3)},
    "pads": {"kernel": (7, 7), "pads": (3, 0, 2, 6), "stride": (1, 2)},
    "dilated": {"kernel": (6, 5), "dilation": (3, 2), "pads": (1, 2, 1, 2)},
    "ceil behind pads": {"kernel": (6, 6), "stride": (4, 7), "pads": (2, 1, 2, 1), "ceil_mode": True},
    "along one axis": {"kernel": (1, 30), "pads": (0, 14, 0, 15), "stride": (2, 1)},
}


def random(*shape, dtype=np.float32):
    return (RNG.standard_normal(shape) * 10).astype(dtype)


def test_pools_of_known_values():
    x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    halves = {"kernel": (2, 2), "stride": (2, 2)}
    assert_op_agrees("pool max", {"x": x}, np.array([[[[5, 7], [13, 15]]]], np.float32), **halves)
    assert_op_agrees("pool average", {"x": x}, np.array([[[[2.5, 4.5], [10.5, 12.5]]]], np.float32), **halves)
    ones = np.ones((1, 1, 2, 2), np.float32)
    assert_op_agrees("pool lp", {"x": ones}, np.full((1, 1, 1, 1), 2, np.float32), kernel=(2, 2), p=2)


@pytest.mark.parametrize("sizes", WINDOWS)
@pytest.mark.parametrize("fn", ["max", "average", "lp"])
def test_pools_agree(fn, sizes):
    assert_op_agrees(f"pool {fn}", {"x": random(2, 3, 9, 7)}, rtol=1e-4, atol=1e-5, **WINDOWS[sizes])


@pytest.mark.parametrize("sizes", LARGE_WINDOWS)
@pytest.mark.parametrize("fn", ["max", "average", "lp"])
def test_large_pools_agree(fn, sizes):
    assert_op_agrees(f"pool {fn}", {"x": random(2, 3, 21, 17)}, rtol=1e-4, atol=1e-5, **LARGE_WINDOWS[sizes])


def test_large_windows_are_reduced_axis_by_axis():
    x = TensorType(ElementType.F32, (1, 2, 30, 31))
    text = tinyc.compile(module_of("pool max", {"x": x}, kernel=(7, 9))).text("tiny")
    assert re.findall(r"kernel = array<i64: ([^>]*)>", text) == ["1, 9", "7, 1"]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.float16, np.float64])
def test_maxima_of_large_windows_of_other_types(dtype):
    x = np.abs(random(1, 2, 9, 8, dtype=np.float64)).astype(dtype)
    assert_op_agrees("pool max", {"x": x}, kernel=(6, 5), pads=(3, 3, 3, 3))


def test_one_nan_is_the_maximum_of_each_large_window_that_has_it():
    x = random(1, 1, 12, 12)
    x[0, 0, 6, 5] = np.nan
    expected = np.lib.stride_tricks.sliding_window_view(x, (6, 7), (2, 3)).max((-2, -1))
    assert 0 < np.isnan(expected).sum() < expected.size
    assert_op_agrees("pool max", {"x": x}, expected, kernel=(6, 7))


@pytest.mark.parametrize("sizes", WINDOWS)
def test_a_mean_counts_pads_where_asked(sizes):
    operands = {"x": random(2, 3, 9, 7)}
    assert_op_agrees("pool average", operands, rtol=1e-4, atol=1e-5, count_include_pad=True, **WINDOWS[sizes])


@pytest.mark.parametrize("column_major", [False, True])
@pytest.mark.parametrize("sizes", WINDOWS)
def test_indices_of_maxima_agree(sizes, column_major):
    x = RNG.integers(-3, 3, (2, 3, 9, 7)).astype(np.float32)  # with equal elements
    assert_op_agrees("max_pool_indices", {"x": x}, column_major=column_major, **WINDOWS[sizes])


def test_a_pad_is_no_maximum():
    x = np.full((1, 1, 2), -np.inf, np.float32)
    expected = [np.full((1, 1, 3), -np.inf, np.float32), np.array([[[0, 0, 1]]], np.int64)]
    assert_op_agrees("max_pool_indices", {"x": x}, expected, kernel=(2,), pads=(1, 1))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.float16, np.float64])
def test_maxima_of_other_types(dtype):
    assert_op_agrees(
        "pool max", {"x": np.abs(random(1, 2, 7, dtype=np.float64)).astype(dtype)}, kernel=(3,), pads=(1, 1)
    )


@pytest.mark.parametrize("p", [1, 2, 3])
def test_norms_of_windows(p):
    x = random(1, 1, 8)
    expected = np.stack([np.linalg.norm(x[0, 0, at : at + 3].astype(np.float64), p) for at in range(6)])
    assert_op_agrees("pool lp", {"x": x}, expected.astype(np.float32)[None, None], rtol=1e-4, kernel=(3,), p=p)


def test_three_spatial_axes():
    sizes = {"kernel": (2, 2, 2), "dilation": (2, 1, 2), "stride": (2, 1, 1), "ceil_mode": True}
    assert_op_agrees("pool average", {"x": random(1, 2, 6, 4, 5)}, rtol=1e-4, atol=1e-5, **sizes)


def test_maxima_are_put_back_where_they_were():
    x = random(1, 2, 4, 6)
    sizes = {"kernel": (2, 2), "stride": (2, 2)}
    best, indices = results_of("max_pool_indices", {"x": x}, **sizes)
    expected = np.where(np.isin(np.arange(x.size), indices).reshape(x.shape), x, 0)
    operands = {"x": best, "indices": indices}
    assert_op_agrees("max_unpool", operands, expected, shape=(1, 2, 4, 6))
    larger = np.pad(expected, ((0, 0), (0, 0), (0, 1), (0, 2)))
    assert_op_agrees("max_unpool", operands, larger, shape=(1, 2, 4, 6), padded=(1, 2, 5, 8))


@pytest.mark.parametrize(("fn", "ceil_mode"), [("average", False), ("max", True), ("lp", True)])
def test_extents_that_are_known_when_it_runs(fn, ceil_mode):
    sizes = {"kernel": (3, 3), "stride": (2, 2), "pads": (1, 1, 0, 1), "ceil_mode": ceil_mode}
    types = {"x": TensorType(ElementType.F32, (symbol("N"), 2, symbol("H"), symbol("W")))}
    model = tinyc.compile(module_of(f"pool {fn}", types, **sizes), "cpu")
    for shape in ((1, 2, 7, 10), (3, 2, 6, 5)):
        x = random(*shape)
        (found,) = model.run_named({"x": x}).values()
        (expected,) = results_of(f"pool {fn}", {"x": x}, "frontend", **sizes)
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"kernel": (3, 3)}, "give one of each for each axis behind the first two"),
        ({"kernel": (0,)}, "kernel, stride and dilation must be positive"),
        (
            {"kernel": (1,), "stride": (3,), "pads": (0, 1), "ceil_mode": True},
            "starts in a pad; bind it: --bind L=SIZE",
        ),
    ],
)
def test_windows_that_there_cannot_be(attributes, message):
    with pytest.raises(tinyc.TinycError, match=message):
        module_of("pool max", {"x": TensorType(ElementType.F32, (1, 2, symbol("L")))}, **attributes)
