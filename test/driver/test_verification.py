"""`verify` finds the first layer, value and element that goes wrong."""

import numpy as np

from tinyc.driver import verification
from tinyc.driver.lowering import Lowering
from tinyc.driver.sources import read_module

X = np.array([[1.25, -2.5], [3.75, 4.0]], np.float32)


def program(uop):
    return {
        "uops": [
            {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "X", "dtype": "fp32", "shape": ["M", 2]}},
            {"id": "a", "uop": uop, "src": ["x"]},
            {"id": "s", "uop": "REDUCE", "src": ["a"], "arg": {"op": "SUM", "axes": [1], "dtype": "fp32"}},
            {"id": "y", "uop": "ADD", "src": ["s", 1]},
        ]
    }


def verified(lowering, outputs):
    return verification.verify_program(lowering, {"X": X}, lambda inputs: outputs)


def test_layers_that_agree():
    steps = verified(Lowering(read_module(program("RELU"))), {"y": np.array([2.25, 8.75], np.float32)})
    assert [step.first_mismatch for step in steps] == [None, None, None]


def test_a_wrong_lowering_is_named_by_its_first_value():
    # A Region module in which `a` is another op: `s` and `y` are wrong too, but `a` is what went wrong first.
    lowering = Lowering(read_module(program("RELU")))
    lowering._modules["region"] = Lowering(read_module(program("NEG"))).module("region")
    steps = verified(lowering, {"y": np.array([2.25, 8.75], np.float32)})
    first = next(step for step in steps if step.first_mismatch)
    assert first.title == "reference (region) against the reference (tiny)"
    assert first.first_mismatch.name == "a"
    assert first.first_mismatch.mismatch.index == (0, 0)
    assert [each.name for each in first.comparisons] == ["a", "s", "y"]


def test_a_wrong_output_of_the_cpu_is_named():
    steps = verified(Lowering(read_module(program("RELU"))), {"y": np.array([2.25, 9], np.float32)})
    assert [step.first_mismatch is None for step in steps] == [True, True, False]
    assert steps[2].first_mismatch.mismatch.index == (1,)
