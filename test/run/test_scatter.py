"""A scatter whose updates and data are computed in its kernel, on every target that runs here."""

import numpy as np
import pytest

import tinyc
from parameters import pairwise
from tinyc.diagnostics import TinycError

TARGETS = pytest.mark.parametrize("target", ["cpu", "sim"])
OPS = pytest.mark.parametrize("op", ["SET", "ADD"])


def scatter_of_computed(op: str, dtype: str, *updates):
    """Scatter `exp2(u) * u`, of f32, into `-d`, both cast to a type."""
    sources = {"d": [7, 3], "i": [updates[0]], "u": list(updates)}
    inputs = [
        {"id": name, "uop": "INPUT", "arg": {"tensor_id": name, "dtype": "i64" if name == "i" else "fp32", "shape": s}}
        for name, s in sources.items()
    ]
    computed = [
        {"id": "e", "uop": "EXP2", "src": ["u"]},
        {"id": "m", "uop": "MUL", "src": ["e", "u"]},
        {"id": "w", "uop": "CAST", "src": ["m"], "arg": {"to": dtype}},
        {"id": "n", "uop": "NEG", "src": ["d"]},
        {"id": "v", "uop": "CAST", "src": ["n"], "arg": {"to": dtype}},
        {"id": "y", "uop": "SCATTER", "src": ["v", "i", "w"], "arg": {"axis": 0, "op": op}},
    ]
    return {"uops": [*inputs, *computed], "outputs": ["y"]}


@pairwise(op=["SET", "ADD"], dtype=["fp32", "fp64"], count=[0, 1, 300, "M"], target=["cpu", "sim"])
def test_what_is_computed_for_a_scatter_is_computed_in_its_kernel(op, dtype, count, target):
    rng = np.random.default_rng(0)
    size = 130 if count == "M" else count
    d, i, u = rng.standard_normal((7, 3)), rng.integers(0, 7, size), rng.standard_normal((size, 3))
    d, u = d.astype(np.float32), u.astype(np.float32)
    model = tinyc.compile(scatter_of_computed(op, dtype, count, 3), target=target)
    assert "1 kernel [" in repr(model) or (target, op) == ("sim", "ADD")
    expected, updates = -d.astype(np.float64), np.exp2(u.astype(np.float64)) * u
    if op == "ADD":
        np.add.at(expected, i, updates)
    else:
        for position, update in zip(i, updates, strict=True):
            expected[position] = update
    np.testing.assert_allclose(model(d, i, u), expected, rtol=1e-5, atol=1e-4)


@TARGETS
@OPS
def test_an_index_out_of_range_is_told_by_the_scatter_that_has_it(op, target):
    model = tinyc.compile(scatter_of_computed(op, "fp32", 4, 3), target=target)
    with pytest.raises(TinycError) as caught:
        model(np.zeros((7, 3), np.float32), np.array([0, 6, 7, 1]), np.zeros((4, 3), np.float32))
    assert caught.value.name == "IndexOutOfRange"
    assert "index 7 at [2] is outside axis 0 of extent 7" in caught.value.message
    assert [error.where.node for error in caught.value.errors] == ["y"]
