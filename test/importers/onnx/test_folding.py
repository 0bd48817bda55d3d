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
