"""Movements: slices, pads, concatenations, triangles, at odd sizes and of several element types."""

import ml_dtypes
import numpy as np
import pytest

import tinyc
from formulas.agreement import assert_op_agrees, results_of
from frontend_modules import module_of
from tinyc import TinycError
from tinyc.executors import reference
from tinyc.executors.elements import element_of
from tinyc.expr.extents import symbol
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType

M, N = symbol("M"), symbol("N")
DTYPES = [np.float32, np.float16, ml_dtypes.bfloat16, np.float64, np.int8, np.int64, np.uint8, np.uint64, np.bool_]


def distinct(*shape, dtype=np.float32):
    """Elements that differ from their neighbours."""
    return (np.arange(np.prod(shape)) % 97).reshape(shape).astype(dtype)


def run_at(op, operands, arrays, **attributes):
    """The results of an op that is compiled once, with symbolic extents, for each set of arrays."""
    model = tinyc.compile(module_of(op, operands, **attributes), "cpu")
    return [list(model.run_named(each).values()) for each in arrays]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axis", [0, -1])
def test_concat_is_that_of_numpy(dtype, axis):
    x = distinct(3, 5, 3, dtype=dtype)
    y = distinct(3, 5, 3, dtype=dtype)[(slice(None),) * (axis % 3) + (slice(1, None),)]
    assert_op_agrees("concat", {"x": x, "y": y}, np.concatenate([x, y], axis), axis=axis)


def test_concat_keeps_what_is_not_finite_and_the_sign_of_zero():
    x, y = np.array([np.nan, -0.0, np.inf], np.float32), np.array([-np.inf, -0.0], np.float32)
    (found,) = results_of("concat", {"x": x, "y": y}, axis=0)
    assert found.tobytes() == np.concatenate([x, y]).tobytes()


@pytest.mark.parametrize(("rows", "columns"), [(M, N), (M, 1), (2, N)])
def test_concat_of_symbolic_extents(rows, columns):
    types = {"x": TensorType(ElementType.F32, (rows, 3)), "y": TensorType(ElementType.F32, (columns, 3))}
    sizes = [
        (m if rows is M else rows, n if columns is N else columns) for m, n in ((4, 5), (7, 1), (1, 2), (0, 3), (6, 0))
    ]
    arrays = [{"x": distinct(m, 3), "y": -distinct(n, 3)} for m, n in sizes]
    for each, (found,) in zip(arrays, run_at("concat", types, arrays, axis=0), strict=True):
        np.testing.assert_array_equal(found, np.concatenate([each["x"], each["y"]]))


def test_a_symbolic_concat_is_one_kernel_whose_loops_are_copies():
    types = {"x": TensorType(ElementType.F32, (3, M)), "y": TensorType(ElementType.F32, (3, N))}
    model = tinyc.compile(module_of("concat", types, axis=1), "cpu")
    assert str(model.lowering.module("region")).count('"region.kernel"') == 1
    loops = str(model.lowering.module("loops"))
    assert "scf.if" not in loops
    assert "arith.select" not in loops


@pytest.mark.parametrize("layer", ["tiny", "region"])
def test_the_reference_forms_what_is_cut_of_a_pad(layer):
    types = {"x": TensorType(ElementType.F32, (2, M)), "y": TensorType(ElementType.F32, (2, N))}
    module = tinyc.compile(module_of("concat", types, axis=1), "cpu").lowering.module(layer)
    for m, n in ((3, 4), (0, 2), (5, 0)):
        arrays = {"x": distinct(2, m), "y": -distinct(2, n)}
        (found,) = reference.evaluate_module(module, arrays).values()
        np.testing.assert_array_equal(found, np.concatenate(list(arrays.values()), 1))


def test_concat_of_ranks_that_differ_is_an_error():
    with pytest.raises(TinycError, match="have no common rank"):
        results_of("concat", {"x": distinct(2, 3), "y": distinct(3)}, axis=0)


def test_slices_run_forwards_and_backwards():
    x = distinct(7, 9, 4)
    places = {"lo": (1, 0, 0), "hi": (6, 9, 4), "step": (2, -3, -1)}
    assert_op_agrees("movement slice", {"x": x}, x[1:6:2, ::-3, ::-1], **places)


def test_slices_end_at_symbolic_extents():
    x = TensorType(ElementType.I32, (M, 8))
    arrays = [{"x": distinct(m, 8, dtype=np.int32)} for m in (3, 6)]
    places = {"lo": (1, 0), "hi": (M, M), "step": (1, -2)}
    for each, (found,) in zip(arrays, run_at("movement slice", {"x": x}, arrays, **places), strict=True):
        m = each["x"].shape[0]
        np.testing.assert_array_equal(found, each["x"][1:, :m][:, ::-2])


