"""The algebra of symbolic sizes: canonical form, arithmetic, division, text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyc.expr import extents
from tinyc.expr.extents import ExtentError, parse_extent, symbol

M, N, H = symbol("M"), symbol("N"), symbol("H")
SYMBOLS = ("M", "N", "K")


def dims(division=True):
    """Draw extents of a few operations over three symbols."""
    leaves = st.integers(-5, 5) | st.sampled_from([symbol(name) for name in SYMBOLS])

    def grow(children):
        pairs = st.tuples(children, children)
        grown = pairs.map(lambda p: p[0] + p[1]) | pairs.map(lambda p: p[0] - p[1]) | pairs.map(lambda p: p[0] * p[1])
        if not division:
            return grown
        return grown | st.tuples(children, st.integers(1, 4)).map(lambda p: extents.floordiv(*p))

    return st.recursive(leaves, grow, max_leaves=6)


def values():
    return st.fixed_dictionaries({name: st.integers(0, 9) for name in SYMBOLS})


def value(dim, sizes):
    return extents.evaluate(dim, sizes)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (3, 3),
        (0, 0),
        (np.int8(7), 7),
        (np.array(2), 2),
        (2**63 - 1, 2**63 - 1),
        (2**63, None),
        (-1, None),
        (True, None),
        (np.True_, None),
        (2.0, None),
        (np.array([2, 3]), None),
        ("2", None),
        (None, None),
    ],
)
def test_a_size_is_an_integer_of_any_kind(given, found):
    assert extents.natural(given) == found
    assert type(extents.natural(given)) is (int if found is not None else type(None))


def test_a_size_is_at_most_its_limit():
    assert (extents.natural(2**64 - 1, 2**64 - 1), extents.natural(8, 7)) == (2**64 - 1, None)


@given(dims(), dims(), values())
def test_arithmetic_is_that_of_the_values(a, b, sizes):
    assert value(a + b, sizes) == value(a, sizes) + value(b, sizes)
    assert value(a - b, sizes) == value(a, sizes) - value(b, sizes)
    assert value(a * b, sizes) == value(a, sizes) * value(b, sizes)


@given(dims(), st.integers(1, 7), values())
def test_floordiv_rounds_down(a, divisor, sizes):
    assert value(extents.floordiv(a, divisor), sizes) == value(a, sizes) // divisor


@given(dims(), st.integers(1, 7), values())
def test_ceildiv_rounds_up(a, divisor, sizes):
    assert value(extents.ceildiv(a, divisor), sizes) == -(-value(a, sizes) // divisor)


@given(dims(), dims(), values())
def test_floordiv_by_an_extent_rounds_down(a, b, sizes):
    quotient = extents.floordiv(a, b) if not isinstance(b, int) else 0
    if not isinstance(b, int) and value(b, sizes) != 0:
        assert value(quotient, sizes) == value(a, sizes) // value(b, sizes)


@given(dims(division=False), dims(division=False))
def test_polynomials_that_are_equal_have_one_form(a, b):
    assert (a + b) * (a - b) == a * a - b * b
    assert str((a + b) * (a - b)) == str(a * a - b * b)


@given(dims())
def test_text_reads_back(a):
    assert parse_extent(str(a)) == a


@given(dims(), values())
def test_substitution_agrees_with_evaluation(a, sizes):
    assert extents.substitute(a, sizes) == value(a, sizes)


@given(dims(division=False), dims(division=False))
def test_exact_division_undoes_a_product_of_one_term(a, b):
    quotient = extents.divide(a * b, b)
    assert quotient is None or quotient * b == a * b


@given(dims(), values())
def test_what_is_known_to_be_nonnegative_is(a, sizes):
    if extents.is_nonnegative(a):
        assert value(a, sizes) >= 0


def test_multiples_of_a_divisor_are_no_more_than_what_is_divided():
    assert extents.is_nonnegative(M - 128 * extents.floordiv(M, 128))
    assert extents.is_nonnegative(M * N - 6 * extents.floordiv(M * N, 3) + M * N)
    assert extents.is_nonnegative(extents.floordiv(M - 127, 128) + 1)
    assert extents.is_nonnegative(8 * extents.floordiv(M * N - 1, 4) + N + 8)
    assert not extents.is_nonnegative(extents.floordiv(M - 129, 128) + 1)
    assert not extents.is_nonnegative(M - 3 * extents.floordiv(M, 2))
    assert not extents.is_nonnegative(N - 2 * extents.floordiv(M, 2))


@pytest.mark.parametrize(
    ("dim", "text"),
    [
        (N * M, "M*N"),
        (M * 2 - 1, "2*M - 1"),
        (3 - M, "-M + 3"),
        (M * M, "M*M"),
        (extents.floordiv(H - 1, 2) + 1, "(H - 1) floordiv 2 + 1"),
        (extents.floordiv(H + 1, 2), "(H - 1) floordiv 2 + 1"),
        (extents.floordiv(4 * M + 6, 2), "2*M + 3"),
        (extents.floordiv(2 * M, 4), "M floordiv 2"),
        (extents.floordiv(8 * M - 57, 64), "M floordiv 8 - 1"),
        (extents.floordiv(M, N), "M floordiv N"),
        (2 * extents.floordiv(M, 3), "2*(M floordiv 3)"),
        (1 - extents.floordiv(M, 3), "-(M floordiv 3) + 1"),
        (M - extents.floordiv(M, 3), "M - M floordiv 3"),
    ],
)
def test_canonical_text(dim, text):
    assert str(dim) == text


@pytest.mark.parametrize(
    ("text", "dim"),
    [
        ("1", 1),
        (" G * Cin ", symbol("G") * symbol("Cin")),
        ("M - M", 0),
        ("M // 2", extents.floordiv(M, 2)),
        ("M * 2 // 2", M),
        ("-M + --2", 2 - M),
        ("大きさ + 1", symbol("大きさ") + 1),
    ],
)
def test_text_that_is_read(text, dim):
    assert parse_extent(text) == dim


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "unexpected the end"),
        ("M +", "unexpected the end"),
        ("M N", "unexpected 'N'"),
        ("M / 2", "unexpected '/'"),
        ("__import__('os')", 'unexpected "'),
        ("M // 0", "cannot divide M by 0"),
        ("floordiv", "unexpected 'floordiv'"),
        ("M" * 9000, "too long"),
        ("(" * 100 + "M" + ")" * 100, "nests more than"),
        ("9" * 5000, "a number beyond 2\\^128"),
        ("*".join(["9" * 99] * 50), "a number beyond 2\\^128"),
        ("*".join(["M"] * 100), "100 factors|65 factors"),
        ("M*" + "*".join(["9" * 30] * 2), "coefficient"),
    ],
)
def test_text_that_is_refused(text, why):
    with pytest.raises(ExtentError, match=why.replace("(", r"\(")):
        parse_extent(text)


def test_floor_divisions_nest_only_so_deep():
    def halved(times):
        dim = H
        for _ in range(times):
            dim = extents.floordiv(dim * M + 1, 2)
        return dim

    assert parse_extent(str(halved(10))) == halved(10)
    with pytest.raises(ExtentError, match="floor divisions"):
        halved(50)


def test_a_product_with_too_many_terms_is_refused():
    with pytest.raises(ExtentError, match="terms"):
        extents.product(symbol(f"S{k}") + 1 for k in range(32))


@pytest.mark.parametrize(
    ("left", "right", "known"),
    [
        ("3", "4", True),
        ("M", "M", False),
        ("M + 2", "M", True),
        ("65*M*N", "64*M*N", True),
        ("M*N", "M", False),
        ("M", "N", False),
        ("H floordiv 2", "0", False),
    ],
)
def test_extents_that_differ_for_all_positive_sizes(left, right, known):
    assert extents.differ(parse_extent(left), parse_extent(right)) is known
    assert extents.differ(parse_extent(right), parse_extent(left)) is known


def test_symbols_stand_in_the_order_of_the_text():
    assert extents.symbols(parse_extent("M*K + (H - 1) floordiv S")) == ("K", "M", "H", "S")


def test_evaluation_names_the_symbol_that_is_missing():
    with pytest.raises(ExtentError, match="'N' has no value"):
        extents.evaluate(M * N, {"M": 2})


def test_evaluation_refuses_a_division_by_zero():
    with pytest.raises(ExtentError, match="divides by zero"):
        extents.evaluate(extents.floordiv(M, N), {"M": 2, "N": 0})
