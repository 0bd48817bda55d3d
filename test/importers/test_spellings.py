"""The spellings of 000 and 002, alone and mixed, and what `values` declares."""

import numpy as np
import pytest

from importers.documents import error_of, errors_of, load, node, output, signature, steps, tensor, values
from tinyc.executors import reference
from tinyc.importers import tiny_json


def op(kind, name, function, inputs, output, **rest):
    """Return a node of the 000 spelling."""
    key = "kind" if kind == "Movement" else "fn"
    return {"op": kind, "name": name, key: function, "inputs": inputs, "outputs": [output], **rest}


def declared(dtype, *shape):
    return {"dtype": dtype, "shape": list(shape)}


def load_ops(*nodes, bind=None, **declarations):
    return tiny_json.import_program({"ops": list(nodes), "values": declarations}, bind)


A = declared("fp32", 4, 6)


# --- 000 --------------------------------------------------------------------------------------------------------------


def test_values_without_a_producer_are_inputs_in_their_order():
    module = load_ops(op("Binary", "add", "add", ["B", "A"], "C"), A=A, B=A, unread=declared("i8", 2))
    assert list(signature(module)[0]) == ["A", "B", "unread"]
    assert list(signature(module)[1]) == ["C"]


@pytest.mark.parametrize(
    ("kind", "attrs", "result"),
    [
        ("reshape", {"new_shape": ["24"]}, "fp32 [24]"),
        ("permute", {"perm": [1, 0]}, "fp32 [6, 4]"),
        ("expand", {"new_shape": [2, 4, 6]}, "fp32 [2, 4, 6]"),
        ("pad", {"pad": [[1, 0], [0, 0]]}, "fp32 [5, 6]"),
        ("shrink", {"lo": [0, 0], "hi": [2, 6]}, "fp32 [2, 6]"),
        ("slice", {"lo": [0, 0], "hi": [2, 6]}, "fp32 [2, 6]"),
        ("flip", {"axes": [0]}, "fp32 [4, 6]"),
        ("view", {"new_shape": [6], "index_map": {"map": ["1", "i0"]}}, "fp32 [6]"),
        ("pool", {"kernel": [2]}, "fp32 [4, 5, 2]"),
    ],
)
def test_movements(kind, attrs, result):
    assert output(load_ops(op("Movement", "m", kind, ["A"], "Y", attrs=attrs), A=A)) == result


@pytest.mark.parametrize(
    ("kind", "fn", "inputs", "last"),
    [
        ("Unary", "relu", ["A"], "relu"),
        ("Unary", "recip", ["A"], "recip"),
        ("Binary", "div", ["A", "A"], "fdiv"),
        ("Binary", "max", ["A", 0.5], "max"),
        ("Binary", "where", ["P", "A", "A"], "where"),
    ],
)
def test_functions_that_are_uops(kind, fn, inputs, last):
    module = load_ops(op(kind, "f", fn, inputs, "Y"), A=A, P=declared("bool", 4, 6))
    assert steps(module)[-1] == ("Y", last)


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize("dtype", ["fp16", "fp32", "fp64"])
@pytest.mark.parametrize(
    ("fn", "expected"),
    [("exp", np.exp), ("log", np.log), ("gelu", gelu), ("silu", lambda x: x * sigmoid(x)), ("sigmoid", sigmoid)],
)
def test_functions_that_are_composed(fn, expected, dtype):
    # half precision rounds the result, not each step on the way there
    element = {"fp16": np.float16, "fp32": np.float32, "fp64": np.float64}[dtype]
    x = np.linspace(-9, 9, 37).astype(element)
    x = np.abs(x) + element(0.125) if fn == "log" else x
    module = load_ops(op("Unary", "f", fn, ["X"], "Y"), X=declared(dtype, 37))
    result = reference.evaluate_module(module, {"X": x})["Y"]
    assert result.dtype == element
    tolerance = {"fp16": 1e-3, "fp32": 4e-6, "fp64": 1e-13}[dtype]
    exact = expected(x.astype(np.float64))
    np.testing.assert_allclose(result.astype(np.float64), exact, rtol=tolerance, atol=tolerance)


def test_composed_functions_take_floats():
    with pytest.raises(Exception, match="DtypeMismatch"):
        load_ops(op("Unary", "f", "exp", ["X"], "Y"), X=declared("i32", 3))


@pytest.mark.parametrize(("declarations", "result"), [({}, "fp32 [4]"), ({"Y": {"dtype": "fp64"}}, "fp64 [4]")])
def test_a_reduce_accumulates_in_fp32_or_as_declared(declarations, result):
    module = load_ops(op("Reduce", "r", "sum", ["A"], "Y", axes=[1]), A=declared("fp16", 4, 6), **declarations)
    assert steps(module) == [("Y", "reduce")]
    assert output(module) == result


