"""All errors of a file together, each at its node, without those that follow from others."""

import json

import pytest

from importers.documents import DATA, error_of, errors_of, load, node, program, signature, steps, tensor
from tinyc.diagnostics import TinycError
from tinyc.importers import tiny_json

X = tensor("x", 4, 6)
VERBATIM = DATA / "attention_001_verbatim.json"


@pytest.mark.parametrize("bind", [{}, {"B": 1, "H": 2, "M": 3, "N": 5, "D": 4}])
def test_the_attention_of_001_is_rejected(bind):
    with pytest.raises(TinycError) as caught:
        tiny_json.import_program(VERBATIM, bind)
    scramble, maximum, total = caught.value.errors
    assert [(error.name, error.where.node, error.where.line) for error in caught.value.errors] == [
        ("NonScop", "n4", 8),
        ("BroadcastMismatch", "n10", 17),
        ("BroadcastMismatch", "n14", 21),
    ]
    assert "scramble" in scramble.message
    assert "PERMUTE" in scramble.message
    assert "ranks 4 and 3" in maximum.message
    assert "reshape and expand" in total.message


def test_concrete_extents_may_be_reshaped_into_another_order():
    assert load(X, node("y", "RESHAPE", "x", result_shape=[6, 4]))


def test_every_error_is_reported_and_what_follows_is_not():
    document = program(
        X,
        node("a", "PERMUTE", "x", perm=[0, 0]),
        node("follows", "NEG", "a"),
        node("b", "RESHAPE", "x", result_shape=[5]),
        node("c", "ADD", "nowhere", "x"),
        node("d", "FROBNICATE", "x"),
        node("e", "NEG", "d"),
        node("fine", "NEG", "x"),
        node("f", "REDUCE", "fine", op="SUM", axes=[0]),
    )
    assert sorted(errors_of(document), key=lambda error: error[1]) == [
        ("InvalidPermutation", "a"),
        ("AxisSizeMismatch", "b"),
        ("UnknownSource", "c"),
        ("UnknownUop", "d"),
        ("AccDtypeMissing", "f"),
    ]


@pytest.mark.parametrize(
    ("uop", "arg", "unknown", "hint"),
    [
        ("POOL", {"kernel": [2], "strides": [2]}, "the arg of POOL has no key 'strides'", "did you mean 'stride'?"),
        ("TOPK", {"k": 1, "axis": 0, "largets": False}, "the arg of TOPK has no key 'largets'", "'largest'?"),
        ("PAD", {"pad": [[0, 0], [0, 1]], "mode": "edge"}, "the arg of PAD has no key 'mode'", "there are pad, value"),
        ("RELU", {"hint": 1}, "the arg of RELU has no key 'hint'", "; there are none"),
        (
            "REDUCE",
            {"op": "SUM", "axes": [0], "dtype": "fp32", "keepdims": True},
            "the arg of REDUCE has no key 'keepdims'",
            "there are op, axes, dtype, acc_dtype, init",
        ),
        (
            "VIEW",
            {"result_shape": [6], "index_map": {"map": [0, "i0"], "rank": 1}},
            "'index_map' of VIEW has no key 'rank'",
            "there are map",
        ),
    ],
)
def test_an_argument_that_nothing_reads_is_refused(uop, arg, unknown, hint):
    error = error_of(X, node("y", uop, "x", **arg))
    assert (error.name, error.where.node) == ("UnknownKey", "y")
    assert error.message.startswith(unknown)
    assert error.message.endswith(hint)


@pytest.mark.parametrize("pad", [[1, 1], [[1, 1], 1], [[1], [1]], [[0, 1, 0], [0, 0]], {"lo": 1}, 1])
def test_a_pad_is_said_to_be_a_pair_for_each_axis(pad):
    message = error_of(X, node("y", "PAD", "x", pad=pad)).message
    assert message == f"'pad' in the arg of PAD must be a list of [lo, hi] for each axis, not {json.dumps(pad)}"


def test_unknown_keys_of_all_objects_are_reported_together():
    document = {
        **program(X, {"id": "a", "uop": "RELU", "src": ["x"], "args": {}}, {"out": "b", "uop": "NEG", "inputs": ["a"]}),
        "ops": [{"op": "Unary", "fn": "neg", "inputs": ["a"], "outputs": ["c"], "uop_name": "n"}],
        "values": {"c": {"dtype": "fp32", "shapes": [4, 6]}, "z": {"dtype": "fp32", "shape": [2], "layout": "row"}},
        "output": ["c"],
    }
    with pytest.raises(TinycError) as caught:
        tiny_json.import_program(document)
    found = [(error.where.node, error.message) for error in caught.value.errors if error.name == "UnknownKey"]
    assert found == [
        (None, "a program has no key 'output'; did you mean 'outputs'?"),
        ("c", "the entry of 'c' in 'values' has no key 'shapes'; did you mean 'shape'?"),
        ("z", "the entry of 'z' in 'values' has no key 'layout'; there are dtype, shape"),
        ("a", "a node has no key 'args'; did you mean 'arg'?"),
        ("b", "a node has no key 'inputs'; there are id, out, uop, src, arg"),
        ("c", "a node has no key 'uop_name'; did you mean 'name'?"),
    ]


