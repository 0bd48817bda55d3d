"""Axis expressions: simplification by ranges, and its proof against plain arithmetic."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tinyc.expr import axes, extents
from tinyc.expr.axes import Axis, AxisExpr, FloorDiv
from tinyc.expr.axes.evaluation import evaluate_at

M = extents.symbol("M")


def i(position, shape):
    return axes.axis(position, shape)


def test_an_axis_of_extent_one_is_zero():
    assert i(0, (1,)) == axes.constant(0)


def test_multiples_leave_a_division_where_the_rest_is_small():
    shape = (5, 12)
    assert axes.floordiv_within(i(0, shape) * 12 + i(1, shape), 12, shape) == i(0, shape)


def test_a_rest_that_may_be_as_large_as_the_divisor_stays():
    shape = (5, 13)
    assert str(axes.floordiv_within(i(0, shape) * 12 + i(1, shape), 12, shape)) == "i0 + i1 floordiv 12"


def test_a_symbolic_extent_has_no_upper_bound():
    shape = (5, M)
    assert str(axes.floordiv_within(i(1, shape), 12, shape)) == "i1 floordiv 12"


def test_a_symbolic_extent_may_be_the_coarse_axis():
    shape = (M, 4)
    assert str(axes.floordiv_within(i(0, shape) * 4 + i(1, shape), 12, shape)) == "i0 floordiv 3"


def test_nested_divisions_become_one():
    shape = (100,)
    once = axes.floordiv_within(i(0, shape), 4, shape)
    assert axes.floordiv_within(once, 3, shape) == axes.floordiv_within(i(0, shape), 12, shape)


def test_quotient_and_remainder_add_up():
    shape = (100,)
    quotient, remainder = axes.floordiv_within(i(0, shape), 7, shape), axes.mod(i(0, shape), 7, shape)
    assert quotient * 7 + remainder == i(0, shape)


def test_a_digit_is_known_to_be_smaller_than_its_base():
    shape = (60,)
    digit = axes.mod(axes.floordiv_within(i(0, shape), 3, shape), 4, shape)
    assert axes.bounds(digit, shape) == (0, 3)


def test_fine_terms_are_dropped_only_below_the_common_factor():
    # i1 reaches 4: floor((4*i0 + i1) / 8) is not floor(i0 / 2).
    shape = (6, 5)
    assert str(axes.floordiv_within(i(0, shape) * 4 + i(1, shape), 8, shape)) == "(4*i0 + i1) floordiv 8"


def test_symbolic_multiples_leave_a_division():
    shape = (100,)
    assert str(axes.floordiv_within(i(0, shape) * -1 + M * 4 - 1, 4, shape)) == "(-i0 + 3) floordiv 4 + M - 1"


def test_equal_expressions_are_one_object():
    shape = (7, 9)
    assert i(0, shape) + i(1, shape) is i(1, shape) + i(0, shape)


def test_the_structure_can_be_walked():
    shape = (9, 4)
    expression = axes.floordiv_within(i(0, shape), 2, shape) * 3 + i(1, shape) + 5
    assert expression == AxisExpr(5, ((Axis(1), 1), (FloorDiv(AxisExpr(0, ((Axis(0), 1),)), 2), 3)))


@pytest.mark.parametrize("extent", [0, 1, 5])
def test_bounds_of_an_axis(extent):
    assert axes.bounds(AxisExpr(0, ((Axis(0), 1),)), (extent,)) == (0, max(extent - 1, 0))


def random_pair(rng, shape, depth):
    """Return an expression built with simplification, and the same as a function of index arrays."""
    if depth == 0 or rng.random() < 0.2:
        if rng.random() < 0.2:
            number = rng.randint(-9, 9)
            return axes.constant(number), lambda index: number
        position = rng.randrange(len(shape))
        return axes.axis(position, shape), lambda index: index[position]
    left, left_value = random_pair(rng, shape, depth - 1)
    operator = rng.choice(("add", "scale", "floordiv", "mod"))
    number = rng.randint(1, 6)
    if operator == "add":
        right, right_value = random_pair(rng, shape, depth - 1)
        return left + right * number, lambda index: left_value(index) + right_value(index) * number
    if operator == "scale":
        return left * -number, lambda index: left_value(index) * -number
    if operator == "floordiv":
        return axes.floordiv_within(left, number, shape), lambda index: left_value(index) // number
    return axes.mod(left, number, shape), lambda index: left_value(index) % number


@settings(max_examples=400, derandomize=True, deadline=None)
@given(st.integers(0, 2**32))
def test_simplified_expressions_mean_what_they_were_built_from(seed):
    rng = random.Random(seed)
    shape = tuple(rng.randint(1, 6) for _ in range(rng.randint(1, 3)))
    expression, value = random_pair(rng, shape, 5)
    indices = np.indices(shape)
    expected = np.broadcast_to(value(indices), shape)
    np.testing.assert_array_equal(np.broadcast_to(evaluate_at(expression, indices, {}), shape), expected)
    low, high = axes.bounds(expression, shape)
    assert low <= expected.min()
    assert expected.max() <= high
