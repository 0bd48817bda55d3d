"""Reductions of the reference: accumulators, products that are formed in a sum, empty axes, and memory."""

import tracemalloc

import numpy as np
import pytest

from tinyc.executors import reference


def product_sum(program, dtype, accumulator, *extra, outputs=None):
    return program(
        {"x": (dtype, [4]), "w": (dtype, [4])},
        ("p", "MUL", ["x", "w"]),
        ("y", "REDUCE", ["p"], {"op": "SUM", "axes": [0], "dtype": accumulator}),
        *extra,
        outputs=outputs,
    )


def test_a_product_that_is_only_summed_is_formed_in_the_accumulator(program):
    x = np.full(4, 300, np.float16)
    assert reference.evaluate_module(product_sum(program, "fp16", "fp32"), {"x": x, "w": x})["y"] == 360_000
    i = np.full(4, 100, np.int8)
    assert reference.evaluate_module(product_sum(program, "i8", "i32"), {"x": i, "w": i})["y"] == 40_000


def test_a_product_with_another_use_has_its_own_type(program):
    i = np.full(4, 100, np.int8)
    module = product_sum(program, "i8", "i32", outputs=["y", "p"])
    assert reference.evaluate_module(module, {"x": i, "w": i})["y"] == 4 * np.int8(16)


def test_a_dead_use_does_not_count(program):
    i = np.full(4, 100, np.int8)
    module = product_sum(program, "i8", "i32", ("dead", "NEG", ["p"]), outputs=["y"])
    assert reference.evaluate_module(module, {"x": i, "w": i})["y"] == 40_000


@pytest.mark.parametrize(
    ("dtype", "op", "expected"),
    [
        ("fp32", "SUM", 0),
        ("fp32", "PROD", 1),
        ("fp32", "MAX", -np.inf),
        ("fp32", "MIN", np.inf),
        ("i8", "MAX", -128),
        ("u16", "MIN", 65535),
    ],
)
def test_a_reduction_over_nothing(program, dtype, op, expected):
    kinds = {"fp32": np.float32, "i8": np.int8, "u16": np.uint16}
    module = program({"x": (dtype, [0])}, ("y", "REDUCE", ["x"], {"op": op, "axes": [0], "dtype": dtype}))
    assert reference.evaluate_module(module, {"x": np.empty(0, kinds[dtype])})["y"] == expected


def test_max_propagates_nan(program):
    module = program({"x": ("fp32", [3])}, ("y", "REDUCE", ["x"], {"op": "MAX", "axes": [0], "dtype": "fp32"}))
    assert np.isnan(reference.evaluate_module(module, {"x": np.array([1, np.nan, 2], np.float32)})["y"])


def test_blocks_give_what_the_whole_gives(program):
    # 2^19 terms and more: cut along a reduced and along a kept axis.
    generator = np.random.default_rng(0)
    x = generator.integers(-8, 8, (3, 700, 500)).astype(np.int32)
    for axes in ([1], [0, 2], [0, 1, 2]):
        module = program(
            {"x": ("i32", [3, 700, 500])}, ("y", "REDUCE", ["x"], {"op": "SUM", "axes": axes, "dtype": "i64"})
        )
        np.testing.assert_array_equal(reference.evaluate_module(module, {"x": x})["y"], x.sum(tuple(axes)))


def test_a_broadcast_product_is_never_whole_in_memory(program):
    size = 256
    module = program(
        {"a": ("fp32", [size, size]), "b": ("fp32", [size, size])},
        ("a3", "EXPAND", ["a"], {"result_shape": [size, size, size], "broadcast_dimensions": [0, 2]}),
        ("b3", "EXPAND", ["b"], {"result_shape": [size, size, size], "broadcast_dimensions": [2, 1]}),
        ("p", "MUL", ["a3", "b3"]),
        ("y", "REDUCE", ["p"], {"op": "SUM", "axes": [2], "dtype": "fp32"}),
    )
    generator = np.random.default_rng(0)
    a, b = (generator.uniform(-1, 1, (size, size)).astype(np.float32) for _ in range(2))
    tracemalloc.start()
    result = reference.evaluate_module(module, {"a": a, "b": b})["y"]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_allclose(result, a.astype(np.float64) @ b, atol=1e-4)
    assert peak < 16 * 2**20  # the product is 64 MiB