def test_each_error_has_the_place_of_its_node():
    text = '{"uops": [\n  {"id": "x", "uop": "INPUT"},\n  // comment\n    {"id": "y", "uop": "ADD"}\n]}'
    with pytest.raises(TinycError) as caught:
        tiny_json.import_program(text, filename="p.json")
    places = {str(error.where) for error in caught.value.errors}
    assert places == {"p.json:2:3, node 'x'", "p.json:4:5, node 'y'"}


FINE = '{"dtype": "fp32", "shape": [4]}'


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        (
            '{"dtype": "fp32", "shap": [4]}',
            "{}",
            "2:19, node 'x': error: the entry of 'x' in 'values' has no key 'shap'",
        ),
        ('{"dtype": "fp32"}', "{}", "2:19, node 'x': error: the entry of 'x' in 'values' needs 'shape'"),
        ('{"dtype": "f", "shape": []}', "{}", "2:19, node 'x': error: 'dtype' in the entry of 'x' in 'values' must be"),
        (f'{{"tensor_id": "z", {FINE[1:]}', "{}", "2:19, node 'x': error: the entry of 'x' in 'values' has no key"),
        (FINE, '{"type": "fp32"}', "3:8, node 'y': error: the entry of 'y' in 'values' has no key 'type'"),
        (FINE, '{"shape": 4}', "3:8, node 'y': error: 'shape' in the entry of 'y' in 'values' must be"),
        (FINE, "5", "p.json, node 'y': error: an entry of 'values' must be a name with"),
    ],
)
def test_an_entry_of_values_is_called_so_and_has_its_place(x, y, said):
    """`x` is an input, and `y` the result of a node."""
    text = f'{{"uops": [{{"id": "y", "uop": "NEG", "src": ["x"]}}],\n  "values": {{"x": {x},\n  "y": {y}}}}}'
    with pytest.raises(TinycError) as caught:
        tiny_json.import_program(text, filename="p.json")
    (error,) = caught.value.errors
    assert said in str(error)


@pytest.mark.parametrize(
    ("uop", "arg", "found"),
    [
        ("PAD", {"padd": [[0, 0], [0, 0]]}, ["UnknownKey"]),
        ("RESHAPE", {"new_shap": [24]}, ["UnknownKey"]),
        ("REDUCE", {"op": "SUM", "axes": [0], "dtyp": "fp32"}, ["UnknownKey"]),
        ("PAD", {"mode": "edge"}, ["UnknownKey", "MissingArgument"]),
        ("PAD", {"pad_comment": 1, "_pad": 1}, ["UnknownKey", "MissingArgument"]),
        ("CAST", {}, ["MissingArgument"]),
    ],
)
def test_a_misspelt_key_is_not_missing_too(uop, arg, found):
    assert [name for name, _ in errors_of(program(X, node("y", uop, "x", **arg)))] == found


def test_a_faulty_node_is_not_an_unknown_source():
    assert errors_of(program(X, node("d", "FROBNICATE", "x"), node("e", "NEG", "d"))) == [("UnknownUop", "d")]


def test_nodes_may_come_in_any_order():
    module = load(node("z", "NEG", "y"), node("y", "RELU", "x"), X)
    assert steps(module) == [("y", "relu"), ("z", "neg")]


def test_a_cycle_is_reported_once_and_shown():
    nodes = [X, node("a", "ADD", "c", "x"), node("b", "NEG", "a"), node("c", "NEG", "b"), node("d", "NEG", "c")]
    error = error_of(*nodes)
    assert error.name == "CyclicGraph"
    assert "a <- c <- b <- a" in error.message


def test_each_cycle_is_reported():
    assert errors_of(program(X, node("a", "NEG", "a"), node("b", "ADD", "b", "x"))) == [
        ("CyclicGraph", "a"),
        ("CyclicGraph", "b"),
    ]


def test_a_graph_may_be_deeper_than_the_stack():
    nodes = [node(f"n{k}", "NEG", f"n{k - 1}" if k else "x") for k in range(3000)]
    assert list(signature(load(X, *reversed(nodes)))[1]) == ["n2999"]


