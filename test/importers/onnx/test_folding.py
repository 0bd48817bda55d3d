"""What follows from shapes and small constants is known when a model is imported."""

import numpy as np
import pytest

from importers.onnx.models import errors_of, model_of, numbers, run_model


@pytest.mark.parametrize(
    ("nodes", "shape"),
    [
        ("n = Neg(minus) s = Concat<axis = 0>(n, rest)", (1, 6)),
        ("m = Mod(seven, four) s = Concat<axis = 0>(m, rest)", (3, 2)),
        ("m = Sub(seven, four) s = Concat<axis = 0>(m, rest)", (3, 2)),
    ],
)
def test_arithmetic_of_shapes_is_done_at_import(nodes, shape):
    constants = "<int64[1] minus = {-1}, int64[1] rest = {-1}, int64[1] seven = {7}, int64[1] four = {4}>"
    x = numbers(2, 3)
    (y,) = run_model(model_of(f"{nodes} y = Reshape(x, s)", more=constants), {"x": x})
    np.testing.assert_array_equal(y, x.reshape(shape))


def test_a_range_that_is_no_shape_is_not_made_at_import():
    constants = "<int64 zero = {0}, int64 many = {1099511627776}, int64 one = {1}>"
    model = model_of("s = Range(zero, many, one) y = Reshape(x, s)", more=constants)
    assert [each[0] for each in errors_of(model)] == ["UnsupportedOnnx"]


def folded(node, constants, element="float"):
    """The output of a model that has no inputs."""
    (y,) = run_model(model_of(node, inputs="", outputs=f"{element}[?] y", more=f"<{constants}>"), {})
    return y


@pytest.mark.parametrize(
    ("node", "element", "constants", "expected"),
    [
        ("Sub(a, b)", "uint8", "uint8[1] a = {1}, uint8[1] b = {2}", 255),
        ("Mul(a, b)", "int32", "int32[1] a = {1073741824}, int32[1] b = {4}", 0),
        ("Neg(a)", "int8", "int8[1] a = {-128}", -128),
        ("ReduceSum(a)", "int32", "int32[2] a = {2147483647, 1}", -(2**31)),
    ],
)
def test_integers_wrap_as_they_do_when_a_model_runs(node, element, constants, expected):
    assert folded(f"y = {node}", constants, element).tolist() == [expected]


def test_a_division_by_zero_is_infinite_or_nan():
    y = folded("y = Div(a, b)", "float[4] a = {1, -1, 0, 1}, float[4] b = {0, 0, 0, -0.0}")
    np.testing.assert_array_equal(y, np.array([np.inf, -np.inf, np.nan, -np.inf], np.float32))


@pytest.mark.parametrize(("op", "expected"), [("LessOrEqual", True), ("GreaterOrEqual", True), ("Less", False)])
def test_infinities_are_compared_as_numbers(op, expected):
    y = folded(f"big = Div(one, zero) y = {op}(big, big)", "float[1] one = {1}, float[1] zero = {0}", "bool")
    assert y.tolist() == [expected]


def test_a_sum_over_no_axes_is_none_and_one_of_nothing_is_zero():
    assert folded("y = ReduceSum<noop_with_empty_axes = 1>(a)", "float[2] a = {1, 2}").tolist() == [1, 2]
    assert folded("n = Slice(a, e, e) y = ReduceSum(n)", "float[2] a = {1, 2}, int64[1] e = {2}").tolist() == [0]
    assert folded("n = Slice(a, e, e) y = ReduceProd(n)", "float[2] a = {1, 2}, int64[1] e = {2}").tolist() == [1]


def test_a_constant_of_zeros_keeps_their_signs():
    y = folded("y = Identity(a)", "float[3] a = {0, -0.0, 0}")
    assert np.signbit(y).tolist() == [False, True, False]


def test_an_index_that_is_an_extent_is_read_when_the_model_runs():
    nodes = "n = Shape<end = 1>(x) y = Gather(table, n)"
    model = model_of(nodes, "float[N] x", "float[1] y", more="<float[4] table = {5, 6, 7, 8}>")
    for size in (1, 3):
        assert run_model(model, {"x": numbers(size)})[0].tolist() == [5 + size]
