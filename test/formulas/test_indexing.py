"""Gather, scatter, top-k: numbers against numpy, negative indices, ties, reductions."""

import ml_dtypes
import numpy as np
import pytest

import tinyc
from formulas.agreement import assert_op_agrees, results_of
from frontend_modules import module_of
from tinyc import TinycError
from tinyc.expr.extents import symbol
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType

rng = np.random.default_rng(0)
COMBINED = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def data(*shape, dtype=np.float32):
    """Small numbers, some of them equal."""
    return rng.integers(-9, 9, shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_gather_counts_negative_indices_from_the_end(dtype, axis):
    x, index = data(4, 5, 3), rng.integers(-3, 3, (2, 3)).astype(dtype)
    assert_op_agrees("gather axis", {"data": x, "index": index}, x.take(index, axis), axis=axis)


def test_gather_of_a_symbolic_axis():
    types = {"data": TensorType(ElementType.F32, (symbol("M"), 3)), "index": TensorType(ElementType.I64, (2,))}
    model = tinyc.compile(module_of("gather axis", types, axis=0), "cpu")
    for m in (3, 8):
        x, index = data(m, 3), np.array([-1, 1])
        (found,) = model.run_named({"data": x, "index": index}).values()
        np.testing.assert_array_equal(found, x[index])


def test_an_index_outside_is_an_error_of_the_run():
    with pytest.raises(TinycError, match="index 4 at"):
        results_of("gather axis", {"data": data(4), "index": np.array([0, 4])})


def test_embedding_takes_rows():
    table, index = data(7, 3, dtype=np.float16), np.array([[0, 6], [3, 3]])
    assert_op_agrees("gather embedding", {"data": table, "index": index}, table[index])


@pytest.mark.parametrize("axis", [0, 1])
def test_gather_elements_is_that_of_numpy(axis):
    x, index = data(4, 5), rng.integers(-4, 4, (4, 5))
    assert_op_agrees("gather elements", {"data": x, "index": index}, np.take_along_axis(x, index, axis), axis=axis)


def test_gather_elements_of_a_smaller_index():
    x, index = data(4, 5), np.array([[-1, 0, 2]])
    assert_op_agrees("gather elements", {"data": x, "index": index}, x[index, np.arange(3)], axis=0)


@pytest.mark.parametrize(("batch", "count"), [(0, 1), (0, 2), (1, 1), (1, 2)])
def test_gather_nd_chooses_from_leading_axes(batch, count):
    x, index = data(2, 3, 4), rng.integers(-2, 2, (2, 5, count))
    lead = (np.arange(2)[:, None],) if batch else ()
    expected = x[(*lead, *(index[..., each] for each in range(count)))]
    assert_op_agrees("gather nd", {"data": x, "index": index}, expected, batch=batch)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.int64, np.uint8])
@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
def test_scatter_elements_combines(reduction, dtype):
    x, updates = (rng.integers(0, 5, shape).astype(dtype) for shape in ((4, 3), (2, 3)))
    index = np.array([[0, -1, 2], [0 if reduction != "none" else 1, 1, 2 if reduction != "none" else 0]])
    expected = x.copy()
    for at in np.ndindex(2, 3):
        place = index[at], at[1]
        old, new = expected[place], updates[at]
        expected[place] = new if reduction == "none" else COMBINED[reduction](old, new)
    operands = {"data": x, "index": index, "updates": updates}
    assert_op_agrees("scatter elements", operands, expected, axis=0, reduction=reduction)


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
def test_scatter_nd_combines_slices(reduction):
    x, index, updates = data(4, 3, 2), np.array([[0], [-2], [0 if reduction != "none" else 1]]), data(3, 3, 2)
    assert_op_agrees("scatter nd", {"data": x, "index": index, "updates": updates}, reduction=reduction)


def test_an_unknown_reduction_is_an_error():
    operands = {"data": data(3), "index": np.array([0]), "updates": data(1)}
    with pytest.raises(TinycError, match="reduction is 'mean'; it is one of none, add, mul, max, min"):
        results_of("scatter elements", operands, reduction="mean")


@pytest.mark.parametrize("largest", [False, True])
def test_topk_puts_the_lower_index_first(largest):
    x = data(3, 7)
    order = np.argsort(-x if largest else x, 1, kind="stable")[:, :4]
    expected = [np.take_along_axis(x, order, 1), order]
    assert_op_agrees("topk", {"x": x}, expected, k=4, axis=1, largest=largest)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16, np.int8, np.int64, np.uint64])
@pytest.mark.parametrize("last", [False, True])
def test_arg_max_and_arg_min_of_several(last, dtype):
    x = (np.abs(data(3, 6, 2)) // 3).astype(dtype)
    for op, function in (("arg_max", np.argmax), ("arg_min", np.argmin)):
        expected = 5 - function(x[:, ::-1], 1) if last else function(x, 1)
        assert_op_agrees(op, {"x": x}, expected, axis=1, keepdims=False, last=last)


def test_the_first_nan_is_the_greatest():
    x = np.array([[1, np.nan, 3, np.nan], [1, 5, 3, 5]], np.float32)
    assert_op_agrees("arg_max", {"x": x}, np.argmax(x, 1, keepdims=True), axis=1)


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_one_hot_leaves_out_what_is_outside(axis):
    index, levels = np.array([0, 3, -1, 7], np.int32), np.array([2, 9], np.float16)
    at = axis % 2
    hot = np.array([0, 3, 4, 7])[:, None] == np.arange(5)
    expected = np.where(np.moveaxis(hot, 1, at), levels[1], levels[0])
    shape = expected.shape
    assert_op_agrees("one_hot", {"index": index, "levels": levels}, expected, shape=shape, axis=axis)


def test_sequences_are_reversed_up_to_their_lengths():
    x, lengths = data(5, 3, 2), np.array([5, 1, 3])
    expected = x.copy()
    for batch, length in enumerate(lengths):
        expected[:length, batch] = x[:length, batch][::-1]
    assert_op_agrees("reverse_sequence", {"x": x, "lengths": lengths}, expected, batch_axis=1, time_axis=0)


@pytest.mark.parametrize(("mode", "starts"), [("linear", [0, 3]), ("circular", [4, 2]), ("linear", None)])
def test_tensor_scatter_writes_to_a_cache(mode, starts):
    cache, updates = data(2, 3, 5, 2), data(2, 3, 2, 2)
    expected = cache.copy()
    for batch in range(2):
        for place in range(2):
            expected[batch, :, ((starts or [0, 0])[batch] + place) % 5] = updates[batch, :, place]
    operands = {"cache": cache, "updates": updates}
    if starts is not None:
        operands["starts"] = np.array(starts)
    assert_op_agrees("tensor_scatter", operands, expected, axis=-2, mode=mode)
