"""What a model takes: symbols, values that are fixed, declared shapes, defaults, names; and the order of its nodes."""

import re

import numpy as np
import onnx
import pytest

import tinyc
import tinyc.onnx_backend as backend
from importers.onnx.models import errors_of, model_of, numbers, run_model
from tinyc import TinycError
from tinyc.driver.cli import main
from tinyc.importers.onnx.model import import_model, unknown_inputs

_SUM = model_of("y = ReduceSum<keepdims = 0>(x, axes)", inputs="float[N, 3] x, int64[1] axes", outputs="float[M] y")


def refusal(source, **options):
    with pytest.raises(TinycError) as caught:
        tinyc.compile(source, **options)
    return caught.value.name, caught.value.errors[0].message


# --- inputs that have to be known -------------------------------------------------------------------------------------


def test_an_input_that_has_to_be_known_is_named_with_the_option_that_fixes_it():
    assert errors_of(_SUM) == [
        (
            "UnboundInput",
            "y",
            "ReduceSum: input 1 must be known when the model is imported, and depends on the input 'axes'; give its "
            "value: compile(…, constants={'axes': …}), or --constant axes=…",
        )
    ]


def test_a_fixed_input_is_none_of_the_compiled_model():
    model = tinyc.compile(_SUM, constants={"axes": [1]})
    x = numbers(4, 3)
    assert list(model.inputs) == ["x"]
    np.testing.assert_allclose(model.run_named({"x": x})["y"], x.sum(1), rtol=1e-6)


def test_the_importer_says_which_inputs_it_has_to_know_one_after_another():
    model = model_of("r = Reshape(x, shape) y = ReduceSum(r, axes)", inputs="float[6] x, int64[2] shape, int64[1] axes")
    assert unknown_inputs(model) == ("shape",)
    assert unknown_inputs(model, constants={"shape": [2, 3]}) == ("axes",)
    assert unknown_inputs(model, constants={"shape": [2, 3], "axes": [0]}) == ()


def test_a_backend_compiles_once_for_each_value_of_such_inputs():
    prepared, x = backend.prepare(_SUM), numbers(4, 3)
    for axis in (0, 1, 0):
        (y,) = prepared.run([x, np.array([axis])])
        np.testing.assert_allclose(y, x.sum(axis), rtol=1e-5)
    assert len(prepared._compiled) == 2


def test_a_backend_refuses_at_once_what_no_value_of_an_input_mends():
    model = model_of(
        "z = Det(x) y = ReduceSum(x, axes)", inputs="float[3, 3] x, int64[1] axes", outputs="float z, float[?, ?] y"
    )
    with pytest.raises(TinycError, match="tinyc has no op Det"):
        backend.prepare(model)


def test_a_fixed_input_tells_the_symbols_of_its_shape():
    model = model_of("n = Neg(x) y = Reshape(n, s)", inputs="float[R, 3] x, int64[R] s", outputs="float[?, ?] y")
    text = str(import_model(model, constants={"s": [3, 2]}))
    assert "tensor<2x3xf32>" in text


def test_a_fixed_input_of_another_shape_is_refused():
    assert errors_of(_SUM, constants={"axes": [0, 1]}) == [
        ("ShapeContradiction", "axes", "the value of 'axes' has the shape [2]; the model declares i64 [1]")
    ]


@pytest.mark.parametrize(
    ("constants", "name", "message"),
    [
        ({"axis": [1]}, "UnknownName", "constants: the model has no input 'axis'; did you mean 'axes'?"),
        ({"axes": [0.5]}, "InputMismatch", "and the input is i64; give values of that type"),
        ({"axes": ["a"]}, "InputMismatch", "give numbers, or an array"),
        ({"axes": [2**64]}, "InputMismatch", "give"),
        ([1], "InputMismatch", "'constants' is no mapping"),
    ],
)
def test_a_constant_that_does_not_fit_is_refused(constants, name, message):
    found, said = refusal(_SUM, constants=constants)
    assert found == name
    assert message in said


def test_constants_are_for_onnx_models_only():
    program = '"builtin.module"() ({}) : () -> ()'
    assert refusal(program, constants={"axes": [1]})[0] == "InvalidOption"


