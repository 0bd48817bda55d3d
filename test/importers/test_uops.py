"""Each uop of the 001 spelling: what its arg says, its defaults, and what it refuses."""

import pytest
from documents import error_of, load, node, output, signature, steps, tensor, values

from tinyc.importers.spellings import UNARY

X = tensor("x", 4, 6)


def values_of(uop, *, shape=(4, 6), **arg):
    return values(load(tensor("x", *shape), node("y", uop, "x", **arg)), "y")


# --- leaves -----------------------------------------------------------------------------------------------------------


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


def test_iota_counts_along_an_axis():
    module = load(node("y", "IOTA", shape=[2, "5"], axis=-1, dtype="i64"))
    assert output(module) == "i64 [2, 5]"
    assert values(module, "y")["axis"] == 1


def test_rand_has_stream_0_by_default():
    module = load(node("y", "RAND", shape=[2], dtype="fp32", distribution="normal", seed=-7))
    found = values(module, "y")
    assert (found["distribution"], found["seed"], found["stream"]) == ("normal", -7, 0)


# --- movements --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["perm", "dims"])
def test_permute_reads_perm_or_dims(key):
    assert values_of("PERMUTE", **{key: [1, 0]})["perm"] == (1, 0)


def test_permute_refuses_what_is_no_permutation():
    assert error_of(X, node("y", "PERMUTE", "x", perm=[0, 0])).name == "InvalidPermutation"


def test_reshape_keeps_the_number_of_elements():
    assert error_of(X, node("y", "RESHAPE", "x", result_shape=[5, 5])).name == "AxisSizeMismatch"


@pytest.mark.parametrize(
    ("operand", "arg", "axes"),
    [
        ([3], {"result_shape": [4, 3]}, (1,)),
        ([3], {"result_shape": [3, 4], "broadcast_dimensions": [0]}, (0,)),
        ([4, 3], {"result_shape": [3, 2, 4], "broadcast_dimensions": [2, 0]}, (2, 0)),
        ([1, 3], {"result_shape": [4, 3]}, (0, 1)),
        ([1, 3], {"result_shape": [4, 3], "broadcast_dimensions": [1]}, (0, 1)),
        ([], {"result_shape": [2, 2]}, ()),
    ],
)
def test_expand_knows_where_each_axis_goes(operand, arg, axes):
    assert values_of("EXPAND", shape=operand, **arg)["broadcast_dimensions"] == axes


@pytest.mark.parametrize(
    ("operand", "arg", "name"),
    [
        ([2, 3], {"result_shape": [4, 3]}, "BroadcastMismatch"),
        ([1, 3], {"result_shape": [4, 3], "broadcast_dimensions": [0]}, "BroadcastMismatch"),
        ([1, 3], {"result_shape": [4, 3], "broadcast_dimensions": [0, 1]}, "BroadcastMismatch"),
        ([1, 3], {"result_shape": [4, 3], "broadcast_dimensions": [1, 1]}, "InvalidAxis"),
        ([1, 3], {"result_shape": [4, 3], "broadcast_dimensions": [5]}, "InvalidAxis"),
        ([3], {"result_shape": [4, 3], "broadcast_dimensions": [2]}, "InvalidAxis"),
        ([2, 3], {"result_shape": [3]}, "BroadcastMismatch"),
    ],
)
def test_expand_refuses_what_does_not_broadcast(operand, arg, name):
    assert error_of(tensor("x", *operand), node("y", "EXPAND", "x", **arg)).name == name


def test_pad_has_value_0_by_default():
    found = values_of("PAD", pad=[[1, 2], [0, 3]])
    assert (found["lo"], found["hi"], found["value"]) == ((1, 0), (2, 3), 0)


@pytest.mark.parametrize("pad", [[[1, 2]], [[1, -2], [0, 0]], [[1, 2, 3], [0, 0]], [1, 2], "MN"])
def test_pad_wants_two_numbers_for_each_axis(pad):
    assert error_of(X, node("y", "PAD", "x", pad=pad)).name == "InvalidAttribute"


def test_shrink_has_step_1_by_default():
    found = values_of("SHRINK", lo=[0, 1], hi=[4, 5])
    assert (found["lo"], found["hi"], found["step"]) == ((0, 1), (4, 5), (1, 1))


