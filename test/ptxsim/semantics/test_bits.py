"""Bit counting and bit fields, bit by bit as the ISA's pseudo-code has them. Source: PTX ISA §9.7.1.14-22."""

import pytest

from ptxsim_cases.semantics_samples import check, run


@pytest.mark.parametrize("n", [32, 64])
def test_counts(n):
    check(f"popc.b{n}", lambda a: a.bit_count())
    check(f"clz.b{n}", lambda a: n - a.bit_length())


# The most significant bit that is not a copy of the sign; .shiftamt: how far it is from the top.
@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
def test_find_first(kind):
    top = int(kind[1:]) - 1

    def position(a):
        return (~a if a < 0 else a).bit_length() - 1

    check(f"bfind.{kind}", position)
    check(f"bfind.shiftamt.{kind}", lambda a: -1 if position(a) < 0 else top - position(a))


def nth_set(mask, base, offset):
    position, step = base, 1 if offset > 0 else -1
    if offset == 0:
        return base if 0 <= base < 32 and mask >> base & 1 else -1
    missing = abs(offset) - 1
    while 0 <= position < 32:
        if mask >> position & 1:
            if missing == 0:
                return position
            missing -= 1
        position += step
    return -1


# The ISA's examples, then any operands; a base beyond the word finds nothing.
def test_find_nth():
    assert [run("fns.b32", 0xAAAAAAAA, base, n) for base, n in ((3, 1), (3, -1), (2, 1), (2, -1))] == [3, 3, 3, 1]
    check("fns.b32", lambda mask, base, offset: nth_set(mask, base if base < 2**31 else base - 2**32, offset))
    for base in range(32):
        for offset in range(-5, 6):
            assert run("fns.b32", 0x9C0F_A5E1, base, offset) == nth_set(0x9C0F_A5E1, base, offset) % 2**32


@pytest.mark.parametrize("n", [32, 64])
def test_reverse(n):
    check(f"brev.b{n}", lambda a: int(f"{a:0{n}b}"[::-1], 2))


# Start and length count modulo 256; beyond the top a field is filled with its sign.
@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
def test_extract(kind):
    n = int(kind[1:])

    def field(a, start, length):
        a, start, length = a % (1 << n), start & 255, length & 255
        sign = a >> min(start + length - 1, n - 1) & 1 if kind[0] == "s" and length else 0
        bits = [a >> start + i & 1 if i < length and start + i < n else sign for i in range(n)]
        return sum(bit << i for i, bit in enumerate(bits))

    check(f"bfe.{kind}", field)


@pytest.mark.parametrize("n", [32, 64])
def test_insert(n):
    def inserted(a, b, start, length):
        start, length = start & 255, length & 255
        bits = [a >> i - start & 1 if start <= i < start + length else b >> i & 1 for i in range(n)]
        return sum(bit << i for i, bit in enumerate(bits))

    check(f"bfi.b{n}", inserted)


# A mask of b ones from bit a on; .wrap takes both modulo 32.
def test_mask():
    check("bmsk.clamp.b32", lambda a, b: ((1 << min(b, 32)) - 1) << a if a < 32 else 0)
    check("bmsk.wrap.b32", lambda a, b: ((1 << b % 32) - 1) << a % 32)
    assert run("bmsk.wrap.b32", 1, 2) == 6


@pytest.mark.parametrize("kind", ["u32", "s32"])
def test_extend(kind):
    def extended(a, length):
        value = a & (1 << length) - 1
        return value - (1 << length) if kind == "s32" and length and value >> length - 1 else value

    check(f"szext.clamp.{kind}", lambda a, b: extended(a, min(b, 32)))
    check(f"szext.wrap.{kind}", lambda a, b: extended(a, b % 32))
