"""The two repairs, each with a remark, and immediate numbers."""

import pytest

from importers.documents import error_of, load, node, output, remarks_of, steps, tensor, values

A, ROW, COLUMN = tensor("a", "M", "N"), tensor("r", 1, "N"), tensor("c", "M", 1)
HALF = tensor("h", "M", "N", dtype="fp16")


def test_size_1_axes_of_both_sides_are_expanded():
    nodes = [COLUMN, ROW, node("y", "ADD", "c", "r")]
    assert remarks_of(*nodes) == [("broadcast-inserted", "y")] * 2
    module = load(*nodes)
    assert steps(module) == [("y.expand", "expand"), ("y.expand.2", "expand"), ("y", "add")]
    assert output(module) == "fp32 [M, N]"


def test_a_condition_is_expanded_too():
    nodes = [A, tensor("p", "M", 1, dtype="bool"), node("y", "WHERE", "p", "a", 0)]
    assert remarks_of(*nodes) == [("broadcast-inserted", "y")]
    assert output(load(*nodes)) == "fp32 [M, N]"


@pytest.mark.parametrize("narrow", ["fp16", "bf16"])
def test_sixteen_bits_beside_fp32_are_widened(narrow):
    nodes = [A, tensor("h", "M", "N", dtype=narrow), node("y", "MUL", "h", "a")]
    assert remarks_of(*nodes) == [("operand-widened", "y")]
    assert steps(load(*nodes)) == [("y.cast", "cast"), ("y", "mul")]


def test_operands_that_agree_are_left_alone():
    assert remarks_of(A, node("y", "ADD", "a", "a")) == []


def test_unequal_ranks_are_not_repaired():
    assert error_of(A, tensor("b", "N"), node("y", "ADD", "a", "b")).name == "BroadcastMismatch"


def test_symbols_do_not_broadcast():
    # M may turn out to be 1 at run time: that makes no broadcast of it
    assert error_of(A, tensor("b", "K", "N"), node("y", "ADD", "a", "b")).name == "BroadcastMismatch"


@pytest.mark.parametrize(
    ("dtype", "number", "value"), [("fp16", 2, 2.0), ("fp32", 0.5, 0.5), ("i8", -128, -128), ("bool", 1, True)]
)
def test_an_immediate_has_the_type_of_the_other_operand(dtype, number, value):
    module = load(tensor("x", 3, dtype=dtype), node("y", "MAX", number, "x"))
    assert steps(module) == [("y.const", "const"), ("y", "max")]
    constant = values(module, "y.const")
    assert (constant["value"], constant["shape"]) == (value, (3,))


@pytest.mark.parametrize(("dtype", "number"), [("i32", 0.5), ("i32", 2.0), ("u8", -1), ("u8", 256), ("fp32", True)])
def test_an_immediate_must_be_a_value_of_that_type(dtype, number):
    assert error_of(tensor("x", 3, dtype=dtype), node("y", "ADD", "x", number)).name == "DtypeMismatch"


@pytest.mark.parametrize(
    "bad",
    [
        node("y", "ADD", 1, 2),
        node("y", "RELU", 1.0),
        node("y", "PERMUTE", 1, perm=[]),
        node("y", "REDUCE", 1, op="SUM", axes=[], dtype="fp32"),
        node("y", "WHERE", 1, "a", "a"),
        node("y", "GATHER", "a", 0, axis=0),
    ],
)
def test_immediates_elsewhere_are_refused(bad):
    error = error_of(A, bad)
    assert (error.name, error.where.node) == ("InvalidAttribute", "y")


def test_names_of_inserted_steps_avoid_those_of_the_file():
    module = load(COLUMN, ROW, node("y.expand", "NEG", "c"), node("y", "ADD", "y.expand", "r"))
    assert steps(module)[1:] == [("y.expand.2", "expand"), ("y.expand.3", "expand"), ("y", "add")]