@pytest.mark.parametrize(
    ("nodes", "name"),
    [
        ([X, X, node("y", "NEG", "x")], "DuplicateId"),
        ([X, node("t", "TOPK", "x", k=1, axis=0), node("t#1", "NEG", "x")], "DuplicateId"),
        ([X, {"uop": "NEG", "src": ["x"]}], "MissingArgument"),
        ([X, {"id": "y", "src": ["x"]}], "MissingArgument"),
        ([X, {"id": "", "uop": "NEG", "src": ["x"]}], "InvalidJson"),
        ([X, {"id": 3, "uop": "NEG", "src": ["x"]}], "InvalidJson"),
        ([X, {"id": "y", "uop": "neg", "src": ["x"]}], "UnknownUop"),
        ([X, {"id": "y", "uop": "NEG", "src": "x"}], "InvalidJson"),
        ([X, {"id": "y", "uop": "NEG", "src": [["x"]]}], "InvalidJson"),
        ([X, {"id": "y", "uop": "NEG", "src": ["x"], "arg": []}], "InvalidJson"),
        ([X, node("y", "NEG", "x", "x")], "InvalidAttribute"),
        ([X, node("y", "ADD", "x")], "MissingArgument"),
        ([node("x", "INPUT", dtype="fp32", shape=[2]), node("y", "NEG", "x")], "MissingArgument"),
        ([X, "NEG"], "InvalidJson"),
        ([X], "MissingArgument"),
    ],
)
def test_structure(nodes, name):
    assert error_of(*nodes).name == name


@pytest.mark.parametrize("document", [{}, [], 3, None, "uops", {"uops": {}}, {"ops": None}, {"nodes": []}])
def test_documents_that_are_no_programs(document):
    text = "null" if document is None else f'"{document}"' if isinstance(document, str) else document
    assert {name for name, _ in errors_of(text)} == {"InvalidJson"}


@pytest.mark.parametrize("id", ["a b", "日本語", '"quoted"', "new\nline", "nul\0", "x" * 5000, "n#1", "%0", "a.b'"])
def test_ids_are_any_text(id):
    module = load(tensor(id, 2), node(id + "!", "NEG", id))
    assert signature(module) == [{id: "fp32 [2]"}, {id + "!": "fp32 [2]"}]


def test_a_faulty_input_is_not_a_program_without_outputs():
    assert error_of(node("x", "INPUT", tensor_id="x", dtype="fp31", shape=[2])).name == "InvalidAttribute"
    assert error_of(tensor("x", -1)).name == "InvalidExtent"


def test_a_symbol_of_a_faulty_node_is_not_an_unknown_name_of_bind():
    faulty = node("x", "INPUT", tensor_id="x", dtype="fp31", shape=["M"])
    assert error_of(faulty, bind={"M": 3}).name == "InvalidAttribute"


def test_a_program_without_nodes_is_told_by_its_file():
    with pytest.raises(TinycError, match=r"p\.json"):
        tiny_json.import_program('{"uops": []}', filename="p.json")


@pytest.mark.parametrize("text", ["{}", "", " // nothing\n"])
def test_an_empty_document_is_told_what_a_program_looks_like(text):
    with pytest.raises(TinycError, match="a program looks like"):
        tiny_json.import_program(text)


def test_a_negative_extent_is_called_so():
    assert "extents are not" in error_of(tensor("x", -1), node("y", "NEG", "x")).message


@pytest.mark.parametrize(("value", "shown"), [(None, "null"), (True, "true"), ([None, "a"], '[null, "a"]')])
def test_errors_speak_json(value, shown):
    cast = {"id": "y", "uop": "CAST", "src": ["x"], "arg": {"to": value}}
    assert error_of(X, cast).message.endswith(f"not {shown}")
    assert error_of(X, {"id": "y", "uop": "NEG", "src": value}).message.startswith(
        "a source must be" if isinstance(value, list) else f"'src' must be a list, not {shown}"
    )


# --- outputs ----------------------------------------------------------------------------------------------------------


def test_outputs_are_what_nobody_reads_in_file_order():
    nodes = [node("z", "NEG", "x"), X, node("a", "RELU", "x"), node("m", "NEG", "a"), node("b", "RELU", "m")]
    assert list(signature(load(*nodes))[1]) == ["z", "b"]


def test_inputs_and_constants_are_no_outputs_of_themselves():
    module = load(X, node("c", "CONST", value=1, dtype="i8"), node("y", "NEG", "x"))
    assert list(signature(module)[1]) == ["y"]


def test_outputs_can_be_named():
    module = load(X, node("a", "NEG", "x"), node("b", "NEG", "a"), outputs=["b", "a", "x"])
    assert list(signature(module)[1]) == ["b", "a", "x"]


@pytest.mark.parametrize(
    ("outputs", "name"),
    [
        (["nowhere"], "UnknownSource"),
        (["y", "y"], "DuplicateId"),
        ([], "MissingArgument"),
        ("y", "InvalidJson"),
        ([1], "InvalidJson"),
    ],
)
def test_outputs_that_cannot_be(outputs, name):
    assert error_of(X, node("y", "NEG", "x"), outputs=outputs).name == name