def test_the_command_line_fixes_inputs(tmp_path, capsys):
    path = tmp_path / "sum.onnx"
    onnx.save(_SUM, path)
    assert main(["run", str(path), "--bind", "N=5", "--constant", "axes=[1]", "--check"]) == 0
    assert main(["verify", str(path), "--bind", "N=5", "--constant", "axes=[0]"]) == 0
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main(["run", str(path), "--constant", "axes"])
    assert "does not read as NAME=VALUE" in capsys.readouterr().err


# --- symbols ----------------------------------------------------------------------------------------------------------


def test_symbols_are_bound_and_unknown_ones_are_refused():
    model = model_of("y = Neg(x)", inputs="float[N, 3] x")
    assert "4x3xf32" in str(import_model(model, bind={"N": 4}))
    assert refusal(model, bind={"K": 4}) == ("UnboundSymbol", "bind: the program has no symbol 'K'; it has 'N'")


def test_names_of_axes_that_are_no_symbols_become_different_ones():
    model = model_of("y = Neg(x)", inputs="float[a, b, c] x", outputs="float[a, b, c] y")
    dims = model.graph.input[0].type.tensor_type.shape.dim
    dims[0].dim_param, dims[1].dim_param, dims[2].dim_param = "batch size", "batch-size", "batch_size"
    del model.graph.output[0].type.tensor_type.shape.dim[:]
    model.graph.output[0].type.tensor_type.ClearField("shape")
    x = numbers(2, 3, 4)
    np.testing.assert_array_equal(run_model(model, {"x": x})[0], -x)


def test_long_names_of_axes_become_short_ones_that_differ():
    model = model_of("y = Neg(x)", inputs="float[a, b] x", outputs="float[?, ?] y")
    dims = model.graph.input[0].type.tensor_type.shape.dim
    dims[0].dim_param, dims[1].dim_param = "a" * 5000, "a" * 4999 + "("
    assert max(map(len, import_symbols(model))) < 70
    np.testing.assert_array_equal(run_model(model, {"x": numbers(2, 4)})[0], -numbers(2, 4))


def import_symbols(model):
    return re.findall(r'"(a+[_0-9]*)"', str(import_model(model)))


@pytest.mark.parametrize(("extent", "name"), [(-1, "InvalidExtent"), (2**40, None)])
def test_an_extent_is_no_negative_number(extent, name):
    model = model_of("y = Neg(x)")
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = extent
    model.graph.output[0].type.tensor_type.ClearField("shape")
    assert [each[0] for each in errors_of(model)] == ([name] if name else [])


# --- what is declared -------------------------------------------------------------------------------------------------


def test_a_declared_shape_that_contradicts_is_refused():
    assert errors_of(model_of("y = Neg(x)", outputs="float[2, 4] y")) == [
        (
            "ShapeContradiction",
            "y",
            "'y' is declared of shape [2, 4], and is of [2, 3]; infer the shapes of the model again",
        )
    ]
    assert errors_of(model_of("y = Neg(x)", outputs="float[6] y"))[0][0] == "ShapeContradiction"
    assert errors_of(model_of("h = Neg(x) y = Neg(h)", more="<float[2, 2] h>"))[0][0] == "ShapeContradiction"


def test_a_declared_type_that_contradicts_is_refused():
    ((name, _, message),) = errors_of(model_of("y = Neg(x)", outputs="double[2, 3] y"))
    assert (name, message) == ("DtypeMismatch", "'y' is declared fp64, and is fp32")


def test_a_sum_of_symbols_is_one_where_they_are_axes():
    model = model_of("y = Concat<axis = 0>(x, z)", inputs="float[past] x, float[new] z", outputs="float[?] y")
    model.graph.input[1].type.tensor_type.shape.dim[0].dim_param = "past + 1"
    model.graph.node[0].op_type = "Add"
    del model.graph.node[0].attribute[:]
    assert errors_of(model)[0][0] == "BroadcastMismatch"


def test_extents_that_may_be_equal_are_taken_to_be():
    assert errors_of(model_of("y = Neg(x)", inputs="float[N, 3] x", outputs="float[2, whatever] y")) == []


# --- names, defaults, order -------------------------------------------------------------------------------------------