@pytest.mark.parametrize(
    ("arg", "name"),
    [
        ({"lo": [0, 3], "hi": [4, 7]}, "IndexOutOfBounds"),
        ({"lo": [0, 3], "hi": [4, 2]}, "IndexOutOfBounds"),
        ({"lo": [0, -1], "hi": [4, 2]}, "InvalidExtent"),
        ({"lo": [0], "hi": [4]}, "InvalidAttribute"),
        ({"lo": [0, 0], "hi": [4, 6], "step": [1, 0]}, "InvalidAttribute"),
    ],
)
def test_shrink_stays_inside(arg, name):
    assert error_of(X, node("y", "SHRINK", "x", **arg)).name == name


def test_flip_counts_axes_from_either_end():
    assert values_of("FLIP", axes=[-1])["axes"] == (1,)


def test_view_reads_expressions_of_both_spellings():
    found = values_of("VIEW", result_shape=[2, 2, 3], index_map={"map": ["i0*2 + i1", "(i2 + 6) % 6 // 1"]})
    assert output_shape("VIEW", result_shape=[2, 2, 3], index_map={"map": ["i0*2 + i1", 0]}) == "fp32 [2, 2, 3]"
    assert len(found["map"]) == 2


def output_shape(uop, **arg):
    return output(load(X, node("y", uop, "x", **arg)))


def test_view_without_arg_is_the_identity():
    module = load(X, {"id": "y", "uop": "VIEW", "src": ["x"]})
    assert steps(module) == [("y", "view")]
    assert output(module) == "fp32 [4, 6]"


@pytest.mark.parametrize(
    ("arg", "name"),
    [
        ({"result_shape": [4, 6], "index_map": {"map": ["i0", "i1 + 1"]}}, "IndexOutOfBounds"),
        ({"result_shape": [4, 6], "index_map": {"map": ["3 - i0", "i1"]}}, "NegativeStride"),
        ({"result_shape": [4, 6], "index_map": {"map": ["i0"]}}, "InvalidAttribute"),
        ({"result_shape": [4, 6], "index_map": {"map": ["i0", "open('f')"]}}, "InvalidAttribute"),
        ({"result_shape": [4, 6], "index_map": {"map": ["i0", f"i1 * {2**63}"]}}, "InvalidAttribute"),
        ({"result_shape": [4, 6], "index_map": ["i0", "i1"]}, "InvalidAttribute"),
        ({"result_shape": [4, 6], "index_map": {"map": ["i0", "i0" + " % 5" * 9]}}, "ExcessivePiecewise"),
        ({"result_shape": [4, 6]}, "MissingArgument"),
        ({"index_map": {"map": ["i0", "i1"]}}, "MissingArgument"),
    ],
)
def test_view_refuses_maps_that_are_not_affine_and_inside(arg, name):
    assert error_of(X, node("y", "VIEW", "x", **arg)).name == name


def test_pool_slides_windows_over_the_last_axes():
    assert output_shape("POOL", kernel=[3]) == "fp32 [4, 4, 3]"
    assert output_shape("POOL", kernel=[2, 3], stride=[2, 1], dilation=[1, 2]) == "fp32 [2, 2, 2, 3]"


@pytest.mark.parametrize(
    ("arg", "name"),
    [
        ({"kernel": [7]}, "WindowTooLarge"),
        ({"kernel": [3], "dilation": [3]}, "WindowTooLarge"),
        ({"kernel": [0]}, "InvalidAttribute"),
        ({"kernel": [2], "stride": [1, 1]}, "InvalidAttribute"),
        ({"kernel": []}, "InvalidAttribute"),
        ({"stride": [1]}, "MissingArgument"),
    ],
)
def test_pool_refuses_windows_that_do_not_fit(arg, name):
    assert error_of(X, node("y", "POOL", "x", **arg)).name == name


# --- element-wise -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("uop", UNARY[:-1])
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
    assert "CAST" in error.message


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


def test_unknown_extra_keys_are_ignored():
    extra = {**node("y", "RELU", "x", hint=1), "tag": "debug", "cost": [1, {}]}
    assert output(load(X, extra, version=3)) == "fp32 [4, 6]"
