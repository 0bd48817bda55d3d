"""The uops of the 001 spelling that compute: element-wise, reduce, data-dependent; and args of the wrong kind."""

import pytest

from importers.documents import error_of, load, node, output, signature, steps, tensor, values
from tinyc.importers.spellings import UNARY_UOPS

X = tensor("x", 4, 6)


# --- element-wise -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("uop", UNARY_UOPS[:-1])
def test_unary_uops(uop):
    assert steps(load(X, node("y", uop, "x"))) == [("y", uop.lower())]


@pytest.mark.parametrize("uop", ["ADD", "SUB", "MUL", "IDIV", "MOD", "MAX", "MIN", "AND", "OR", "XOR"])
def test_binary_uops(uop):
    module = load(tensor("a", 3, dtype="i32"), node("y", uop, "a", "a"))
    assert (steps(module), output(module)) == ([("y", uop.lower())], "i32 [3]")


@pytest.mark.parametrize("uop", ["CMP_LT", "CMP_EQ"])
def test_comparisons_give_bool(uop):
    assert output(load(X, node("y", uop, "x", "x"))) == "bool [4, 6]"


def test_where_takes_condition_true_false():
    module = load(X, node("c", "CMP_LT", "x", 0), node("y", "WHERE", "c", "x", 0.0))
    assert steps(module) == [("c.const", "const"), ("c", "cmp_lt"), ("y.const", "const"), ("y", "where")]


@pytest.mark.parametrize(
    ("lhs", "rhs"), [("fp32", "i32"), ("fp16", "bf16"), ("bool", "i32"), ("fp32", "fp64"), ("i32", "i64"), ("i8", "u8")]
)
def test_other_mixtures_are_refused_and_speak_of_cast(lhs, rhs):
    error = error_of(tensor("a", 2, dtype=lhs), tensor("b", 2, dtype=rhs), node("y", "MAX", "a", "b"))
    assert error.name == "DtypeMismatch"
    assert "cast" in error.message


def test_cast():
    assert output(load(X, node("y", "CAST", "x", to="u16"))) == "u16 [4, 6]"


# --- reduce -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["dtype", "acc_dtype"])
def test_reduce_reads_dtype_or_acc_dtype(key):
    module = load(tensor("x", 4, 6, dtype="fp16"), node("y", "REDUCE", "x", op="SUM", axes=[-1], **{key: "fp32"}))
    assert output(module) == "fp32 [4]"


def test_reduce_without_accumulation_type():
    assert error_of(X, node("y", "REDUCE", "x", op="SUM", axes=[0])).name == "AccDtypeMissing"


def test_reduce_refuses_two_types_that_differ():
    reduce = node("y", "REDUCE", "x", op="SUM", axes=[0], dtype="fp32", acc_dtype="fp64")
    assert error_of(X, reduce).name == "InvalidAttribute"


def test_an_axis_may_be_named_by_its_symbol_even_when_bound():
    nodes = [tensor("x", "M", "N"), node("y", "REDUCE", "x", op="MAX", axes=["N"], dtype="fp32")]
    module = load(*nodes, bind={"M": 4, "N": 4})
    assert values(module, "y")["axes"] == (1,)


@pytest.mark.parametrize(("shape", "axis"), [(["M", "M"], "M"), (["M", "N"], "K"), ([4, 6], "4"), (["2*M", 1], "M")])
def test_a_name_must_be_that_of_exactly_one_axis(shape, axis):
    reduce = node("y", "REDUCE", "x", op="MAX", axes=[axis], dtype="fp32")
    assert error_of(tensor("x", *shape), reduce).name == "InvalidAxis"


@pytest.mark.parametrize("axes", [[2], [-3], [0, 0], [0, -2]])
def test_reduce_axes_are_distinct_and_in_range(axes):
    assert error_of(X, node("y", "REDUCE", "x", op="SUM", axes=axes, dtype="fp32")).name == "InvalidAxis"


@pytest.mark.parametrize(("op", "combine"), [("SUM", "add"), ("MAX", "max"), ("MIN", "min"), ("PROD", "mul")])
def test_init_is_one_more_term(op, combine):
    module = load(X, node("y", "REDUCE", "x", op=op, axes=[0], dtype="fp32", init=2.5))
    assert steps(module) == [("y.reduce", "reduce"), ("y.const", "const"), ("y", combine)]