@pytest.mark.parametrize(
    ("bad", "name"),
    [
        (op("Unary", "f", "frob", ["A"], "Y"), "UnknownUop"),
        (op("Ternary", "f", "where", ["A"], "Y"), "UnknownUop"),
        (op("Movement", "f", "relu", ["A"], "Y"), "UnknownUop"),
        ({**op("Unary", "f", "relu", ["A"], "Y"), "outputs": []}, "InvalidJson"),
        ({**op("Unary", "f", "relu", ["A"], "Y"), "outputs": ["Y", "Z"]}, "InvalidJson"),
        ({"op": "Unary", "inputs": ["A"], "outputs": ["Y"]}, "MissingArgument"),
        (op("Unary", "f", "relu", ["A", "A"], "Y"), "InvalidAttribute"),
        (op("Unary", "f", "gelu", [], "Y"), "MissingArgument"),
        (op("Reduce", "f", "sum", ["A"], "Y"), "MissingArgument"),
        (op("Unary", "f", "relu", ["nowhere"], "Y"), "UnknownSource"),
        (op("Unary", "f", "exp", [1.0], "Y"), "InvalidAttribute"),
    ],
)
def test_nodes_of_000_that_are_wrong(bad, name):
    assert errors_of({"ops": [bad], "values": {"A": A}})[0][0] == name


# --- what `values` declares of results --------------------------------------------------------------------------------


def test_a_declared_dtype_forces_a_cast():
    module = load_ops(op("Unary", "f", "relu", ["A"], "Y"), A=A, Y=declared("bf16", 4, 6))
    assert steps(module) == [("Y.relu", "relu"), ("Y", "cast")]
    assert output(module) == "bf16 [4, 6]"


def test_readers_get_the_cast_value():
    module = load_ops(
        op("Unary", "f", "relu", ["A"], "Y"), op("Unary", "g", "neg", ["Y"], "Z"), A=A, Y={"dtype": "fp16"}
    )
    assert output(module) == "fp16 [4, 6]"


def test_a_declared_shape_that_contradicts_is_an_error():
    bad = {"ops": [op("Unary", "f", "relu", ["A"], "Y")], "values": {"A": A, "Y": {"shape": [6, 4]}}}
    assert errors_of(bad) == [("ShapeContradiction", "Y")]


def test_a_declared_shape_tells_symbols():
    module = load_ops(op("Unary", "f", "relu", ["A"], "Y"), A=declared("fp32", "M"), Y={"shape": ["P"]})
    assert output(module) == "fp32 [M]"


def test_both_results_of_topk_can_be_declared():
    module = load(
        tensor("x", 9),
        node("t", "TOPK", "x", k=2, axis=0),
        values={"t": {"dtype": "fp16"}, "t#1": {"dtype": "i32"}},
    )
    assert signature(module)[1] == {"t": "fp16 [2]", "t#1": "i32 [2]"}


@pytest.mark.parametrize("entry", [{"dtype": "fp32"}, {"shape": [2]}, {}])
def test_an_input_needs_dtype_and_shape(entry):
    document = {"ops": [op("Unary", "f", "relu", ["A"], "Y")], "values": {"A": entry}}
    assert errors_of(document) == [("MissingArgument", "A")]


@pytest.mark.parametrize("values_", [[], {"A": 1}, {"": A}, {"A": declared("f32", 2)}, {"A": declared("fp32", -2)}])
def test_values_of_the_wrong_kind(values_):
    names = {name for name, _ in errors_of({"ops": [op("Unary", "f", "relu", ["A"], "Y")], "values": values_})}
    assert names & {"InvalidJson", "InvalidAttribute", "InvalidExtent"}


# --- 002, and mixtures ------------------------------------------------------------------------------------------------


def test_nodes_are_known_by_what_they_put_out():
    module = load({"uop": "NEG", "src": ["A"], "out": "Y"}, values={"A": A})
    assert signature(module) == [{"A": "fp32 [4, 6]"}, {"Y": "fp32 [4, 6]"}]


def test_an_input_node_may_have_out():
    given = {"uop": "INPUT", "out": "A", "arg": {"dtype": "fp32", "shape": [2]}}
    assert signature(load(given, {"uop": "NEG", "src": ["A"], "out": "Y"}))[0] == {"A": "fp32 [2]"}


def test_a_name_found_nowhere_is_an_error():
    error = error_of({"uop": "NEG", "src": ["A"], "out": "Y"})
    assert (error.name, error.where.node) == ("UnknownSource", "Y")


def test_the_spellings_may_be_mixed():
    module = load(
        tensor("x", 4, 6),
        {"uop": "ADD", "src": ["x", "e"], "out": "s"},
        node("y", "MUL", "s", "A"),
        ops=[op("Unary", "f", "relu", ["A"], "e")],
        values={"A": A},
    )
    assert steps(module) == [("e", "relu"), ("s", "add"), ("y", "mul")]
    assert values(module, "y") == {}


def test_id_and_out_are_one_name():
    x = {"id": "x", "out": "x", "uop": "INPUT", "arg": {"dtype": "fp32", "shape": [2]}}
    assert signature(load(x, {"id": "y", "out": "y", "uop": "NEG", "src": ["x"]})) == [
        {"x": "fp32 [2]"},
        {"y": "fp32 [2]"},
    ]


@pytest.mark.parametrize("out", ["z", "", 3, None])
def test_id_and_out_that_differ_are_refused(out):
    error = error_of(tensor("x", 2), {"id": "y", "out": out, "uop": "NEG", "src": ["x"]})
    assert (error.name, error.where.node) == ("InvalidJson", "y")
    assert "one name" in error.message
