"""Random numbers: those of Philox that the reference draws, with the moments that they should have."""

import numpy as np
import pytest

import tinyc
from formulas.agreement import assert_op_agrees, results_of
from frontend_modules import module_of
from tinyc.diagnostics import TinycError
from tinyc.executors import philox
from tinyc.expr.extents import symbol
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType

FLOATS = [ElementType.F16, ElementType.BF16, ElementType.F32, ElementType.F64]
COUNT = 101 * 97


@pytest.mark.parametrize("element", FLOATS)
def test_uniform_numbers_are_those_of_philox(element):
    expected = (philox.uniform(15, 5, 2).astype(np.float64) * 3 - 1).reshape(3, 5).astype(element.dtype)
    facts = {"shape": (3, 5), "element": element, "low": -1.0, "high": 2.0, "seed": 5, "stream": 2}
    assert_op_agrees("random uniform", {}, expected, rtol=2.0**-7 if element.bits == 16 else 1e-6, **facts)


@pytest.mark.parametrize("element", FLOATS)
def test_normal_numbers_are_those_of_philox(element):
    expected = (philox.normal(15, 5, 2) * 3 - 1).reshape(3, 5).astype(element.dtype)
    facts = {"shape": (3, 5), "element": element, "mean": -1.0, "scale": 3.0, "seed": 5, "stream": 2}
    assert_op_agrees("random normal", {}, expected, rtol=2.0**-7 if element.bits == 16 else 1e-5, **facts)


def test_moments_are_those_of_the_distributions():
    facts = {"shape": (COUNT,), "element": ElementType.F32, "seed": 1}
    (uniform,) = results_of("random uniform", {}, low=2.0, high=4.0, **facts)
    (normal,) = results_of("random normal", {}, mean=2.0, scale=3.0, **facts)
    assert abs(uniform.mean() - 3) < 0.03
    assert abs(uniform.var() - 1 / 3) < 0.02
    assert abs(normal.mean() - 2) < 0.12
    assert abs(normal.std() - 3) < 0.1


def test_streams_differ_and_one_stream_repeats():
    facts = {"shape": (8,), "element": ElementType.F32}
    one, again, other = (results_of("random uniform", {}, stream=each, **facts)[0] for each in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert (one != other).all()


@pytest.mark.parametrize("element", [ElementType.BOOL, ElementType.I64, ElementType.F16])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_bernoulli_is_1_as_often_as_p_says(element, dtype):
    p = np.linspace(0, 1, COUNT).astype(dtype)
    assert_op_agrees("random bernoulli", {"p": p}, element=element, seed=4)
    (found,) = results_of("random bernoulli", {"p": p}, "frontend", element=element, seed=4)
    assert abs(found.astype(float).mean() - 0.5) < 0.02
    assert found[: COUNT // 10].astype(float).mean() < 0.1
    assert found[-1]


@pytest.mark.parametrize("element", [ElementType.I32, ElementType.I64])
def test_classes_are_drawn_as_often_as_their_scores_say(element):
    p = np.array([[0.1, 0.2, 0.7], [0.5, 0.5, 1e-9]])
    scores = np.log(p).astype(np.float32) + 3  # not normalised
    assert_op_agrees("multinomial", {"scores": scores}, samples=1001, element=element, seed=9)
    (found,) = results_of("multinomial", {"scores": scores}, samples=1001, element=element, seed=9)
    often = np.stack([np.bincount(row, minlength=3) for row in found]) / 1001
    np.testing.assert_allclose(often, p, atol=0.05)


@pytest.mark.parametrize("ratio", [0.0, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_dropout_drops_that_part_and_scales_the_rest(ratio, dtype):
    x = np.random.default_rng(0).standard_normal(4003).astype(dtype)
    held = {"x": x, "ratio": np.array(ratio, np.float32), "training": np.array(True)}
    assert_op_agrees("dropout", held, rtol=1e-3, seed=3)
    y, kept = results_of("dropout", held, seed=3)
    assert abs(1 - kept.mean() - ratio) < 0.03
    np.testing.assert_allclose(y[kept], x[kept].astype(np.float64) / (1 - ratio), rtol=np.finfo(dtype).eps)
    assert not y[~kept].any()


def test_dropout_outside_training_changes_nothing():
    x = np.arange(6, dtype=np.float32)
    everywhere = np.ones(6, np.bool_)
    assert_op_agrees("dropout", {"x": x}, [x, everywhere])
    held = {"x": x, "ratio": np.array(0.5, np.float32), "training": np.array(False)}
    assert_op_agrees("dropout", held, [x, everywhere])


def test_shapes_may_be_symbols():
    types = {"p": TensorType(ElementType.F32, (symbol("N"),))}
    model = tinyc.compile(module_of("random bernoulli", types, element=ElementType.BOOL), "cpu")
    for count in (1, 7):
        p = np.full(count, 0.5, np.float32)
        expected = results_of("random bernoulli", {"p": p}, "frontend", element=ElementType.BOOL)
        np.testing.assert_array_equal(*model.run_named({"p": p}).values(), *expected)


def test_random_integers_are_refused():
    with pytest.raises(TinycError, match="random numbers are floats, not i32; cast them"):
        module_of("random uniform", {}, shape=(3,), element=ElementType.I32)


def test_classes_want_a_matrix():
    types = {"scores": TensorType(ElementType.F32, (3,))}
    with pytest.raises(TinycError, match=r"scores are \[rows, classes\]"):
        module_of("multinomial", types, samples=1, element=ElementType.I32)
