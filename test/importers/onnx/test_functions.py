"""Functions of the model and of ONNX stand in the place of ops, their names before those of their nodes."""

import numpy as np
import onnx
import pytest

from importers.onnx.models import errors_of, model_of, numbers, run_model
from tinyc.importers.onnx.handlers.registry import HANDLERS_BY_TYPE
from tinyc.importers.onnx.model import import_model

_SCALE = (
    '<domain: "own", opset_import: ["" : 21]> scale <alpha: float = 3.0> (v) => (w) '
    "{ k = Constant<value_float: float = @alpha>() w = Mul(v, k) }"
)


@pytest.mark.parametrize(("given", "factor"), [("", 3), ("<alpha = 0.5>", 0.5)])
def test_a_function_has_the_attributes_of_its_caller_or_its_defaults(given, factor):
    x = numbers(2, 3)
    (y,) = run_model(model_of(f"y = own.scale{given}(x)", functions=_SCALE), {"x": x})
    np.testing.assert_allclose(y, x * np.float32(factor))


def test_a_function_of_onnx_stands_for_an_op_without_a_handler():
    x = numbers(2, 3)
    (y,) = run_model(model_of("y = Mish(x)", opset=22), {"x": x})
    np.testing.assert_allclose(y, x * np.tanh(np.log1p(np.exp(x))), rtol=1e-5)


def test_nodes_of_a_body_are_named_after_the_node_that_they_stand_for():
    model = model_of("y = own.scale(x)", functions=_SCALE)
    model.graph.node[0].name = "outer"
    module = import_model(model, filename="m.onnx")
    assert '"outer/w"' in module.operation.get_asm(enable_debug_info=True)


def test_a_function_calls_another_one_and_leaves_inputs_out():
    functions = (
        '<domain: "own", opset_import: ["" : 21, "own" : 1]> outer (v, unused) => (w) { w = own.inner(v) } '
        '<domain: "own", opset_import: ["" : 21]> inner (v) => (w) { w = Neg(v) }'
    )
    x = numbers(2, 3)
    (y,) = run_model(model_of("y = own.outer(x)", functions=functions), {"x": x})
    np.testing.assert_array_equal(y, -x)


def test_a_function_that_calls_itself_is_refused():
    functions = '<domain: "own", opset_import: ["own" : 1]> f (v) => (w) { w = own.f(v) }'
    ((name, _, message),) = errors_of(model_of("y = own.f(x)", functions=functions))
    assert (name, message) == ("CyclicGraph", "the function 'f' calls itself")


def test_functions_that_double_are_refused_before_they_fill_the_memory():
    functions = " ".join(
        f'<domain: "own", opset_import: ["" : 21, "own" : 1]> f{n} (v) => (w) '
        f"{{ u = own.f{n - 1}(v) t = own.f{n - 1}(u) w = Neg(t) }}"
        for n in range(1, 41)
    )
    functions += '<domain: "own", opset_import: ["" : 21]> f0 (v) => (w) { w = Identity(v) }'
    ((name, _, message),) = errors_of(model_of("y = own.f39(x)", functions=functions))
    assert name == "UnsupportedOnnx"
    assert "more than 200000 nodes" in message


def test_functions_that_lie_in_each_other_too_deep_are_refused():
    functions = '<domain: "own", opset_import: ["" : 21]> f0 (v) => (w) { w = Neg(v) } ' + " ".join(
        f'<domain: "own", opset_import: ["own" : 1]> f{n} (v) => (w) {{ w = own.f{n - 1}(v) }}' for n in range(1, 61)
    )
    ((name, _, message),) = errors_of(model_of("y = own.f60(x)", functions=functions))
    assert (name, message) == ("UnsupportedOnnx", "functions and branches lie in each other more than 40 deep")


def test_a_body_that_fails_is_an_error_of_the_op():
    functions = '<domain: "own", opset_import: ["" : 21]> f (v) => (w) { w = Det(v) }'
    ((name, node, message),) = errors_of(model_of("y = own.f(x)", functions=functions))
    assert (name, node, message) == ("UnsupportedOnnx", "y/w", "tinyc has no op Det")


