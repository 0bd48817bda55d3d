"""Comparison, selection, signs and classes of floating point, against comparison of rational numbers."""

import operator

import numpy as np
import pytest

from ptxsim.semantics import UnknownInstruction, operation
from ptxsim_cases.exact_floating import NAN, assert_bits, computed, number, operands, pattern

_OPERATORS = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
_NAMES = [*_OPERATORS, *(f"{each}u" for each in _OPERATORS), "num", "nan"]
_TYPES = ("f16", "bf16", "f32", "f64")


def key(value):
    """A number that orders values as IEEE 754 does."""
    return {"inf": float("inf"), "-inf": float("-inf"), "-0": 0}[value] if isinstance(value, str) else value


def truth(name, a, b):
    has_nan = "nan" in (a, b)
    if name in ("num", "nan"):
        return has_nan == (name == "nan")
    if has_nan:
        return name.endswith("u")
    return _OPERATORS[name.removesuffix("u") if name not in _OPERATORS else name](key(a), key(b))


def pairs(name, count=400):
    a, b = operands(name, 2, count)
    return a, b, [(number(name, x), number(name, y)) for x, y in zip(a.tolist(), b.tolist(), strict=True)]


@pytest.mark.parametrize("operator_name", _NAMES)
@pytest.mark.parametrize("name", _TYPES)
def test_setp(name, operator_name):
    a, b, values = pairs(name)
    results = operation("setp", (operator_name, name)).function(a, b)
    expected = [truth(operator_name, *each) for each in values]
    assert results[0].tolist() == expected
    assert len(results) == (1 if name in ("f16", "bf16") else 2)
    assert all(each.tolist() == [not right for right in expected] for each in results[1:])


@pytest.mark.parametrize("how", ["and", "or", "xor"])
def test_setp_combines_both_results_with_a_predicate(how):
    combine = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}[how]
    a, b, values = pairs("f32")
    c = np.arange(a.size) % 2 == 0
    p, q = operation("setp", ("ltu", how, "f32")).function(a, b, c)
    assert p.tolist() == [combine(truth("ltu", *each), bool(other)) for each, other in zip(values, c, strict=True)]
    assert q.tolist() == [combine(not truth("ltu", *each), bool(other)) for each, other in zip(values, c, strict=True)]


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_setp_and_set_of_packed_halves(name):
    a, b, values = pairs(name)
    low, high = slice(0, None, 2), slice(1, None, 2)
    wide = [each[low].astype(np.uint32) | each[high].astype(np.uint32) << np.uint32(16) for each in (a, b)]
    expected = [truth("le", *each) for each in values]
    p, q = operation("setp", ("le", f"{name}x2")).function(*wide)
    assert (p.tolist(), q.tolist()) == (expected[low], expected[high])
    one = pattern(name, 1)
    packed = [x * one | (y * one) << 16 for x, y in zip(expected[low], expected[high], strict=True)]
    assert computed(f"set.le.{name}x2.{name}x2", *wide).tolist() == packed
    ones = [x * 0xFFFF | (y * 0xFFFF) << 16 for x, y in zip(expected[low], expected[high], strict=True)]
    assert computed(f"set.le.u32.{name}x2", *wide).tolist() == ones


@pytest.mark.parametrize(("target", "true"), [("f32", 0x3F800000), ("u32", 0xFFFFFFFF), ("s32", 0xFFFFFFFF)])
def test_set(target, true):
    a, b, values = pairs("f32")
    expected = [true if truth("gtu", *each) else 0 for each in values]
    assert computed(f"set.gtu.{target}.f32", a, b).tolist() == expected


def test_ftz_compares_a_subnormal_number_as_zero():
    a, b = np.array([1, 0x80000001], np.uint32), np.array([0, 1], np.uint32)
    assert operation("setp", ("eq", "ftz", "f32")).function(a, b)[0].tolist() == [True, True]
    assert operation("setp", ("eq", "f32")).function(a, b)[0].tolist() == [False, False]


@pytest.mark.parametrize("opcode", ["min", "max"])
@pytest.mark.parametrize("flags", ["", "NaN", "xorsign.abs", "NaN.xorsign.abs"])
@pytest.mark.parametrize("name", _TYPES)
def test_min_and_max(name, flags, opcode):
    if name == "f64" and flags:
        with pytest.raises(UnknownInstruction):
            operation(opcode, (*flags.split("."), name))
        return
    a, b, values = pairs(name)
    instruction = ".".join(each for each in (opcode, flags, name) if each)

    def magnitude(value):
        return {"-inf": "inf", "-0": 0}.get(value, value) if isinstance(value, str) else abs(value)

    def expected(x, y, x_negative, y_negative):
        nan = x == "nan", y == "nan"
        if all(nan) or (any(nan) and "NaN" in flags):
            return NAN.get(name)
        if "abs" in flags:
            x, y = magnitude(x), magnitude(y)
        if any(nan):
            chosen = y if nan[0] else x
        else:
            # -0 is less than +0.
            order = sorted((x, y), key=lambda each: (key(each), each != "-0"))
            chosen = order[0] if opcode == "min" else order[1]
        if "xorsign" in flags and x_negative != y_negative:
            return pattern(name, chosen) | pattern(name, "-0")
        return pattern(name, chosen)

    top = pattern(name, "-0")
    signs = [(bool(x & top), bool(y & top)) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    right = [expected(*value, *sign) for value, sign in zip(values, signs, strict=True)]
    assert_bits(name, computed(instruction, a, b), right, [a, b])


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_neg_and_abs_of_every_half(name):
    bits = np.arange(1 << 16, dtype=np.uint16)
    assert computed(f"neg.{name}", bits).tolist() == [each ^ 0x8000 for each in range(1 << 16)]
    assert computed(f"abs.{name}", bits).tolist() == [each & 0x7FFF for each in range(1 << 16)]
    packed = bits.astype(np.uint32) << np.uint32(16) | np.uint32(0x8001)
    assert computed(f"neg.{name}x2", packed).tolist() == [(each ^ 0x8000) << 16 | 1 for each in range(1 << 16)]


def test_neg_and_abs_with_ftz():
    bits = np.array([1, 0x80000001, 0x80800000], np.uint32)
    assert computed("neg.ftz.f32", bits).tolist() == [0x80000000, 0, 0x00800000]
    assert computed("abs.ftz.f32", bits).tolist() == [0, 0, 0x00800000]


def test_copysign_takes_the_sign_of_its_first_operand():
    a, b = np.array([-3.0, 3.0, -0.0], np.float64), np.array([5.0, -5.0, np.inf], np.float64)
    assert computed("copysign.f64", a.view(np.uint64), b.view(np.uint64)).view(np.float64).tolist() == [-5, 5, -np.inf]


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_testp(name):
    (bits,) = operands(name, 1, 200)
    least = number(name, {"f32": 0x00800000, "f64": 1 << 52}[name])
    values = [number(name, each) for each in bits.tolist()]
    infinite = [each in ("inf", "-inf") for each in values]
    nan = [each == "nan" for each in values]
    subnormal = [not isinstance(each, str) and 0 < abs(each) < least for each in values]
    expected = {
        "infinite": infinite,
        "notanumber": nan,
        "number": [not each for each in nan],
        "subnormal": subnormal,
        "finite": [not (x or y) for x, y in zip(infinite, nan, strict=True)],
        "normal": [not (x or y or z) for x, y, z in zip(infinite, nan, subnormal, strict=True)],
    }
    for kind, right in expected.items():
        assert computed(f"testp.{kind}.{name}", bits).tolist() == right
