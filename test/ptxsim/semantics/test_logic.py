"""Logic and shifts against Python's integers. Source: PTX ISA §9.7.8."""

import pytest

from ptxsim_cases.semantics_samples import check, run

WIDTHS = (16, 32, 64)


@pytest.mark.parametrize("kind", ["pred", "b16", "b32", "b64"])
def test_bitwise(kind):
    check(f"and.{kind}", lambda a, b: a & b)
    check(f"or.{kind}", lambda a, b: a | b)
    check(f"xor.{kind}", lambda a, b: a ^ b)
    check(f"not.{kind}", lambda a: ~a)


@pytest.mark.parametrize("n", WIDTHS)
def test_logical_not(n):
    check(f"cnot.b{n}", lambda a: a == 0)


# Each of the 256 tables gives what its bits say, for all eight combinations of a, b and c.
def test_all_tables():
    for table in range(256):
        assert run("lop3.b32", 0xF0, 0xCC, 0xAA, table) & 0xFF == table


# The whole word is looked up, constants included, and the table makes no result narrower than its operands.
@pytest.mark.parametrize(
    ("table", "function"),
    [
        (0x80, lambda a, b, c: a & b & c),
        (0xFE, lambda a, b, c: a | b | c),
        (0x40, lambda a, b, c: a & b & ~c),
        (0x1A, lambda a, b, c: (a & b | c) ^ a),
        (0x00, lambda a, b, c: 0),
        (0xFF, lambda a, b, c: -1),
        (0xAA, lambda a, b, c: c),
    ],
)
def test_table(table, function):
    check("lop3.b32", lambda a, b, c, _: function(a, b, c), constants={3: table})


# With a Boolean operator there is a second result: whether the word is not zero, combined with q.
def test_table_with_predicate():
    check("lop3.or.b32", lambda a, b, c, _, q: (a & b & c, (a & b & c != 0) or q), constants={3: 0x80})
    check("lop3.and.b32", lambda a, b, c, _, q: (a & b & c, (a & b & c != 0) and q), constants={3: 0x80})


# The funnel is b above a; .wrap takes the amount modulo 32, .clamp stops at 32.
@pytest.mark.parametrize(("mode", "amount"), [("clamp", lambda c: min(c, 32)), ("wrap", lambda c: c % 32)])
def test_funnel_shift(mode, amount):
    check(f"shf.l.{mode}.b32", lambda a, b, c: (b << 32 | a) << amount(c) >> 32)
    check(f"shf.r.{mode}.b32", lambda a, b, c: (b << 32 | a) >> amount(c))


# Amounts are unsigned and clamp at the width: then zeros or, to the right with a sign, copies of it.
@pytest.mark.parametrize("n", WIDTHS)
def test_shift(n):
    check(f"shl.b{n}", lambda a, b: a << min(b, n))
    for kind in "bus":
        check(f"shr.{kind}{n}", lambda a, b: a >> min(b, n))


# The least amounts that C leaves undefined.
@pytest.mark.parametrize("n", WIDTHS)
def test_shift_by_the_width(n):
    assert run(f"shl.b{n}", -1, n) == 0
    assert run(f"shr.u{n}", -1, n) == 0
    assert run(f"shr.s{n}", -(2 ** (n - 1)), n) == 2**n - 1
    assert run(f"shl.b{n}", 1, 2**32 - 1) == 0
