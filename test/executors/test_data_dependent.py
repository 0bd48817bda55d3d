"""Gather, scatter and top-k of the reference."""

import numpy as np
import pytest

from tinyc.diagnostics import TinycError


def index(*numbers, shape=None):
    array = np.array(numbers, np.int64)
    return "i64", array.reshape(shape) if shape else array


def f32(*numbers):
    return "fp32", np.array(numbers, np.float32)


def test_gather_puts_the_index_axes_in_the_axis_place(apply):
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    result = apply("GATHER", {"axis": 1}, ("fp32", data), index(2, 0, 0, 1, shape=(2, 2)))
    np.testing.assert_array_equal(result, np.take(data, [[2, 0], [0, 1]], 1))


@pytest.mark.parametrize("bad", [-1, 3])
def test_an_index_outside_the_axis_is_named(apply, bad):
    with pytest.raises(TinycError, match=rf"index {bad} at \[1\] is outside axis 0 of extent 3") as caught:
        apply("GATHER", {"axis": 0}, f32(1, 2, 3), index(0, bad))
    assert caught.value.name == "IndexOutOfRange"


def test_the_last_of_several_puts_wins(apply):
    result = apply("SCATTER", {"axis": 0, "op": "SET"}, f32(1, 2, 3), index(2, 0, 2), f32(7, 8, 9))
    assert result.tolist() == [8, 2, 9]


def test_scatter_add_adds_every_duplicate(apply):
    result = apply("SCATTER", {"axis": 0, "op": "ADD"}, f32(1, 2, 3), index(2, 2, 0), f32(10, 20, 30))
    assert result.tolist() == [31, 2, 33]


def test_scatter_along_an_inner_axis(apply):
    data = np.zeros((2, 3), np.float32)
    updates = np.arange(1, 9, dtype=np.float32).reshape(2, 2, 2)
    result = apply(
        "SCATTER", {"axis": 1, "op": "SET"}, ("fp32", data), index(0, 2, 2, 1, shape=(2, 2)), ("fp32", updates)
    )
    assert result.tolist() == [[1, 4, 3], [5, 8, 7]]


def test_topk_is_best_first_with_ties_by_index_and_nan_greatest(apply):
    values, indices = apply("TOPK", {"k": 4, "axis": 0}, f32(1, np.nan, 3, 3, -1, np.nan))
    np.testing.assert_array_equal(values, np.array([np.nan, np.nan, 3, 3], np.float32))
    assert indices.tolist() == [1, 5, 2, 3]


def test_topk_of_the_smallest(apply):
    values, indices = apply("TOPK", {"k": 3, "axis": 0, "largest": False}, f32(2, np.nan, 1, 1))
    assert values.tolist() == [1, 1, 2]
    assert indices.tolist() == [2, 3, 0]
