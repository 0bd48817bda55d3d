"""Comparison and selection. Source: PTX ISA §9.3.1.1 and §9.7.6."""

import operator
import struct

import pytest

from ptxsim_cases.semantics_samples import check, run

INTEGERS = ("u16", "u32", "u64", "s16", "s32", "s64")
BITS = ("b16", "b32", "b64")
UNSIGNED = ("u16", "u32", "u64")
EQUALITY = {"eq": operator.eq, "ne": operator.ne}
ORDER = {"lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge}
UNSIGNED_ORDER = {"lo": operator.lt, "ls": operator.le, "hi": operator.gt, "hs": operator.ge}
COMPARISONS = [
    (name, compare, kind)
    for operators, kinds in ((EQUALITY, INTEGERS + BITS), (ORDER, INTEGERS), (UNSIGNED_ORDER, UNSIGNED))
    for name, compare in operators.items()
    for kind in kinds
]


# p is the comparison, q its opposite.
@pytest.mark.parametrize(("name", "compare", "kind"), COMPARISONS)
def test_setp(name, compare, kind):
    check(f"setp.{name}.{kind}", lambda a, b: (compare(a, b), not compare(a, b)))


# A third predicate is combined with the comparison, and with its opposite.
@pytest.mark.parametrize(("how", "combine"), [("and", operator.and_), ("or", operator.or_), ("xor", operator.xor)])
def test_setp_with_a_predicate(how, combine):
    check(f"setp.lt.{how}.s32", lambda a, b, c: (combine(a < b, bool(c)), combine(not a < b, bool(c))))
    check(f"set.lt.{how}.u32.s32", lambda a, b, c: -int(combine(a < b, bool(c))))


# True is all ones for an integer, and one for a floating-point type.
@pytest.mark.parametrize("kind", INTEGERS)
def test_set(kind):
    check(f"set.ge.u32.{kind}", lambda a, b: -int(a >= b))
    check(f"set.ge.s32.{kind}", lambda a, b: -int(a >= b))
    for result, code in (("f32", "<f"), ("f16", "<e")):
        one = int.from_bytes(struct.pack(code, 1.0), "little")
        check(f"set.ge.{result}.{kind}", lambda a, b, one=one: one if a >= b else 0)
    check(f"set.ge.bf16.{kind}", lambda a, b: struct.unpack("<I", struct.pack("<f", 1.0))[0] >> 16 if a >= b else 0)


@pytest.mark.parametrize("kind", [*INTEGERS, *BITS, "f32", "f64"])
def test_selp(kind):
    check(f"selp.{kind}", lambda a, b, c: a if c else b)


@pytest.mark.parametrize("kind", [*INTEGERS, *BITS, "f32", "f64"])
def test_slct_by_an_integer(kind):
    check(f"slct.{kind}.s32", lambda a, b, c: a if c >= 0 else b)


# Negative zero is zero, a NaN is not greater than zero, and .ftz takes negative subnormal numbers for zero.
def test_slct_by_a_float():
    smallest = struct.unpack("<I", struct.pack("<f", -1e-45))[0]
    chosen = {x: run("slct.u64.f32", 1, 2, x) for x in (0, 0x80000000, 0x7FC00000, 0xBF800000, 0x7F800000, smallest)}
    assert chosen == {0: 1, 0x80000000: 1, 0x7FC00000: 2, 0xBF800000: 2, 0x7F800000: 1, smallest: 2}
    assert run("slct.ftz.u64.f32", 1, 2, smallest) == 1
    assert run("slct.ftz.u64.f32", 1, 2, 0x80800000) == 2
