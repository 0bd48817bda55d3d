"""Integer arithmetic against Python's integers, which have no width. Source: PTX ISA §9.7.1."""

import pytest

from ptxsim_cases.semantics_samples import check, number, run

INTEGERS = ("u16", "u32", "u64", "s16", "s32", "s64")
SIGNED = ("s16", "s32", "s64")
NARROW = ("u16", "u32", "s16", "s32")


def bits_of(kind):
    return int(kind[1:])


def saturated(x):
    return max(-(2**31), min(2**31 - 1, x))


# add and sub wrap.
@pytest.mark.parametrize("kind", INTEGERS)
def test_sum(kind):
    check(f"add.{kind}", lambda a, b: a + b)
    check(f"sub.{kind}", lambda a, b: a - b)


# .sat stays at the end of the range.
def test_saturating_sum():
    check("add.sat.s32", lambda a, b: saturated(a + b))
    check("sub.sat.s32", lambda a, b: saturated(a - b))
    assert run("add.sat.s32", 2**31 - 1, 1) == 2**31 - 1
    assert run("sub.sat.s32", -(2**31), 1) == 2**31


# .lo and .hi are the halves of the exact product, with the signs that the type has.
@pytest.mark.parametrize("kind", INTEGERS)
def test_product(kind):
    n = bits_of(kind)
    check(f"mul.lo.{kind}", lambda a, b: a * b)
    check(f"mul.hi.{kind}", lambda a, b: a * b >> n)
    check(f"mad.lo.{kind}", lambda a, b, c: a * b + c)
    check(f"mad.hi.{kind}", lambda a, b, c: (a * b >> n) + c)


# .wide keeps the whole product, and adds at double width.
@pytest.mark.parametrize("kind", NARROW)
def test_wide_product(kind):
    check(f"mul.wide.{kind}", lambda a, b: a * b)
    check(f"mad.wide.{kind}", lambda a, b, c: a * b + c)


def test_saturating_product():
    check("mad.hi.sat.s32", lambda a, b, c: saturated((a * b >> 32) + c))


# 24-bit products take the low 24 bits of each operand; .hi is bits 47..16.
@pytest.mark.parametrize("kind", ["u32", "s32"])
def test_product_of_24_bits(kind):
    def low(x):
        x &= 0xFFFFFF
        return x - (1 << 24) if kind == "s32" and x >> 23 else x

    check(f"mul24.lo.{kind}", lambda a, b: low(a) * low(b))
    check(f"mul24.hi.{kind}", lambda a, b: low(a) * low(b) >> 16)
    check(f"mad24.lo.{kind}", lambda a, b, c: low(a) * low(b) + c)
    check(f"mad24.hi.{kind}", lambda a, b, c: (low(a) * low(b) >> 16) + c)
    if kind == "s32":
        check("mad24.hi.sat.s32", lambda a, b, c: saturated(number(low(a) * low(b) >> 16 & 0xFFFFFFFF, "s32") + c))


@pytest.mark.parametrize("kind", INTEGERS)
def test_sum_of_absolute_differences(kind):
    check(f"sad.{kind}", lambda a, b, c: c + abs(a - b))


# The quotient is rounded towards zero and the remainder has the dividend's sign; by zero both are all ones, as the code
# of ptxas for sm_80 and sm_90 makes them.
@pytest.mark.parametrize("kind", INTEGERS)
def test_division(kind):
    def quotient(a, b):
        return -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)

    check(f"div.{kind}", quotient)
    check(f"rem.{kind}", lambda a, b: -1 if b == 0 else a - b * quotient(a, b))


# The only quotient that overflows wraps.
@pytest.mark.parametrize("kind", SIGNED)
def test_the_most_negative_number_by_minus_one(kind):
    least = -(2 ** (bits_of(kind) - 1))
    assert number(run(f"div.{kind}", least, -1), kind) == least
    assert run(f"rem.{kind}", least, -1) == 0


@pytest.mark.parametrize("kind", SIGNED)
def test_sign(kind):
    check(f"abs.{kind}", abs)
    check(f"neg.{kind}", lambda a: -a)


@pytest.mark.parametrize("kind", INTEGERS)
def test_extremum(kind):
    check(f"min.{kind}", min)
    check(f"max.{kind}", max)


# .relu makes a negative result zero; it stands before the type, or behind it as nvcc writes it.
@pytest.mark.parametrize("form", ["relu.s32", "s32.relu"])
def test_extremum_with_relu(form):
    check(f"min.{form}", lambda a, b: max(min(a, b), 0))
    check(f"max.{form}", lambda a, b: max(a, b, 0))


# Packed operations see two numbers of 16 bits; nothing goes from the low one to the high one.
@pytest.mark.parametrize("half", ["u16", "s16"])
@pytest.mark.parametrize(("opcode", "function"), [("add", lambda x, y: x + y), ("min", min), ("max", max)])
def test_packed(half, opcode, function):
    def both(a, b):
        low, high = (function(number(a >> s & 0xFFFF, half), number(b >> s & 0xFFFF, half)) for s in (0, 16))
        return (low & 0xFFFF) | (high & 0xFFFF) << 16

    check(f"{opcode}.{half}x2", both)


@pytest.mark.parametrize("form", ["relu.s16x2", "s16x2.relu"])
def test_packed_relu(form):
    assert run(f"max.{form}", 0xFFFF_FFFE, 0x0005_FFFF) == 0x0005_0000
    assert run(f"min.{form}", 0x0007_0003, 0xFFFF_0009) == 0x0000_0003


# dp4a: four products of bytes; either side has signs or not.
@pytest.mark.parametrize("a_kind", ["u32", "s32"])
@pytest.mark.parametrize("b_kind", ["u32", "s32"])
def test_dot_products(a_kind, b_kind):
    def part(kind, x, n, index):
        return number(x >> n * index & (1 << n) - 1, f"{kind[0]}{n}")

    check(
        f"dp4a.{a_kind}.{b_kind}",
        lambda a, b, c: c + sum(part(a_kind, a, 8, i) * part(b_kind, b, 8, i) for i in range(4)),
    )
    for mode, first in (("lo", 0), ("hi", 2)):
        check(
            f"dp2a.{mode}.{a_kind}.{b_kind}",
            lambda a, b, c, first=first: (
                c + sum(part(a_kind, a, 16, i) * part(b_kind, b, 8, first + i) for i in (0, 1))
            ),
        )


# The lanes' absolute differences, in their places or summed.
@pytest.mark.parametrize("kind", ["u32", "s32"])
@pytest.mark.parametrize(("opcode", "n"), [("vabsdiff4", 8), ("vabsdiff2", 16)])
def test_absolute_differences_of_lanes(opcode, n, kind):
    def lanes(x):
        return [number(x >> shift & (1 << n) - 1, f"{kind[0]}{n}") for shift in range(0, 32, n)]

    def differences(a, b):
        return [abs(x - y) for x, y in zip(lanes(a), lanes(b), strict=True)]

    check(f"{opcode}.u32.{kind}.{kind}", lambda a, b, c: sum(d << n * i for i, d in enumerate(differences(a, b))))
    check(f"{opcode}.u32.{kind}.{kind}.add", lambda a, b, c: c + sum(differences(a, b)))
