"""What has to hold for extents to be sizes: divisors first, nothing that is known or stated already."""

import pytest

from tinyc.expr.assumption import Assumption, required
from tinyc.expr.extents import parse_extent


def needed(*texts, stated=()):
    relations = [Assumption(parse_extent(lhs), predicate, parse_extent(rhs)) for lhs, predicate, rhs in stated]
    return [str(each) for each in required([parse_extent(text) for text in texts], relations)]


@pytest.mark.parametrize("extent", ["4", "M", "2*M + 3", "M*N", "M floordiv 2", "M floordiv (N + 1)"])
def test_what_is_a_size_for_all_symbols_needs_nothing(extent):
    assert needed(extent) == []


def test_an_extent_must_not_be_negative():
    assert needed("M - 5", "M") == ["0 <= M - 5"]


def test_a_divisor_is_at_least_1():
    assert needed("M floordiv N") == ["1 <= N"]


def test_an_inner_divisor_comes_before_the_extent_that_it_is_part_of():
    assert needed("M floordiv (K floordiv N)") == ["1 <= N", "1 <= K floordiv N"]


def test_what_is_stated_comes_first_and_once():
    assert needed("M - 2", stated=[("2", "le", "M")]) == ["2 <= M"]


def test_the_divisors_of_what_is_stated_count_too():
    assert needed(stated=[("M floordiv N", "le", "4")]) == ["M floordiv N <= 4", "1 <= N"]


@pytest.mark.parametrize(("predicate", "holds"), [("eq", (False, True, False)), ("le", (True, True, False))])
def test_a_relation_between_numbers(predicate, holds):
    assumption = Assumption(parse_extent("M"), predicate, parse_extent("N"))
    assert tuple(assumption.relates(lhs, 2) for lhs in (1, 2, 3)) == holds
