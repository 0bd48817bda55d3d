"""The exact range of index expressions, against all their values."""

import itertools
import operator

from hypothesis import given
from hypothesis import strategies as st

from analysis_programs.index_values import index_value
from tinyc.expr import axes
from tinyc.expr.index_map import parse_row
from tinyc.expr.isl.ranges import exact_range

expressions = st.recursive(
    st.one_of(
        st.integers(-9, 9).map(axes.constant), st.integers(0, 1).map(lambda position: axes.term(axes.Axis(position)))
    ),
    lambda inner: st.one_of(
        st.builds(operator.add, inner, inner),
        st.builds(operator.mul, inner, st.integers(1, 4)),
        st.builds(axes.plain_floordiv, inner, st.integers(1, 5)),
        st.builds(axes.plain_mod, inner, st.integers(1, 5)),
    ),
    max_leaves=5,
)


@given(expressions, st.tuples(st.integers(1, 7), st.integers(1, 7)))
def test_range_is_that_of_all_values(index, shape):
    values = [index_value(index, point) for point in itertools.product(*map(range, shape))]
    assert exact_range(index, shape) == (min(values), max(values))
    low, high = axes.plain_bounds(index, shape)
    assert low <= min(values)
    assert high >= max(values)


def test_numbers_beyond_64_bits():
    assert exact_range(parse_row("i0 * 100000000000000000000", 1), (3,)) == (0, 2 * 10**20)


def test_earlier_questions_do_not_count_against_the_limit(monkeypatch):
    monkeypatch.setattr("tinyc.expr.isl.functions.MAX_OPERATIONS", 1000)
    assert [exact_range(parse_row("i0 + i0 mod 4", 1), (9,)) for _ in range(100)] == [(0, 10)] * 100


def test_a_range_that_isl_gives_up_on_is_the_closed_form(monkeypatch):
    monkeypatch.setattr("tinyc.expr.isl.functions.MAX_OPERATIONS", 1)
    index = parse_row("i0 + i0 mod 4", 1)
    assert exact_range(index, (9,)) == axes.plain_bounds(index, (9,)) == (0, 11)
