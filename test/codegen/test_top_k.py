"""Top-k in compiled code: the reference's elements, order and bits, by work that hardly grows with k."""

import itertools

import numpy as np
import pytest

import tinyc
from tinyc.dialects.exec.to_program import program_of
from tinyc.runtime.sim import SimExecutable

DTYPES = {"fp32": np.float32, "fp16": np.float16, "i32": np.int32}


def search(shape, k, axis, largest=True, dtype="fp32"):
    """Return Tiny JSON of a search in an input X."""
    arguments = {"tensor_id": "X", "dtype": dtype, "shape": list(shape)}
    nodes = [
        {"id": "x", "uop": "INPUT", "arg": arguments},
        {"id": "t", "uop": "TOPK", "src": ["x"], "arg": {"k": k, "axis": axis, "largest": largest}},
    ]
    return {"uops": nodes, "outputs": ["t", "t#1"]}


def agrees(program, x, target="cpu"):
    """Compare a target with the reference, bit for bit: NaN, -0 and 0 too."""
    found, expected = (tinyc.compile(program, target=each).run(X=x) for each in (target, "reference"))
    return all(found[name].tobytes() == expected[name].tobytes() for name in expected)


def with_ties(shape, dtype):
    """Return few distinct numbers; of floats many are NaN, 0 or -0."""
    random = np.random.default_rng(np.prod(shape))
    x = random.integers(-3, 4, shape).astype(DTYPES[dtype])
    if dtype != "i32":
        x[random.random(shape) < 0.2] = np.nan
        x[random.random(shape) < 0.2] = -0.0
    return x


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "axis"), [((1,), 0), ((33,), 0), ((3, 9), 1), ((2, 17, 3), 1)])
def test_ties_and_nan_are_in_the_order_of_the_reference(shape, axis, dtype):
    x, extent = with_ties(shape, dtype), shape[axis]
    counts = {k for k in (0, 1, 2, 5, 8, extent) if k <= extent}
    for k, largest in itertools.product(sorted(counts), (True, False)):
        assert agrees(search(shape, k, axis, largest, dtype), x), (k, largest)


@pytest.mark.parametrize("order", ["random", "ascending", "descending", "equal"])
def test_elements_in_any_order_of_a_long_row(order):
    x = np.random.default_rng(0).standard_normal((2, 5000)).astype(np.float32)
    x = {"random": x, "ascending": np.sort(x), "descending": -np.sort(x), "equal": np.ones_like(x)}[order]
    assert agrees(search(x.shape, 700, 1), x)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("after", [0, 1, 15, 16, 17, 31, 32, 100])
def test_elements_that_are_compared_at_once_and_those_after_them(after, largest):
    x = with_ties((3, 5 + after), "fp32")
    x[2] = np.sort(x[2])  # the best ones are last
    assert agrees(search(x.shape, 5, 1, largest), x)


@pytest.mark.parametrize("axis", [0, 1])
def test_the_same_on_a_gpu(axis):
    assert agrees(search((5, 7), 4, axis), with_ties((5, 7), "fp32"), target="sim")


def test_the_work_grows_like_the_logarithm_of_k():
    x = np.random.default_rng(0).standard_normal(1024).astype(np.float32)

    def instructions(k):
        lowering = tinyc.compile(search(x.shape, k, 0), target="sim").lowering
        executable = SimExecutable(program_of(lowering.module("exec")), lowering.text("ptx"))
        executable.run({"X": x})
        return executable.reports[0].counters.warp_instructions

    assert instructions(128) < 8 * instructions(8), "16 times as many ranks"
