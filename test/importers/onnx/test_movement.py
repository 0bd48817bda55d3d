"""Movements of ONNX: what its own tests do not show. Shape subgraphs, symbolic extents, opsets, errors by name."""

import numpy as np
import onnx
import pytest

import tinyc
from tinyc import TinycError


def model_of(body: str, opset: int = 21) -> onnx.ModelProto:
    """A model whose graph is a text: `(float[M,4] x) => (float[M,2] y) { y = … }`."""
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> g {body}')


def run(body: str, opset: int = 21, **inputs: np.ndarray) -> list[np.ndarray]:
    """The outputs of a graph."""
    return list(tinyc.compile(model_of(body, opset), "cpu").run_named(inputs).values())


def error_of(body: str, opset: int = 21) -> str:
    """What is wrong with a graph."""
    with pytest.raises(TinycError) as caught:
        tinyc.compile(model_of(body, opset), "cpu")
    return str(caught.value)


def distinct(*shape: int) -> np.ndarray:
    """Elements that differ."""
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def test_a_slice_ends_at_a_symbolic_extent():
    body = """(float[M,8] x, float[N] z) => (float[M,N] y) {
        n = Shape (z)
        zero = Constant <value_ints: ints = [0]> ()
        one = Constant <value_ints: ints = [1]> ()
        y = Slice (x, zero, n, one)
    }"""
    model = tinyc.compile(model_of(body), "cpu")
    for m, n in ((2, 3), (4, 8)):
        x = distinct(m, 8)
        (found,) = model.run_named({"x": x, "z": distinct(n)}).values()
        np.testing.assert_array_equal(found, x[:, :n])
    with pytest.raises(TinycError, match="N <= 8"):
        model.run_named({"x": distinct(2, 8), "z": distinct(9)})


@pytest.mark.parametrize(
    ("start", "end", "step"),
    [(-2, 2**62, 1), (0, -1, 1), (-100, 100, 3), (5, 2, 1), (-1, -(2**62), -1), (100, 0, -2), (3, -1, -1), (-1, 2, -3)],
)
def test_slices_are_clamped(start, end, step):
    body = f"""(float[7] x) => (float[n] y) {{
        s = Constant <value_ints: ints = [{start}]> ()
        e = Constant <value_ints: ints = [{end}]> ()
        a = Constant <value_ints: ints = [0]> ()
        t = Constant <value_ints: ints = [{step}]> ()
        y = Slice (x, s, e, a, t)
    }}"""
    x = distinct(7)
    np.testing.assert_array_equal(run(body, x=x)[0], x[start:end:step])


def test_a_symbolic_axis_is_sliced_from_the_end():
    body = """(float[M] x) => (float[2] y, float[K] z) {
        s = Constant <value_ints: ints = [-2]> ()
        e = Constant <value_ints: ints = [9223372036854775807]> ()
        y = Slice (x, s, e)
        zero = Constant <value_ints: ints = [0]> ()
        z = Slice (x, zero, s)
    }"""
    model = tinyc.compile(model_of(body), "cpu")
    for m in (2, 5):
        x = distinct(m)
        last, first = model.run_named({"x": x}).values()
        np.testing.assert_array_equal(last, x[-2:])
        np.testing.assert_array_equal(first, x[:-2])


def test_a_subgraph_of_shapes_is_computed_at_import():
    body = """(float[M,3,4] x) => (float[M,12] y) {
        s = Shape (x)
        zero = Constant <value_ints: ints = [0]> ()
        one = Constant <value_ints: ints = [1]> ()
        m = Slice (s, zero, one)
        m0 = Squeeze (m, zero)
        m1 = Unsqueeze (m0, zero)
        rest = ConstantOfShape <value: tensor = int64[1] {-1}> (one)
        wanted = Concat <axis = 0> (m1, rest)
        y = Reshape (x, wanted)
    }"""
    x = distinct(2, 3, 4)
    np.testing.assert_array_equal(run(body, x=x)[0], x.reshape(2, 12))
    module = tinyc.compile(model_of(body), "cpu")
    assert [each.tolist() for each in module.run_named({"x": distinct(1, 3, 4)}).values()] == [[list(range(12))]]


def test_positions_of_a_symbolic_length():
    body = """(float[B,S] x) => (int64[S] y) {
        zero = Constant <value_int: int = 0> ()
        one = Constant <value_int: int = 1> ()
        s = Shape <start = 1> (x)
        n = Squeeze (s)
        y = Range (zero, n, one)
    }"""
    model = tinyc.compile(model_of(body), "cpu")
    for s in (1, 6):
        assert next(iter(model.run_named({"x": distinct(2, s)}).values())).tolist() == list(range(s))


