"""The reference executor as a whole: inputs, symbols, assumptions, layers."""

import numpy as np
import pytest

from tinyc import pipeline, text
from tinyc.diagnostics import TinycError
from tinyc.executors import reference
from tinyc.passes.runner import copy_module


def rows(program):
    return program(
        {"x": ("fp32", ["M", "N"]), "y": ("fp32", ["M", "N"])},
        ("s", "ADD", ["x", "y"]),
        ("r", "REDUCE", ["s"], {"op": "SUM", "axes": ["N"], "dtype": "fp32"}),
    )


def ones(*shape):
    return np.ones(shape, np.float32)


def refused(module, **inputs):
    with pytest.raises(TinycError) as caught:
        reference.evaluate_module(module, inputs)
    return caught.value


def test_symbols_come_from_the_inputs(program):
    module = rows(program)
    assert reference.evaluate_module(module, {"x": ones(2, 3), "y": ones(2, 3)})["r"].tolist() == [6, 6]
    assert reference.evaluate_module(module, {"x": ones(1, 0), "y": ones(1, 0)})["r"].tolist() == [0]


def test_an_extent_that_happens_to_be_1_does_not_broadcast(program):
    error = refused(rows(program), x=ones(2, 3), y=ones(1, 3))
    assert error.name == "InputMismatch"
    assert "axis 0 of input 'y'" in error.message


def test_every_wrong_input_is_reported(program):
    error = refused(rows(program), x=np.ones((2, 3)), z=ones(2, 3))
    assert error.name == "InputMismatch"
    assert [each.where.node for each in error.errors] == ["z", "x", "y"]
    assert "is of type float64; the program declares fp32, numpy's float32" in str(error)


def test_a_wrong_rank_is_refused(program):
    assert "has shape [2]" in refused(rows(program), x=ones(2), y=ones(2, 2)).message


def test_strided_inputs_are_read_as_they_are(program):
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    result = reference.evaluate_module(rows(program), {"x": x[::2, ::-1], "y": x[::2]})
    np.testing.assert_array_equal(result["r"], 2 * x[::2].sum(1))


def test_an_assumption_is_checked(program):
    module = program({"x": ("fp32", ["M", "N"])}, ("y", "SHRINK", ["x"], {"lo": [2, 0], "hi": ["M", "N"]}))
    assert reference.evaluate_module(module, {"x": ones(3, 1)})["y"].shape == (1, 1)
    error = refused(module, x=ones(1, 1))
    assert error.name == "AssumptionViolated"
    assert "2 <= M" in error.message


def test_outputs_that_are_inputs_are_copies(program):
    x = ones(2)
    module = program({"x": ("fp32", [2])}, ("y", "NEG", ["x"]), outputs=["x", "y"])
    result = reference.evaluate_module(module, {"x": x})
    assert list(result) == ["x", "y"]
    assert not np.shares_memory(result["x"], x)


def test_what_the_machine_has_no_memory_for_is_refused(program):
    module = program({"x": ("fp32", ["M"])}, ("y", "EXPAND", ["x"], {"result_shape": [2**50, "M"]}))
    error = refused(module, x=ones(1))
    assert error.name == "OutOfMemory"
    assert "output 'y' of shape [1125899906842624, 1]" in error.message


def test_the_region_layer_runs_too(program):
    module = rows(program)
    regions = copy_module(module)
    pipeline.parse("tiny-to-region").run(regions)
    assert "region.kernel" in str(regions.operation.get_asm(assume_verified=True))
    inputs = {"x": ones(2, 3), "y": 2 * ones(2, 3)}
    np.testing.assert_array_equal(
        reference.evaluate_module(regions, inputs)["r"], reference.evaluate_module(module, inputs)["r"]
    )


def test_an_op_of_another_layer_is_refused():
    module = text.parse(
        """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
          %0 = arith.negf %x : tensor<2xf32>
          return %0 : tensor<2xf32>
        }"""
    )
    error = refused(module, arg0=ones(2))
    assert error.name == "InvalidIr"
    assert "'arith.negf' is of another layer" in error.message


def test_a_module_needs_one_function_to_run():
    assert refused(text.parse("module {}")).name == "InvalidIr"