@pytest.mark.parametrize(("op", "result"), [("SUM", "fp32"), ("MAX", "fp32"), ("MIN", "fp32")])
def test_a_reduction_over_an_empty_axis_is_a_program(op, result):
    assert output(load(tensor("x", 3, 0), node("y", "REDUCE", "x", op=op, axes=[1], dtype="fp32"))) == f"{result} [3]"


# --- data-dependent uops ----------------------------------------------------------------------------------------------


def test_gather_puts_the_axes_of_the_index_in_place():
    module = load(X, tensor("i", 2, 3, dtype="i32"), node("y", "GATHER", "x", "i", axis=-1))
    assert output(module) == "fp32 [4, 2, 3]"


@pytest.mark.parametrize("op", ["SET", "ADD"])
def test_scatter(op):
    nodes = [X, tensor("i", 2, dtype="i64"), tensor("u", 2, 6), node("y", "SCATTER", "x", "i", "u", axis=0, op=op)]
    assert values(load(*nodes), "y") == {"axis": 0, "op": op.lower()}


def test_topk_has_two_results():
    module = load(X, node("t", "TOPK", "x", k=2, axis=1))
    assert signature(module)[1] == {"t": "fp32 [4, 2]", "t#1": "i64 [4, 2]"}
    assert values(module, "t")["largest"] is True


def test_the_second_result_of_topk_can_be_read():
    module = load(X, node("t", "TOPK", "x", k=2, axis=1, largest=False), node("y", "CAST", "t#1", to="i32"))
    assert signature(module)[1] == {"y": "i32 [4, 2]"}


# --- args that are not what they should be ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("uop", "arg"),
    [
        ("PERMUTE", {"perm": 1}),
        ("PERMUTE", {"perm": ["0", "1"]}),
        ("PERMUTE", {"perm": [0.0, 1.0]}),
        ("FLIP", {"axes": [True]}),
        ("REDUCE", {"op": "sum", "axes": [0], "dtype": "fp32"}),
        ("REDUCE", {"op": "SUM", "axes": 0, "dtype": "fp32"}),
        ("REDUCE", {"op": "SUM", "axes": [0], "dtype": "f32"}),
        ("REDUCE", {"op": "SUM", "axes": [0], "dtype": "fp32", "init": "0"}),
        ("CAST", {"to": None}),
        ("TOPK", {"k": 2, "axis": 0, "largest": 1}),
        ("TOPK", {"k": 1.5, "axis": 0}),
        ("PAD", {"pad": [[0, 0], [0, 0]], "value": "0"}),
        ("PAD", {"pad": [[2**63, 0], [0, 0]]}),
        ("RESHAPE", {"result_shape": 24}),
        ("POOL", {"kernel": 3}),
    ],
)
def test_values_of_the_wrong_kind_name_their_key(uop, arg):
    error = error_of(X, node("y", uop, "x", **arg))
    assert error.name in ("InvalidAttribute", "InvalidExtent")
    assert error.where.node == "y"


@pytest.mark.parametrize("extent", [-1, 2**63, 1.0, float("nan"), None, True, [], "", "M/2", "-M", "9" * 30, "M//0"])
def test_extents_that_are_none(extent):
    assert error_of(tensor("x", extent), node("y", "RELU", "x")).name == "InvalidExtent"


@pytest.mark.parametrize(("written", "read"), [("1", "1"), (0, "0"), ("G*Cin", "G*Cin"), ("Cin*G", "G*Cin")])
def test_extents_that_are_read(written, read):
    module = load(tensor("x", written), tensor("g", "G"), tensor("c", "Cin"), node("y", "RELU", "x"))
    assert signature(module)[0]["x"] == f"fp32 [{read}]"


def test_tensors_that_no_index_reaches_are_refused():
    assert error_of(tensor("x", 2**40, 2**40), node("y", "RELU", "x")).name == "InvalidExtent"


def test_keys_for_people_may_stand_anywhere_and_hold_anything():
    free = {"tag": "debug", "storage": 3, "comment": [1], "doc": {}, "_cost": [1, {}]}
    relu = {**node("y", "RELU", "x", **free), **free}
    declared = {"y": {"dtype": "fp32", **free}}
    assert output(load(X, relu, values=declared, **free)) == "fp32 [4, 6]"