def test_a_cache_grows_along_a_symbolic_axis():
    body = """(float[B,P,4] past, float[B,S,4] new) => (float[B,T,4] y) { y = Concat <axis = 1> (past, new) }"""
    model = tinyc.compile(model_of(body), "cpu")
    for past, new in ((0, 3), (5, 1), (2, 2)):
        arrays = {"past": distinct(2, past, 4), "new": -distinct(2, new, 4)}
        (found,) = model.run_named(arrays).values()
        np.testing.assert_array_equal(found, np.concatenate(list(arrays.values()), 1))


def test_split_leaves_a_smaller_part_from_opset_18_on():
    body = "(float[7] x) => (float[3] a, float[3] b, float[1] c) { a, b, c = Split <num_outputs = 3> (x) }"
    assert [each.tolist() for each in run(body, 18, x=distinct(7))] == [[0, 1, 2], [3, 4, 5], [6]]


def test_equal_parts_have_to_divide_in_opset_13():
    body = "(float[7] x) => (float[3] a, float[4] b) { a, b = Split (x) }"
    assert "2 equal parts do not divide the extent 7" in error_of(body, 13)


def test_parts_have_to_add_up():
    body = """(float[7] x) => (float[3] a, float[3] b) {
        s = Constant <value_ints: ints = [3, 3]> ()
        a, b = Split (x, s)
    }"""
    assert "the parts [3, 3] do not add up to the extent 7" in error_of(body)


def test_negative_pads_cut_and_positive_ones_add():
    body = """(float[3,4] x) => (float[4,2] y) {
        p = Constant <value_ints: ints = [1, -1, 0, -1]> ()
        v = Constant <value_float: float = 2.5> ()
        y = Pad (x, p, v)
    }"""
    x = distinct(3, 4)
    np.testing.assert_array_equal(run(body, x=x)[0], np.pad(x[:, 1:3], [(1, 0), (0, 0)], constant_values=2.5))


def test_a_gather_of_evenly_spaced_indices_is_a_slice():
    body = """(float[6,4] x) => (float[3,4] y, float[6] z) {
        i = Constant <value_ints: ints = [-1, 3, 1]> ()
        j = Constant <value_int: int = -2> ()
        y = Gather (x, i)
        z = Gather <axis = 1> (x, j)
    }"""
    x = distinct(6, 4)
    rows, column = run(body, x=x)
    np.testing.assert_array_equal(rows, x[[-1, 3, 1]])
    np.testing.assert_array_equal(column, x[:, -2])


def test_a_crop_of_a_symbolic_axis_is_refused_by_name():
    body = """(float[M] x) => (float[4] y) {
        s = Constant <value_ints: ints = [4]> ()
        y = CenterCropPad (x, s)
    }"""
    assert "CenterCropPad: its axis 0 of extent M is to have 4; bind the symbols" in error_of(body)


def test_a_step_of_0_is_refused():
    constants = "z = Constant <value_ints: ints = [0]> () o = Constant <value_ints: ints = [1]> ()"
    body = f"(float[3] x) => (float[3] y) {{ {constants} y = Slice (x, z, o, z, z) }}"
    assert "the step of axis 0 is 0" in error_of(body)
    scalars = "z = Constant <value_int: int = 0> ()"
    assert "the step is 0" in error_of(f"(float[3] x) => (int64[3] y) {{ {scalars} y = Range (z, z, z) }}")


def test_blocks_have_to_divide_the_channels():
    body = "(float[1,6,2,2] x) => (float[1,1,4,4] y) { y = DepthToSpace <blocksize = 2> (x) }"
    assert "2*2 does not divide 6 channels" in error_of(body)


def test_what_is_joined_along_an_axis_may_be_empty():
    body = "(float[0,3] x, float[2,3] y) => (float[0,6] a, float[2,3] b) { a = Concat<axis = 1>(x, x) %s }"
    a, b = run(body % "b = Concat<axis = 0>(x, y, x)", x=distinct(0, 3), y=distinct(2, 3))
    assert a.shape == (0, 6)
    np.testing.assert_array_equal(b, distinct(2, 3))


def test_what_is_joined_agrees_beside_the_axis_even_where_it_is_empty():
    body = "(float[0,5] x, float[2,3] y) => (float[2,3] z) { z = Concat<axis = 0>(x, y) }"
    assert "the extents 5 and 3 must be equal" in error_of(body)
