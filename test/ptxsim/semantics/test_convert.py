"""`cvt` against rational arithmetic: exhaustive over patterns of 8 and 16 bits, special and random ones of more."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from parameters import pairwise
from ptxsim.semantics import UnknownInstruction, operation
from ptxsim_cases.exact_floating import DTYPES, assert_bits, computed, number, operands, pattern, rational

_ROUND = {"n": round, "z": math.trunc, "m": math.floor, "p": math.ceil}
_FLOATS = ("f16", "bf16", "f32", "f64")
_INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")


def inputs(name):
    """All patterns of a half, else special and random ones, some of them integers and half integers."""
    if name in ("f16", "bf16"):
        return np.arange(1 << 16, dtype=np.uint16)
    (some,) = operands(name, 1, 600)
    edges = [
        sign * (Fraction(2) ** n + offset)
        for n in (7, 8, 15, 16, 31, 32, 63, 64)
        for sign in (1, -1)
        for offset in (-1, 0, 1)
    ]
    halves = [Fraction(n, 2) for n in range(-9, 10)]
    extra = [pattern(name, each) for each in (*edges, *halves)]
    return np.concatenate([some, np.array(extra, DTYPES[name])])


def converted(target, source, direction, bits):
    return pattern(target, number(source, bits), direction)


@pytest.mark.parametrize("direction", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize(
    ("target", "source"),
    [
        ("f32", "f64"),
        ("f16", "f64"),
        ("bf16", "f64"),
        ("f16", "f32"),
        ("bf16", "f32"),
        ("f16", "bf16"),
        ("bf16", "f16"),
    ],
)
def test_narrower_formats(target, source, direction):
    bits = inputs(source)
    bits = bits[:: 1 if bits.size < 5000 else 13]
    expected = [converted(target, source, direction, each) for each in bits.tolist()]
    assert_bits(target, computed(f"cvt.{direction}.{target}.{source}", bits), expected, [bits])


@pytest.mark.parametrize(
    ("target", "source"), [("f32", "f16"), ("f32", "bf16"), ("f64", "f16"), ("f64", "bf16"), ("f64", "f32")]
)
def test_wider_formats_keep_every_value(target, source):
    bits = inputs(source)
    result = computed(f"cvt.{target}.{source}", bits)
    for before, after in zip(bits.tolist(), result.tolist(), strict=True):
        assert number(target, after) == number(source, before)


@pairwise(source=_FLOATS, target=_INTEGERS, direction="nzmp")
def test_integers_of_floats_are_rounded_and_clamped(target, source, direction):
    width = int(target[1:])
    low, high = (0, (1 << width) - 1) if target[0] == "u" else (-(1 << (width - 1)), (1 << (width - 1)) - 1)
    nan = 1 << (width - 1) if source == "f64" or width == 64 else 0
    bits = inputs(source)
    bits = bits[:: 1 if bits.size < 5000 else 17]

    def expected(value):
        if value == "nan":
            return nan
        if value in ("inf", "-inf"):
            return (high if value == "inf" else low) % (1 << width)
        return min(max(_ROUND[direction](rational(value)), low), high) % (1 << width)

    result = computed(f"cvt.r{direction}i.{target}.{source}", bits)
    assert result.dtype.itemsize == width // 8
    assert result.tolist() == [expected(number(source, each)) for each in bits.tolist()]


@pairwise(target=_FLOATS, source=_INTEGERS, direction=["rn", "rz", "rm", "rp"])
def test_floats_of_integers_are_rounded_once(target, source, direction):
    width = int(source[1:])
    draw = random.Random(width)
    patterns = [draw.getrandbits(width) >> draw.randrange(width) for _ in range(150)]
    patterns += [(1 << width) - 1, 1 << (width - 1), (1 << (width - 1)) - 1, 0, 1]
    patterns += [(1 << n) + (1 << max(n - 24, 0)) + offset for n in range(width - 1) for offset in (0, 1)]
    patterns = [each % (1 << width) for each in patterns]
    values = [each - (1 << width) if source[0] == "s" and each >> (width - 1) else each for each in patterns]
    bits = np.array(patterns, f"u{width // 8}")
    expected = [pattern(target, Fraction(each), direction) for each in values]
    assert_bits(target, computed(f"cvt.{direction}.{target}.{source}", bits), expected, [bits])


@pytest.mark.parametrize("source", _INTEGERS)
@pytest.mark.parametrize("target", _INTEGERS)
def test_integers_wrap_and_sat_clamps(target, source):
    to, of = int(target[1:]), int(source[1:])
    low, high = (0, (1 << to) - 1) if target[0] == "u" else (-(1 << (to - 1)), (1 << (to - 1)) - 1)
    draw = random.Random(of)
    patterns = [draw.getrandbits(of) for _ in range(100)] + [0, 1, (1 << of) - 1, 1 << (of - 1), (1 << (of - 1)) - 1]
    values = [each - (1 << of) if source[0] == "s" and each >> (of - 1) else each for each in patterns]
    bits = np.array(patterns, f"u{of // 8}")
    assert computed(f"cvt.{target}.{source}", bits).tolist() == [each % (1 << to) for each in values]
    clamped = [min(max(each, low), high) % (1 << to) for each in values]
    if clamped == [each % (1 << to) for each in values]:  # sat is there only where it can have an effect
        with pytest.raises(UnknownInstruction):
            operation("cvt", ("sat", target, source))
    else:
        assert computed(f"cvt.sat.{target}.{source}", bits).tolist() == clamped


@pytest.mark.parametrize("direction", "nzmp")
@pytest.mark.parametrize("name", _FLOATS)
def test_rounding_to_an_integer_within_a_format_keeps_the_sign_of_a_zero(name, direction):
    bits = inputs(name)
    bits = bits[:: 1 if bits.size < 5000 else 17]

    def expected(each):
        value = number(name, each)
        if isinstance(value, str):
            return pattern(name, value)
        return pattern(name, Fraction(_ROUND[direction](value)), negative_zero=value < 0)

    result = computed(f"cvt.r{direction}i.{name}.{name}", bits)
    assert_bits(name, result, [expected(each) for each in bits.tolist()], [bits])


def test_rounding_to_nearest_of_a_tie_goes_to_the_even_integer():
    bits = np.array([pattern("f32", Fraction(n, 2)) for n in (1, 3, 5, -1, -3)], np.uint32)
    assert computed("cvt.rni.s32.f32", bits).astype(np.int32).tolist() == [0, 2, 2, 0, -2]


_LIMITS = ("", "relu", "satfinite", "relu.satfinite")
_PACKED = [(target, 16, flags) for target in ("f16", "bf16") for flags in _LIMITS]
_PACKED += [(target, 8, flags) for target in ("e4m3", "e5m2") for flags in _LIMITS[2:]]


@pytest.mark.parametrize(("target", "shift", "flags"), _PACKED)
def test_two_floats_become_the_halves_of_a_register(target, shift, flags):
    a, b = operands("f32", 2, 600)
    instruction = ".".join(each for each in ("cvt.rn", flags, f"{target}x2", "f32") if each)
    result = computed(instruction, a, b)
    greatest = number(target, {"f16": 0x7BFF, "bf16": 0x7F7F, "e4m3": 0x7E, "e5m2": 0x7B}[target])

    def expected(bits):
        value = number("f32", bits)
        if value != "nan" and "satfinite" in flags:
            beyond = (isinstance(value, str) and value.endswith("inf")) or abs(rational(value)) > greatest
            value = (-greatest if str(value).startswith("-") else greatest) if beyond else value
        if value != "nan" and "relu" in flags and str(value).startswith("-"):
            value = Fraction(0)
        return pattern(target, value)

    assert_bits(target, result >> shift, [expected(each) for each in a.tolist()], [a])
    assert_bits(target, result & ((1 << shift) - 1), [expected(each) for each in b.tolist()], [b])


@pytest.mark.parametrize("name", ["e4m3", "e5m2"])
def test_every_byte_becomes_a_half_and_comes_back(name):
    low = np.arange(256, dtype=np.uint16)
    bits = low | (low[::-1] << np.uint16(8))
    wide = computed(f"cvt.rn.f16x2.{name}x2", bits)
    expected = [pattern("f16", number(name, each)) for each in range(256)]
    assert_bits("f16", wide & 0xFFFF, expected, [low])
    assert_bits("f16", wide >> 16, expected[::-1], [low])
    greatest = {"e4m3": 0x7E, "e5m2": 0x7B}[name]
    nan_or_finite = [
        0x7F if number(name, each) == "nan" else min(each & 0x7F, greatest) | each & 0x80 for each in range(256)
    ]
    back = computed(f"cvt.rn.satfinite.{name}x2.f16x2", wide)
    assert (back & 0xFF).tolist() == nan_or_finite


@pytest.mark.parametrize("name", ["e4m3", "e5m2"])
def test_every_half_becomes_a_byte(name):
    bits = np.arange(1 << 16, dtype=np.uint16)
    greatest = number(name, {"e4m3": 0x7E, "e5m2": 0x7B}[name])

    def expected(each):
        value = number("f16", each)
        if value in ("inf", "-inf"):
            value = greatest if value == "inf" else -greatest
        return pattern(name, value if isinstance(value, str) else min(max(value, -greatest), greatest))

    result = computed(f"cvt.rn.satfinite.{name}x2.f16x2", bits.astype(np.uint32))
    assert_bits(name, result & 0xFF, [expected(each) for each in bits.tolist()], [bits])


@pytest.mark.parametrize("direction", ["rna", "rn", "rz"])
def test_tf32_leaves_the_low_13_bits_clear(direction):
    bits = inputs("f32")
    ties = np.array([0x3F801000, 0x3F803000, 0xBF801000, 0x3F800FFF], np.uint32)
    bits = np.concatenate([bits, ties])
    result = computed(f"cvt.{direction}.tf32.f32", bits)

    def expected(each):
        value = number("f32", each)
        short = pattern("tf32", value, direction)
        return short if value == "nan" else short << 13

    assert result.tolist() == [expected(each) for each in bits.tolist()]


def test_ftz_flushes_a_subnormal_f32_before_it_is_rounded():
    bits = np.array([1, 0x80000001, 0x007FFFFF, 0x00800000], np.uint32)
    assert computed("cvt.rpi.ftz.s32.f32", bits).tolist() == [0, 0, 0, 1]
    assert computed("cvt.rpi.s32.f32", bits).tolist() == [1, 0, 1, 1]
    tiny = np.array([pattern("f64", number("f32", 0x80400000))], np.uint64)
    assert computed("cvt.rn.ftz.f32.f64", tiny).tolist() == [0x80000000]


def test_sat_of_a_float_clamps_to_0_and_1():
    values = np.array([-1.5, -0.0, 0.25, 1, 7, np.inf, -np.inf, np.nan], np.float32)
    assert computed("cvt.sat.f32.f32", values.view(np.uint32)).view(np.float32).tolist() == [0, 0, 0.25, 1, 1, 1, 0, 0]


def test_pack_clamps_two_integers_and_moves_the_third_up():
    a, b, c = (np.array([each % (1 << 32)], np.uint32) for each in (300, -5, 0xABCD1234))
    assert computed("cvt.pack.sat.u8.s32.b32", a, b, c).tolist() == [0x1234FF00]
    assert computed("cvt.pack.sat.s8.s32.b32", a, b, c).tolist() == [0x12347FFB]
    assert computed("cvt.pack.sat.s4.s32.b32", a, b, c).tolist() == [0xCD12347B]
    assert computed("cvt.pack.sat.u2.s32.b32", a, b, c).tolist() == [0xBCD1234C]
    assert computed("cvt.pack.sat.s16.s32", a, b).tolist() == [0x012CFFFB]


@pytest.mark.parametrize(
    "instruction",
    [
        "cvt.f16.f32",
        "cvt.rn.f32.f16",
        "cvt.s32.f32",
        "cvt.f32.s32",
        "cvt.rni.f16.f32",
        "cvt.rn.sat.bf16.f32",
        "cvt.rn.e4m3x2.f32",
        "cvt.rna.bf16.f32",
    ],
)
def test_forms_that_the_isa_does_not_have_are_unknown(instruction):
    opcode, *modifiers = instruction.split(".")
    with pytest.raises(UnknownInstruction, match=instruction.replace(".", r"\.")):
        operation(opcode, tuple(modifiers))
