"""Arithmetic with the carry flag against Python's integers. Source: PTX ISA §9.7.2."""

import pytest

from ptxsim_cases.semantics_samples import check, run

TYPES = ("u32", "s32", "u64", "s64")


def unsigned(x, n):
    return x % (1 << n)


# The carry out is bit n of the sum of the operands as unsigned numbers, for signed types, too.
@pytest.mark.parametrize("kind", TYPES)
def test_sum(kind):
    n = int(kind[1:])

    def total(a, b, carry=0):
        return unsigned(a, n) + unsigned(b, n) + carry

    check(f"add.cc.{kind}", lambda a, b: (total(a, b), total(a, b) >> n))
    check(f"addc.cc.{kind}", lambda a, b, carry: (total(a, b, carry), total(a, b, carry) >> n))
    check(f"addc.{kind}", total)


# The flag is a borrow: 1 where the first number is the smaller one.
@pytest.mark.parametrize("kind", TYPES)
def test_difference(kind):
    n = int(kind[1:])

    def difference(a, b, borrow=0):
        return unsigned(a, n) - unsigned(b, n) - borrow

    check(f"sub.cc.{kind}", lambda a, b: (difference(a, b), difference(a, b) < 0))
    check(f"subc.cc.{kind}", lambda a, b, borrow: (difference(a, b, borrow), difference(a, b, borrow) < 0))
    check(f"subc.{kind}", difference)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("mode", ["lo", "hi"])
def test_product(kind, mode):
    n = int(kind[1:])

    def total(a, b, c, carry=0):
        product = a * b >> n if mode == "hi" else a * b
        return unsigned(product, n) + unsigned(c, n) + carry

    check(f"mad.{mode}.cc.{kind}", lambda a, b, c: (total(a, b, c), total(a, b, c) >> n))
    check(f"madc.{mode}.cc.{kind}", lambda a, b, c, carry: (total(a, b, c, carry), total(a, b, c, carry) >> n))
    check(f"madc.{mode}.{kind}", total)


# Words chain: a 64-bit difference of two 32-bit ones, with a borrow through a zero.
def test_chain_of_two_words():
    low, borrow = run("sub.cc.u32", 0, 1)
    high, out = run("subc.cc.u32", 5, 5, borrow)
    assert (high << 32 | low) == (5 << 32) - (5 << 32 | 1) + (1 << 64)
    assert out == 1
