"""Index expressions of views: reading, bounds, strides."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis_programs.index_values import index_value
from tinyc.diagnostics import TinycError
from tinyc.expr import axes, extents, index_map
from tinyc.expr.axes import Axis, FloorDiv, Mod


@st.composite
def expressions(draw, depth=3):
    """Draw the text of an expression over two axes that is also Python, with its brackets."""
    if depth == 0 or draw(st.booleans()):
        return draw(st.sampled_from(["i0", "i1", "0", "3", "7"]))
    inner = draw(expressions(depth - 1))
    operator = draw(st.sampled_from(["+", "-", "*", "//", "%"]))
    if operator in "+-":
        return f"({inner}) {operator} ({draw(expressions(depth - 1))})"
    return f"({inner}) {operator} {draw(st.integers(1, 5))}"


@given(expressions(), st.integers(0, 9), st.integers(0, 9))
def test_expressions_mean_what_they_say(source, i0, i1):
    expected = eval(source, {}, {"i0": i0, "i1": i1})  # the strategy's own text
    assert index_value(index_map.parse_row(source, 2), (i0, i1)) == expected


@given(expressions(), st.integers(0, 9), st.integers(0, 9))
def test_text_reads_back(source, i0, i1):
    index = index_map.parse_row(source, 2)
    again = index_map.parse_row(str(index), 2)
    assert index_value(again, (i0, i1)) == index_value(index, (i0, i1))


@given(expressions(), st.integers(1, 5), st.integers(1, 5))
def test_bounds_hold_over_the_box(source, n0, n1):
    index = index_map.parse_row(source, 2)
    try:
        index_map.require_nonnegative_strides(index)
    except TinycError:
        return
    low, high = axes.plain_bounds(index, (n0, n1))
    found = [index_value(index, point) for point in itertools.product(range(n0), range(n1))]
    assert low <= min(found)
    assert max(found) <= high


def test_bounds_are_symbolic_where_extents_are():
    index = index_map.parse_row("2*i0 + i1", 2)
    assert [str(bound) for bound in axes.plain_bounds(index, (extents.symbol("H"), 3))] == ["0", "2*H"]


def test_products_and_divisions_bind_alike_from_left_to_right():
    assert index_map.parse_row("i0 * 6 floordiv 4 mod 3", 1) == axes.term(
        Mod(axes.term(FloorDiv(axes.term(Axis(0), 6), 4)), 3)
    )


def test_words_and_signs_are_the_same_operators():
    assert index_map.parse_row("i0 floordiv 4 + i0 mod 4", 1) == index_map.parse_row("i0//4+i0%4", 1)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("", "unexpected end"),
        ("i0 +", "unexpected end"),
        ("(i0", "closing bracket is missing"),
        ("i0)", "unexpected '"),
        ("i2", "no result axis i2"),
        ("i0 * i1", "not affine"),
        ("i0 // i1", "positive integer"),
        ("i0 % 0", "positive integer"),
        ("i0 // -2", "positive integer"),
        ("n", "unexpected 'n'"),
        ("1.5", "unexpected '.5'"),
        ("__import__('os').system('true')", 'unexpected "__import__'),
        ("i0; print(1)", "unexpected '; print"),
        ("+".join(["i0"] * 600), "too many"),
        ("(" * 100 + "i0" + ")" * 100, "nested brackets"),
        ("i0 + " + "1" * 9000, "characters"),
    ],
)
def test_what_is_no_index_expression_is_refused(source, why):
    with pytest.raises(TinycError) as caught:
        index_map.parse_row(source, 2)
    assert caught.value.name == "InvalidAttribute"
    assert why in caught.value.message


@pytest.mark.parametrize("source", ["-i0", "3 - i0", "i0 - i1", "(2 - i0) floordiv 2", "i0 * -2", "i0 - 2*i0"])
def test_a_negative_stride_is_refused_and_names_flip(source):
    with pytest.raises(TinycError, match="FLIP") as caught:
        index_map.require_nonnegative_strides(index_map.parse_row(source, 2))
    assert caught.value.name == "NegativeStride"


@pytest.mark.parametrize("source", ["i0 - 1", "i0 mod 4", "2*i0 + 3*i1 - 5", "-3"])
def test_constants_may_be_negative(source):
    index_map.require_nonnegative_strides(index_map.parse_row(source, 2))


@pytest.mark.parametrize(
    ("source", "net"),
    [
        ("2*i0 - i0", "i0"),
        ("i0 + i1 - i0", "i1"),
        ("-(3 - i0)", "i0 - 3"),
        ("2*(i0 - i1) + 2*i1", "2*i0"),
        ("3*(i0 // 2) - i0 // 2", "2*(i0 floordiv 2)"),
        ("(3*i0 - i0) // 2", "(2*i0) floordiv 2"),
    ],
)
def test_the_coefficients_of_a_sum_are_the_net_ones(source, net):
    index = index_map.parse_row(source, 2)
    index_map.require_nonnegative_strides(index)
    assert str(index) == net


def test_divisions_are_counted():
    assert index_map.count_divisions(index_map.parse_row("i0 // 2 + i1 % 3 + (i0 // 2) % 2", 2)) == 4