def test_a_step_of_0_is_an_error():
    with pytest.raises(TinycError, match="the step of axis 0 is 0"):
        results_of("movement slice", {"x": distinct(3)}, lo=(0,), hi=(3,), step=(0,))


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16, np.int64, np.bool_])
def test_pads_are_those_of_numpy(mode, dtype):
    x = distinct(4, 3, dtype=dtype)
    expected = np.pad(x, [(2, 1), (0, 2)], mode=mode)
    assert_op_agrees("movement pad", {"x": x}, expected, before=(2, 0), after=(1, 2), mode=mode)


@pytest.mark.parametrize("mode", ["reflect", "wrap"])
def test_pads_run_around_more_than_once(mode):
    x = distinct(3)
    assert_op_agrees("movement pad", {"x": x}, np.pad(x, (8, 11), mode=mode), before=(8,), after=(11,), mode=mode)


def test_a_pad_of_a_value_that_is_computed():
    x, value = distinct(2, 3, dtype=np.int64), np.array(2**62 + 1)
    expected = np.pad(x, [(1, 0), (0, 2)], constant_values=value)
    assert_op_agrees("movement pad", {"x": x, "value": value}, expected, before=(1, 0), after=(0, 2))


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_pads_by_symbolic_amounts(mode):
    x = TensorType(ElementType.F32, (M, 3))
    arrays = [{"x": distinct(m, 3)} for m in (4, 6)]
    places = {"before": (M - 1, 0), "after": (2, 0), "mode": mode}
    for each, (found,) in zip(arrays, run_at("movement pad", {"x": x}, arrays, **places), strict=True):
        m = len(each["x"])
        np.testing.assert_array_equal(found, np.pad(each["x"], [(m - 1, 2), (0, 0)], mode=mode))


def test_an_unknown_mode_is_an_error():
    with pytest.raises(TinycError, match="mode is 'mirror'; it is 'constant', 'edge', 'reflect' or 'wrap'"):
        results_of("movement pad", {"x": distinct(3)}, before=(1,), after=(0,), mode="mirror")


def test_roll_is_that_of_numpy():
    x = distinct(3, 5)
    assert_op_agrees("movement roll", {"x": x}, np.roll(x, (4, -2), (0, 1)), shifts=(4, -2), axes=(0, 1))


def test_tile_and_flip_are_those_of_numpy():
    x = distinct(3, 1, 5)
    assert_op_agrees("movement tile", {"x": x}, np.tile(x, (2, 3, 1)), repeats=(2, 3, 1))
    assert_op_agrees("movement flip", {"x": x}, x[::-1, :, ::-1], axes=(0, 2))


def test_tiles_of_symbolic_extents():
    x = TensorType(ElementType.F32, (M, 3))
    arrays = [{"x": distinct(m, 3)} for m in (2, 5)]
    for each, (found,) in zip(arrays, run_at("movement tile", {"x": x}, arrays, repeats=(2, M)), strict=True):
        np.testing.assert_array_equal(found, np.tile(each["x"], (2, len(each["x"]))))


@pytest.mark.parametrize("k", [-2, 0, 3])
@pytest.mark.parametrize("upper", [False, True])
def test_triangles_are_those_of_numpy(k, upper):
    x = distinct(2, 4, 6) + 1
    expected = np.triu(x, k) if upper else np.tril(x, k)
    assert_op_agrees("trilu", {"x": x, "k": np.array(k)}, expected, upper=upper)


def test_a_triangle_of_a_vector_is_an_error():
    with pytest.raises(TinycError, match="triangles are of matrices"):
        results_of("trilu", {"x": distinct(3)})


def test_ranges_of_floats_and_integers():
    start, step = np.array(1.5, np.float32), np.array(-0.25, np.float32)
    assert_op_agrees(
        "arange", {"start": start, "step": step}, start + np.arange(7, dtype=np.float32) * step, shape=(7,)
    )
    start, step = np.array(10), np.array(-3)
    assert_op_agrees("arange", {"start": start, "step": step}, np.arange(10, -4, -3), shape=(5,))


def test_eye_is_that_of_numpy():
    model = tinyc.compile(module_of("eye", {}, shape=(3, 5), element=ElementType.I32, k=1), "cpu")
    (found,) = model.run_named({}).values()
    np.testing.assert_array_equal(found, np.eye(3, 5, k=1, dtype=np.int32))
    assert element_of(found.dtype) is ElementType.I32
