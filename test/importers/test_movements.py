"""The movements of the 001 spelling: what their args say, their defaults, and what they refuse."""

import pytest

from importers.documents import error_of, load, node, output, steps, tensor, values

X = tensor("x", 4, 6)


def values_of(uop, *, shape=(4, 6), **arg):
    return values(load(tensor("x", *shape), node("y", uop, "x", **arg)), "y")


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
