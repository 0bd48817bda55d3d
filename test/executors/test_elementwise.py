"""Element-wise ops of the reference: special values, integers, rounding of 16-bit floats, broadcasts."""

import numpy as np
import pytest

from tinyc.executors.elements import REFERENCE
from tinyc.executors.elementwise import apply_elementwise
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.elementwise import ROWS


def i32(*numbers):
    return "i32", np.array(numbers, np.int32)


def f32(*numbers):
    return "fp32", np.array(numbers, np.float32)


LEAST = -(2**31)


def test_idiv_truncates_and_does_not_trap(apply):
    result = apply("IDIV", {}, i32(7, -7, 7, -7, 5, LEAST, 0), i32(2, 2, -2, -2, 0, -1, 0))
    assert result.tolist() == [3, -3, -3, 3, 0, LEAST, 0]


def test_mod_has_the_sign_of_the_dividend(apply):
    result = apply("MOD", {}, i32(7, -7, 7, -7, 5, LEAST), i32(3, 3, -3, -3, 0, -1))
    assert result.tolist() == [1, -1, 1, -1, 5, 0]


@pytest.mark.parametrize("uop", ["MAX", "MIN"])
def test_max_and_min_propagate_nan(apply, uop):
    assert np.isnan(apply(uop, {}, f32(np.nan, 1), f32(1, np.nan))).all()


def test_relu_keeps_nan(apply):
    np.testing.assert_array_equal(apply("RELU", {}, f32(-1, 2, np.nan)), np.array([0, 2, np.nan], np.float32))


def test_comparisons_with_nan_are_false(apply):
    assert not apply("CMP_LT", {}, f32(np.nan, 1), f32(1, np.nan)).any()
    assert not apply("CMP_EQ", {}, f32(np.nan), f32(np.nan)).any()


def test_where_ignores_the_untaken_branch(apply):
    condition = ("bool", np.array([True, False]))
    assert apply("WHERE", {}, condition, f32(1, np.nan), f32(np.inf, 2)).tolist() == [1, 2]


def test_neg_of_the_least_integer_wraps(apply):
    assert apply("NEG", {}, i32(LEAST)).tolist() == [LEAST]


def test_not_of_bool_is_negation(apply):
    assert apply("NOT", {}, ("bool", np.array([True, False]))).tolist() == [False, True]


def test_erf(apply):
    expected = [0.0, 0.8427007929497149, -0.5204998778130465, 1.0]
    np.testing.assert_allclose(apply("ERF", {}, f32(0, 1, -0.5, np.inf)), expected, rtol=1e-7)


def test_a_16_bit_op_rounds_to_its_type(apply):
    # 2048 + 1 is not an fp16: to even it is 2048, for the oracle too, whose output is an fp16.
    half = lambda number: ("fp16", np.array([number], np.float16))  # noqa: E731
    assert apply("ADD", {}, half(2048), half(1)).tolist() == [2048]
    assert apply("ADD", {}, half(2048), half(1), oracle=True).dtype == np.float16


def test_the_oracle_keeps_what_16_bits_would_lose(program):
    from tinyc.executors import reference

    module = program({"x": ("fp16", [1])}, ("a", "ADD", ["x", 1]), ("y", "SUB", ["a", 2048]))
    inputs = {"x": np.array([2048], np.float16)}
    assert reference.evaluate_module(module, inputs)["y"].tolist() == [0]
    assert reference.evaluate_module(module, inputs, oracle=True)["y"].tolist() == [1]


def test_a_broadcast_costs_no_memory():
    column = np.broadcast_to(np.arange(4, dtype=np.float32)[:, None], (4, 10**9))
    result = apply_elementwise(ROWS["neg"], [column], ElementType.F32, REFERENCE)
    assert result.shape == (4, 10**9)
    assert result[:, 5].tolist() == [0, -1, -2, -3]
