"""Movements of the reference on distinct values."""

import numpy as np
import pytest


def distinct(*shape):
    return "i32", np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)


def test_expand_puts_operand_axes_where_broadcast_dimensions_says(apply):
    operand = distinct(2, 3)
    result = apply("EXPAND", {"result_shape": [3, 4, 2], "broadcast_dimensions": [2, 0]}, operand)
    np.testing.assert_array_equal(result, np.broadcast_to(operand[1].T[:, None, :], (3, 4, 2)))


def test_pad_fills_with_the_value(apply):
    result = apply("PAD", {"pad": [[1, 0], [0, 2]], "value": 9}, distinct(1, 2))
    assert result.tolist() == [[9, 9, 9, 9], [0, 1, 9, 9]]


def test_shrink_with_a_step(apply):
    assert apply("SHRINK", {"lo": [1], "hi": [6], "step": [2]}, distinct(7)).tolist() == [1, 3, 5]


def test_flip(apply):
    assert apply("FLIP", {"axes": [1]}, distinct(2, 2)).tolist() == [[1, 0], [3, 2]]


@pytest.mark.parametrize(
    ("expressions", "expected"),
    [
        (["i0 + 2 * i1"], lambda i, j: i + 2 * j),
        (["(i0 * 2 + i1) floordiv 3"], lambda i, j: (i * 2 + j) // 3),
        (["i0 mod 2 + i1"], lambda i, j: i % 2 + j),
        (["4"], lambda i, j: 4),
    ],
)
def test_view_reads_where_its_index_map_says(apply, expressions, expected):
    result = apply("VIEW", {"result_shape": [3, 2], "index_map": {"map": expressions}}, distinct(9))
    assert result.tolist() == [[expected(i, j) for j in range(2)] for i in range(3)]


def test_view_of_nothing(apply):
    result = apply("VIEW", {"result_shape": [0, 2], "index_map": {"map": ["i1"]}}, distinct(0))
    assert result.shape == (0, 2)


def test_pool_slides_windows_over_the_last_axes(apply):
    operand = distinct(2, 8)
    result = apply("POOL", {"kernel": [2], "stride": [3], "dilation": [2]}, operand)
    expected = [[[row[3 * out + 2 * at] for at in range(2)] for out in range(2)] for row in operand[1]]
    assert result.tolist() == expected


def test_a_movement_of_an_input_is_a_fresh_array(apply):
    dtype, array = distinct(2, 3)
    result = apply("RESHAPE", {"result_shape": [6]}, (dtype, array))
    result[:] = -1
    assert array.min() == 0
