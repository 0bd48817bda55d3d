"""The leaves of the 001 spelling: inputs, constants, index and random tensors."""

import pytest

from importers.documents import error_of, load, node, output, signature, tensor, values

X = tensor("x", 4, 6)


def test_an_input_is_an_argument_named_by_its_tensor_id():
    module = load(node("n0", "INPUT", tensor_id="A", dtype="bf16", shape=["M", 3]), node("n1", "NEG", "n0"))
    assert signature(module) == [{"A": "bf16 [M, 3]"}, {"n1": "bf16 [M, 3]"}]


def test_an_unread_input_is_still_an_input():
    assert list(signature(load(tensor("a", 2), tensor("b", 3), node("y", "RELU", "a")))[0]) == ["a", "b"]


def test_two_nodes_may_name_one_tensor():
    other = node("again", "INPUT", tensor_id="x", dtype="fp32", shape=[4, 6])
    module = load(X, other, node("y", "ADD", "x", "again"))
    assert signature(module)[0] == {"x": "fp32 [4, 6]"}


@pytest.mark.parametrize("change", [{"dtype": "fp16"}, {"shape": [6, 4]}])
def test_one_tensor_has_one_type(change):
    again = node("again", "INPUT", **{"tensor_id": "x", "dtype": "fp32", "shape": [4, 6], **change})
    error = error_of(X, again, node("y", "RELU", "x"))
    assert (error.name, error.where.node) == ("ShapeContradiction", "again")


@pytest.mark.parametrize(
    ("arg", "type_"),
    [
        ({"value": 1.5, "dtype": "fp16"}, "fp16 []"),
        ({"value": 3, "dtype": "u8", "shape": [2, "3"]}, "u8 [2, 3]"),
        ({"value": True, "dtype": "bool", "shape": [0]}, "bool [0]"),
        ({"value": 2**64 - 1, "dtype": "u64"}, "u64 []"),
    ],
)
def test_a_const_is_a_scalar_or_a_splat(arg, type_):
    module = load(node("c", "CONST", **arg), outputs=["c"])
    assert output(module) == type_
    assert values(module, "c")["value"] == arg["value"]


@pytest.mark.parametrize(
    "arg",
    [
        {"value": 1.5, "dtype": "i32"},
        {"value": 256, "dtype": "u8"},
        {"value": True, "dtype": "fp32"},
        {"value": True, "dtype": "i8"},
        {"value": 2, "dtype": "bool"},
    ],
)
def test_a_const_is_a_value_of_its_dtype(arg):
    assert error_of(node("c", "CONST", **arg), outputs=["c"]).name == "DtypeMismatch"


@pytest.mark.parametrize(
    "reader",
    [
        node("y", "ADD", "x", 1e40),
        node("y", "ADD", "x", -(10**400)),
        node("y", "PAD", "x", pad=[[1, 1], [0, 0]], value=1e40),
        node("y", "REDUCE", "x", op="SUM", axes=[0], dtype="fp32", init=1e40),
    ],
)
def test_a_number_that_would_round_to_infinity_is_refused_wherever_it_stands(reader):
    error = error_of(X, reader)
    assert (error.name, error.where.node) == ("DtypeMismatch", "y")
    assert "is beyond the numbers of fp32; give a smaller one, an infinity or another type" in error.message


def test_iota_counts_along_an_axis():
    module = load(node("y", "IOTA", shape=[2, "5"], axis=-1, dtype="i64"))
    assert output(module) == "i64 [2, 5]"
    assert values(module, "y")["axis"] == 1


def test_rand_has_stream_0_by_default():
    module = load(node("y", "RAND", shape=[2], dtype="fp32", distribution="normal", seed=-7))
    found = values(module, "y")
    assert (found["distribution"], found["seed"], found["stream"]) == ("normal", -7, 0)


@pytest.mark.parametrize(("written", "kept"), [(2**64 - 1, -1), (2**63, -(2**63)), (2**63 - 1, 2**63 - 1)])
def test_seed_and_stream_count_modulo_2_to_the_64(written, kept):
    module = load(
        node("y", "RAND", shape=[2], dtype="fp32", distribution="normal", seed=written, stream=written),
    )
    assert (values(module, "y")["seed"], values(module, "y")["stream"]) == (kept, kept)


@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1, True, 1.0])
def test_what_is_no_seed_is_refused(seed):
    error = error_of(node("y", "RAND", shape=[2], dtype="fp32", distribution="normal", seed=seed))
    assert "2^64 - 1" in error.message
