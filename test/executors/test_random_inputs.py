"""Random inputs are repeatable, of the declared types, and indices stay inside what they index."""

import numpy as np
import pytest

from tinyc.diagnostics import TinycError
from tinyc.executors import reference
from tinyc.executors.random_inputs import random_inputs


def test_the_same_seed_gives_the_same_inputs(program):
    module = program({"x": ("bf16", [3, 4]), "u": ("u8", [50])}, ("y", "NEG", ["x"]), outputs=["y", "u"])
    first, again, other = random_inputs(module, 1), random_inputs(module, 1), random_inputs(module, 2)
    np.testing.assert_array_equal(first["x"], again["x"])
    assert (first["x"] != other["x"]).any()
    assert first["u"].dtype == np.uint8
    assert first["u"].max() <= 8


def test_an_index_is_drawn_inside_its_axis(program):
    module = program(
        {"x": ("fp32", [3]), "i": ("i64", [2, 50])},
        ("j", "RESHAPE", ["i"], {"result_shape": [100]}),
        ("y", "GATHER", ["x", "j"], {"axis": 0}),
    )
    inputs = random_inputs(module, 0)
    assert inputs["i"].max() == 2
    assert reference.evaluate_module(module, inputs)["y"].shape == (100,)


def test_free_symbols_have_to_be_bound(program):
    module = program({"x": ("fp32", ["M", "N"])}, ("y", "NEG", ["x"]))
    with pytest.raises(TinycError, match="--bind M=16,N=16") as caught:
        random_inputs(module, 0)
    assert caught.value.name == "UnboundSymbol"


def test_an_impossible_size_is_refused(program):
    module = program({"x": ("i8", [2**40, 2**22]), "y": ("i8", [1])}, ("z", "NEG", ["y"]), outputs=["z"])
    with pytest.raises(TinycError, match="use smaller sizes") as caught:
        random_inputs(module, 0)
    assert caught.value.name == "OutOfMemory"
