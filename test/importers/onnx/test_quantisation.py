"""Quantisation of ONNX: types, zero points for rows and columns, and what is refused."""

import numpy as np
import pytest
from onnx import TensorProto, helper

import tinyc
from tinyc.diagnostics import TinycError

FLOAT, INT8, UINT8 = TensorProto.FLOAT, TensorProto.INT8, TensorProto.UINT8


def model_of(op, inputs, output, opset=23, **attributes):
    """The model of one op, its inputs `(name, element type, shape)`; a name that is empty is left out."""
    values = [helper.make_tensor_value_info(*each) for each in inputs if each[0]]
    node = helper.make_node(op, [each[0] for each in inputs], ["y"], **attributes)
    graph = helper.make_graph([node], "quantisation", values, [helper.make_tensor_value_info("y", *output)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def run(model, *arrays):
    compiled = tinyc.compile(model, "cpu")
    (found,) = compiled.run_named(dict(zip(compiled.inputs, arrays, strict=True))).values()
    return found


def test_output_dtype_says_the_type_where_no_zero_point_does():
    x, scale = np.array([-300, 0.5, 1.5], np.float32), np.array(1, np.float32)
    inputs = [("x", FLOAT, [3]), ("s", FLOAT, [])]
    found = run(model_of("QuantizeLinear", inputs, (TensorProto.INT16, [3]), output_dtype=5), x, scale)
    assert found.dtype == np.int16
    assert found.tolist() == [-300, 0, 2]
    found = run(model_of("QuantizeLinear", inputs, (UINT8, [3])), x, scale)
    assert found.dtype == np.uint8
    assert found.tolist() == [0, 0, 2]


def test_products_take_zero_points_of_rows_and_columns():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 256, (3, 5)).astype(np.uint8), rng.integers(-128, 128, (5, 4)).astype(np.int8)
    rows, columns = np.array([1, 200, 7], np.uint8), np.array([-1, 2, -100, 5], np.int8)
    inputs = [("a", UINT8, [3, 5]), ("b", INT8, [5, 4]), ("az", UINT8, [3]), ("bz", INT8, [4])]
    found = run(model_of("MatMulInteger", inputs, (TensorProto.INT32, [3, 4])), a, b, rows, columns)
    expected = (a.astype(np.int32) - rows[:, None]) @ (b.astype(np.int32) - columns)
    np.testing.assert_array_equal(found, expected)


def test_rows_and_columns_of_a_product_have_scales():
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((3, 5), (5, 4)))
    a_scale, b_scale = (rng.uniform(0.01, 0.02, count).astype(np.float32) for count in (3, 4))
    zero, y_scale, y_zero = np.array(0, np.int8), np.array(0.1, np.float32), np.array(4, np.int8)
    inputs = [("a", INT8, [3, 5]), ("as", FLOAT, [3]), ("az", INT8, []), ("b", INT8, [5, 4]), ("bs", FLOAT, [4])]
    inputs += [("bz", INT8, []), ("ys", FLOAT, []), ("yz", INT8, [])]
    model = model_of("QLinearMatMul", inputs, (INT8, [3, 4]), opset=21)
    found = run(model, a, a_scale, zero, b, b_scale, zero, y_scale, y_zero)
    product = (a.astype(np.int64) @ b.astype(np.int64)) * a_scale[:, None] * b_scale / y_scale
    np.testing.assert_array_equal(found, (np.rint(product) + 4).clip(-128, 127))


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"output_dtype": TensorProto.FLOAT8E5M2}, "tensors of type float8e5m2 are out of scope"),
        ({"output_dtype": TensorProto.INT8}, "output_dtype is i8, and the zero point ui8; they are the same"),
    ],
)
def test_types_that_cannot_be_are_refused(attributes, message):
    inputs = [("x", FLOAT, [3]), ("s", FLOAT, []), ("z", UINT8, [])]
    with pytest.raises(TinycError, match=message):
        tinyc.compile(model_of("QuantizeLinear", inputs, (UINT8, [3]), **attributes), "cpu")
