"""Reductions, and what is made of them along an axis."""

import numpy as np
import pytest
from ml_dtypes import bfloat16

import tinyc
from formulas.agreement import assert_op_agrees, results_of
from frontend_modules import module_of
from parameters import pairwise
from tinyc.expr.extents import symbol
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType

RNG = np.random.default_rng(0)
REDUCTIONS = {
    "sum": lambda x, axes: x.sum(axes),
    "max": lambda x, axes: x.max(axes),
    "min": lambda x, axes: x.min(axes),
    "prod": lambda x, axes: x.prod(axes),
    "mean": lambda x, axes: x.mean(axes),
    "l1": lambda x, axes: np.abs(x).sum(axes),
    "l2": lambda x, axes: np.sqrt((x * x).sum(axes)),
    "sum_square": lambda x, axes: (x * x).sum(axes),
    "log_sum_exp": lambda x, axes: np.log(np.exp(x).sum(axes)),
}
TOLERANCES = {np.float16: 2e-3, bfloat16: 1.6e-2, np.float32: 1e-5, np.float64: 1e-12}


@pytest.mark.parametrize("axes", [(0,), (1, -1), (0, 1, 2), ()])
@pytest.mark.parametrize("fn", REDUCTIONS)
def test_reductions_of_floats(fn, axes):
    x = RNG.uniform(-1.5, 1.5, (3, 7, 5)).astype(np.float32)
    expected = np.asarray(REDUCTIONS[fn](x.astype(np.float64), axes), np.float32)
    assert_op_agrees(f"reduce {fn}", {"x": x}, expected, rtol=1e-4, atol=1e-5, axes=axes)


@pytest.mark.parametrize("dtype", [np.float16, bfloat16, np.float64])
@pytest.mark.parametrize("fn", ["mean", "l2", "log_sum_exp"])
def test_sixteen_bits_are_rounded_once(fn, dtype):
    x = RNG.uniform(0, 2, (5, 300)).astype(dtype)
    expected = REDUCTIONS[fn](x.astype(np.float64), 1).astype(dtype)
    assert_op_agrees(f"reduce {fn}", {"x": x}, expected, rtol=TOLERANCES[dtype], axes=(1,))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8, np.uint32, np.uint64])
@pytest.mark.parametrize("fn", ["sum", "max", "min", "l1", "sum_square", "mean"])
def test_reductions_of_integers_stay_integers(fn, dtype):
    x = RNG.integers(0 if np.dtype(dtype).kind == "u" else -4, 4, (3, 5)).astype(dtype)
    wide = REDUCTIONS[fn](x.astype(np.int64), (1,))
    assert_op_agrees(f"reduce {fn}", {"x": x}, np.trunc(wide).astype(dtype), axes=(1,))


def test_the_norm_of_integers_is_truncated():
    assert_op_agrees("reduce l2", {"x": np.array([[3, 4], [1, 1]], np.int32)}, np.array([5, 1], np.int32), axes=(1,))


def test_reductions_over_nothing_give_the_neutral_element():
    x = np.zeros((2, 0), np.float32)
    for fn, neutral in {"sum": 0, "prod": 1, "max": -np.inf, "min": np.inf, "l2": 0, "log_sum": -np.inf}.items():
        assert_op_agrees(f"reduce {fn}", {"x": x}, np.full(2, neutral, np.float32), axes=(1,))
    assert_op_agrees("reduce log_sum_exp", {"x": x}, np.full(2, -np.inf, np.float32), axes=(1,))
    assert_op_agrees("reduce max", {"x": x.astype(np.int8)}, np.full(2, -128, np.int8), axes=(1,))
    assert_op_agrees("reduce min", {"x": x.astype(np.uint16)}, np.full(2, 65535, np.uint16), axes=(1,))


def test_max_and_min_of_bools_are_any_and_all():
    x = np.array([[True, False], [False, False], [True, True]])
    assert_op_agrees("reduce max", {"x": x}, x.any(1), axes=(1,))
    assert_op_agrees("reduce min", {"x": x}, x.all(1), axes=(1,))


def test_log_sum_exp_does_not_overflow():
    x = np.array([[1000, 999], [-1000, -1001], [-np.inf, -np.inf], [np.inf, 0]], np.float32)
    expected = np.array([1000.3133, -999.68677, -np.inf, np.inf], np.float32)
    assert_op_agrees("reduce log_sum_exp", {"x": x}, expected, axes=(1,))


def test_a_norm_with_any_exponent():
    x = RNG.standard_normal((3, 11)).astype(np.float32)
    for p in (1, 2, 3):
        expected = np.linalg.norm(x.astype(np.float64), p, 1, keepdims=True).astype(np.float32)
        assert_op_agrees("reduce lp", {"x": x}, expected, rtol=1e-4, p=p, axes=(1,), keepdims=True)


def test_a_mean_over_extents_that_are_known_when_it_runs():
    model = tinyc.compile(
        module_of("reduce mean", {"x": TensorType(ElementType.F32, (symbol("M"), symbol("N")))}, axes=(0,)), "cpu"
    )
    for shape in ((3, 5), (150, 7)):
        x = RNG.standard_normal(shape).astype(np.float32)
        (found,) = model.run_named({"x": x}).values()
        np.testing.assert_allclose(found, x.mean(0), rtol=1e-4, atol=1e-6)