def test_an_initialiser_is_the_default_of_an_input_that_may_be_fixed():
    model = model_of("y = Add(x, b)", inputs="float[2, 3] x, float[3] b", more="<float[3] b = {1, 2, 3}>")
    x = numbers(2, 3)
    np.testing.assert_array_equal(run_model(model, {"x": x})[0], x + np.float32([1, 2, 3]))
    np.testing.assert_array_equal(run_model(model, {"x": x}, constants={"b": [0, 0, 1]})[0], x + np.float32([0, 0, 1]))


def test_outputs_may_be_inputs_and_initialisers():
    model = model_of("y = Neg(x)", outputs="float[2, 3] y, float[2, 3] x, float[2] w", more="<float[2] w = {1, 2}>")
    x = numbers(2, 3)
    for found, expected in zip(run_model(model, {"x": x}), (-x, x, [1, 2]), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_nodes_are_sorted_where_they_are_not():
    x = numbers(2, 3)
    (y,) = run_model(model_of("y = Neg(b) b = Relu(a) a = Neg(x)"), {"x": x})
    np.testing.assert_array_equal(y, -np.maximum(-x, 0))


def test_a_cycle_is_named():
    assert errors_of(model_of("a = Neg(b) b = Relu(a) y = Neg(b)")) == [
        ("CyclicGraph", "a", "there is a cycle: 'a' reads 'b' reads 'a'")
    ]


@pytest.mark.parametrize(
    ("model", "name", "message"),
    [
        (model_of("y = Neg(x) y = Relu(x)"), "DuplicateId", "'y' is what the node 'y' is called, too"),
        (model_of("x = Neg(x) y = Relu(x)"), "DuplicateId", "'x' is what an input or initialiser is called, too"),
        (model_of("y = Neg(x)", inputs="float x, float x"), "DuplicateId", "two inputs are called 'x'; rename one"),
        (model_of("y = Neg(h)"), "UnknownSource", "it reads 'h', which is no input, and which no node computes"),
        (model_of("z = Neg(x)"), "UnknownSource", "output 'y' is computed by no node"),
        (model_of("y = Neg(x, x)"), "InvalidOnnx", "Neg has 2 inputs; it takes 1 at most"),
        (model_of("y = Add(x)"), "MissingArgument", "Add needs input 1, and the node has none there"),
        (model_of("y = Cast(x)"), "MissingArgument", "Cast needs the attribute 'to'"),
        (model_of("y = Softmax<axis = 1.5>(x)"), "InvalidAttribute", "'axis' is of type float; it must be int"),
        (model_of("y = Neg<axis = 1>(x)"), "UnsupportedOnnx", "Neg: attribute 'axis' = 1 is not known to it"),
        (model_of("y = Transpose<perm = [1]>(x)"), "InvalidPermutation", "perm"),
        (model_of("y = Neg(x)", opset=99), "UnsupportedOnnx", "opset 99 is newer than the package onnx"),
        (model_of("y = Softmax(x)", opset=11), "UnsupportedOnnx", "convert the model by onnx.version_converter"),
        (model_of("y = NoSuchOp(x)"), "UnsupportedOnnx", "ONNX has no op NoSuchOp in opset 21"),
    ],
)
def test_what_is_wrong_is_said(model, name, message):
    found = errors_of(model)
    assert found[0][0] == name
    assert message in found[0][2]


def test_an_op_of_an_old_opset_is_read_where_it_has_not_changed():
    model = model_of("y = And(x, x)", inputs="bool[2] x", outputs="bool[2] y", opset=7)
    np.testing.assert_array_equal(run_model(model, {"x": np.array([True, False])})[0], [True, False])


def test_a_newer_ir_version_is_refused():
    model = model_of("y = Neg(x)")
    model.ir_version = 99
    assert "IR version 99 is newer than the package onnx" in errors_of(model)[0][2]


def test_a_text_that_is_none_is_refused():
    raw = model_of("y = Neg(x)").SerializeToString().replace(b"Neg", b"N\xff\xfe")
    with pytest.raises(TinycError, match="is no UTF-8"):
        import_model(raw)


def test_errors_are_told_at_once_with_their_nodes():
    model = model_of("a = Det(x) b = Neg(a) y = Softmax<axis = 7>(x)", outputs="float b, float[2, 3] y")
    assert [each[:2] for each in errors_of(model)] == [("UnsupportedOnnx", "a"), ("InvalidAxis", "y")]