def test_a_function_of_onnx_that_fails_names_its_op(monkeypatch):
    monkeypatch.delitem(HANDLERS_BY_TYPE, "Mish")
    model = model_of("y = Mish(x)", inputs="int32[2, 3] x", outputs="int32[2, 3] y", opset=22)
    ((name, node, message),) = errors_of(model)
    assert (name, node) == ("DtypeMismatch", "y")
    assert message.startswith("Mish, of which ONNX makes other ops: ")


def test_inputs_and_outputs_that_a_function_lacks_are_refused():
    ((name, _, message),) = errors_of(model_of("y = own.scale(x, x)", functions=_SCALE))
    assert name == "InvalidOnnx"
    assert message == "'scale' has 2 inputs and 1 outputs; the function takes 1 and 1 at most"


def test_a_reference_to_an_attribute_outside_of_a_function_is_refused():
    model = model_of("y = Softmax(x)")
    model.graph.node[0].attribute.append(
        onnx.AttributeProto(name="axis", ref_attr_name="a", type=onnx.AttributeProto.INT)
    )
    ((name, _, message),) = errors_of(model)
    assert (name, "refers to one of a function" in message) == ("InvalidOnnx", True)


def test_an_op_of_a_domain_without_such_a_function_is_refused():
    assert errors_of(model_of("y = own.nothing(x)")) == [("UnsupportedOnnx", "y", "tinyc has no op own.nothing")]


# --- branches ---------------------------------------------------------------------------------------------------------

_IF = (
    "y = If(c)<then_branch = a () => (float[2, 3] p) { p = Neg(x) }, "
    "else_branch = b () => (float[2, 3] q) <float k = {2}> { q = Mul(x, k) }>"
)


@pytest.mark.parametrize(("condition", "factor"), [(1, -1), (0, 2)])
def test_the_branch_of_a_known_condition_is_imported(condition, factor):
    x = numbers(2, 3)
    (y,) = run_model(model_of(_IF, more=f"<bool c = {{{condition}}}>"), {"x": x})
    np.testing.assert_array_equal(y, factor * x)


def test_a_condition_that_is_an_input_has_to_be_fixed():
    model = model_of(_IF, inputs="float[2, 3] x, bool c")
    ((name, _, message),) = errors_of(model)
    assert name == "UnboundInput"
    assert message.startswith("If: input 0 must be known when the model is imported, and depends on the input 'c'; ")
    x = numbers(2, 3)
    np.testing.assert_array_equal(run_model(model, {"x": x}, constants={"c": True})[0], -x)


def test_loops_are_refused_by_name_once_a_kind():
    body = "body = b (int64 i, bool c, float[2, 3] v) => (bool d, float[2, 3] w) { d = Identity(c) w = Neg(v) }"
    model = model_of(f"z = Loop<{body}>(n, , x) y = Loop<{body}>(n, , z)", more="<int64 n = {3}>")
    second = model_of(f"a = Loop<{body}>(n, , x) b = Loop<{body}>(n, , x) y = Add(a, b)", more="<int64 n = {3}>")
    loops = "Loop: loops are out of scope; unroll it when the model is exported"
    assert errors_of(model) == [("UnsupportedOnnx", "z", loops)]
    assert errors_of(second) == [("UnsupportedOnnx", "a", f"{loops} (2 nodes)")]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("s = SequenceConstruct(x, x) y = SequenceAt(s, i)", "SequenceConstruct: sequences are out of scope"),
        ("o = Optional(x) y = OptionalGetElement(o)", "Optional: optional values are out of scope"),
        ("y = Cast<to = 17>(x)", "tensors of type float8e4m3fn are out of scope"),
        ('s = Constant<value_string = "a">() y = StringConcat(s, s)', "Constant: its value is a string or sparse"),
    ],
)
def test_kinds_of_values_that_are_out_of_scope_are_refused_by_name(body, message):
    ((name, _, found),) = errors_of(model_of(body, more="<int64 i = {0}>"))
    assert name == "UnsupportedOnnx"
    assert message in found