# --- along an axis ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_softmax_and_its_logarithm_are_those_of_numpy(axis, dtype):
    x = (np.random.default_rng(0).standard_normal((3, 7, 5)) * 30).astype(dtype)
    wide = x.astype(np.float64)
    terms = np.exp(wide - wide.max(axis, keepdims=True))
    expected = terms / terms.sum(axis, keepdims=True)
    rtol = 2e-3 if dtype == np.float16 else 1e-5
    assert_op_agrees("softmax", {"x": x}, expected.astype(dtype), rtol=rtol, axis=axis)
    centred = wide - wide.max(axis, keepdims=True)
    logarithm = centred - np.log(terms.sum(axis, keepdims=True))
    assert_op_agrees("log_softmax", {"x": x}, logarithm.astype(dtype), rtol=rtol, atol=1e-4, axis=axis)


def test_hardmax_takes_the_first_of_equals():
    x = np.array([[1, 3, 3], [2, 2, 1]], np.float32)
    assert_op_agrees("hardmax", {"x": x}, np.array([[0, 1, 0], [1, 0, 0]], np.float32), axis=1)
    assert_op_agrees("hardmax", {"x": x}, np.array([[0, 1, 1], [1, 0, 0]], np.float32), axis=0)


@pairwise(fn=["sum", "prod"], exclusive=[False, True], reverse=[False, True])
def test_partial_results(fn, exclusive, reverse):
    x = RNG.uniform(0.5, 1.5, (3, 7)).astype(np.float32)
    function, neutral = (np.cumsum, 0) if fn == "sum" else (np.cumprod, 1)
    line = x[:, ::-1] if reverse else x
    expected = function(line.astype(np.float64), 1)
    if exclusive:
        expected = np.concatenate([np.full((3, 1), neutral), expected[:, :-1]], axis=1)
    expected = (expected[:, ::-1] if reverse else expected).astype(np.float32)
    assert_op_agrees(f"cumulative {fn}", {"x": x}, expected, axis=1, exclusive=exclusive, reverse=reverse)
    turned = np.ascontiguousarray(x.T)
    assert_op_agrees(f"cumulative {fn}", {"x": turned}, expected.T, axis=0, exclusive=exclusive, reverse=reverse)


@pytest.mark.parametrize("extent", [0, 1, 2])
def test_partial_sums_of_few(extent):
    x = np.arange(1, extent + 1, dtype=np.int64)
    assert_op_agrees("cumulative sum", {"x": x}, np.cumsum(x), axis=0)
    assert_op_agrees("cumulative sum", {"x": x}, np.cumsum(x) - x, axis=0, exclusive=True)


@pairwise(kind=[("sum", np.int64), ("prod", np.float32)], exclusive=[False, True], reverse=[False, True])
def test_partial_results_along_a_dynamic_axis(kind, exclusive, reverse):
    fn, dtype = kind
    function, neutral = (np.cumsum, 0) if fn == "sum" else (np.cumprod, 1)
    tensor = TensorType(ElementType.I64 if fn == "sum" else ElementType.F32, (symbol("M"), symbol("N")))
    model = tinyc.compile(
        module_of(f"cumulative {fn}", {"x": tensor}, axis=1, exclusive=exclusive, reverse=reverse), "cpu"
    )
    for shape in ((0, 3), (3, 0), (1, 1), (3, 17), (2, 128), (2, 129), (3, 1000)):
        x = RNG.uniform(-9, 9, shape).astype(dtype) if fn == "sum" else RNG.uniform(0.99, 1.01, shape).astype(dtype)
        line = x[:, ::-1] if reverse else x
        expected = function(line, 1, dtype=np.float64 if fn == "prod" else None)
        if exclusive:
            expected = np.concatenate([np.full((shape[0], 1), neutral), expected], axis=1)[:, : shape[1]]
        (found,) = model.run_named({"x": x}).values()
        np.testing.assert_allclose(found, expected[:, ::-1] if reverse else expected, rtol=1e-4)


# --- losses -----------------------------------------------------------------------------------------------------------


@pairwise(reduction=["none", "sum", "mean"], ignore_index=[None, 2, -1], has_weight=[False, True])
def test_losses_of_classes(reduction, ignore_index, has_weight):
    scores = RNG.standard_normal((3, 5, 4)).astype(np.float32)
    target = RNG.integers(0, 5, (3, 4))
    if ignore_index == -1:
        target[0, 0] = -1
    weight = RNG.uniform(0.5, 2, 5).astype(np.float32)
    weights = np.where(target == ignore_index, 0, weight[target] if has_weight else 1)
    losses = -np.take_along_axis(scores, np.maximum(target, 0)[:, None], 1)[:, 0] * weights
    expected = losses if reduction == "none" else losses.sum()
    expected = expected / weights.sum() if reduction == "mean" else expected
    operands = {"scores": scores, "target": target, **({"weight": weight} if has_weight else {})}
    attributes = {"reduction": reduction} | ({} if ignore_index is None else {"ignore_index": ignore_index})
    assert_op_agrees("nll_loss", operands, np.asarray(expected, np.float32), **attributes)
    assert_op_agrees("cross_entropy_loss", operands, **attributes)


def test_a_reduction_names_no_axis_twice():
    with pytest.raises(tinyc.TinycError, match="name an axis twice"):
        results_of("reduce sum", {"x": np.zeros((2, 3), np.float32)}, axes=(1, -1))
