"""The tolerance of an output follows from the element types and the reduction lengths on the way to it."""

import math

import numpy as np
import pytest

import tinyc
from tinyc.executors.rounding import output_tolerances
from tinyc.executors.tolerance import Tolerance

U = 2.0**-24


def test_movements_and_integers_are_exact(program):
    module = program(
        {"x": ("fp16", [4]), "i": ("i32", [4])},
        ("m", "FLIP", ["x"], {"axes": [0]}),
        ("w", "CAST", ["m"], {"to": "fp32"}),
        ("s", "REDUCE", ["i"], {"op": "SUM", "axes": [0], "dtype": "i64"}),
    )
    found = output_tolerances(module, {"x": np.ones(4, np.float16), "i": np.ones(4, np.int32)})
    assert found["w"] == found["s"] == Tolerance()


@pytest.mark.parametrize(("dtype", "base"), [("fp16", 1e-3), ("bf16", 2.0**-7), ("fp32", 1e-5), ("fp64", 1e-12)])
def test_the_base_is_the_element_types_and_at_least_one_ulp(program, dtype, base):
    module = program({"x": (dtype, [])}, ("y", "EXP2", ["x"]))
    assert output_tolerances(module, {"x": np.ones(())})["y"] == Tolerance(base, base)


def test_a_16_bit_value_on_the_way_widens_an_f32_output(program):
    module = program({"x": ("fp16", [])}, ("h", "EXP2", ["x"]), ("y", "CAST", ["h"], {"to": "fp32"}))
    assert output_tolerances(module, {"x": np.ones(())})["y"].rtol == 1e-3


def test_long_sums_widen_it(program):
    module = program({"x": ("fp32", ["M"])}, ("y", "REDUCE", ["x"], {"op": "SUM", "axes": [0], "dtype": "fp32"}))
    assert output_tolerances(module, {"x": np.ones(10)})["y"] == Tolerance(1e-5, 1e-5)
    length = 10**6
    found = output_tolerances(module, {"x": np.broadcast_to(np.ones(1), length)})["y"]
    assert found == Tolerance(2 * math.sqrt(length) * U, 2 * length * U)


def test_a_product_inside_a_sum_is_not_rounded_to_its_own_type(program):
    module = program(
        {"x": ("fp16", [8]), "w": ("fp16", [8])},
        ("p", "MUL", ["x", "w"]),
        ("y", "REDUCE", ["p"], {"op": "SUM", "axes": [0], "dtype": "fp32"}),
    )
    assert output_tolerances(module, {"x": np.ones(8), "w": np.ones(8)})["y"].rtol == 1e-5


PRODUCT = (
    ("p", "MUL", ["x", "w"]),
    ("y", "REDUCE", ["p"], {"op": "SUM", "axes": [0], "dtype": "fp32"}),
)


@pytest.mark.parametrize(("dtype", "is_wider"), [("fp32", True), ("fp16", False)])
def test_products_of_tf32_lose_the_bits_that_it_lacks(program, dtype, is_wider):
    module = program({"x": (dtype, [16]), "w": (dtype, [16])}, *PRODUCT)
    inputs = {"x": np.ones(16), "w": np.ones(16)}
    exact, cut = output_tolerances(module, inputs)["y"], output_tolerances(module, inputs, is_tf32=True)["y"]
    assert exact == Tolerance(1e-5, 1e-5)
    assert cut == (Tolerance(2 * 2.0**-10, 4 * 4 * 2.0**-10) if is_wider else exact)


@pytest.mark.parametrize(("plan", "rtol"), [({"precision": "tf32"}, 2.0**-9), (None, 1e-5)])
def test_a_plan_says_that_products_are_of_tf32(plan, rtol):
    matrix = {"x": ["M", "K"], "w": ["K", "N"]}
    uops = [
        {"id": name, "uop": "INPUT", "arg": {"tensor_id": name, "dtype": "fp32", "shape": shape}}
        for name, shape in matrix.items()
    ]
    document = {"uops": [*uops, {"id": "y", "uop": "MATMUL", "src": ["x", "w"], "arg": {"dtype": "fp32"}}]}
    model = tinyc.compile(document, target="sim", arch="sm_80", plan=plan, bind={"M": 8, "N": 8, "K": 16})
    inputs = {"x": np.ones((8, 16), np.float32), "w": np.ones((16, 8), np.float32)}
    assert model.lowering.tolerances(inputs)["y"].rtol == rtol
