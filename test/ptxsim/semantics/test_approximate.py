"""The approximate functions against Python's `math` and `decimal`, within the errors that the ISA states."""

import decimal
import math

import numpy as np
import pytest

from ptxsim_cases.exact_floating import DTYPES, computed, number, operands, pattern

_RELATIVE = {"rcp": 2.0**-23, "sqrt": 2.0**-23, "rsqrt": 2.0**-22.9, "ex2": 2.0**-22, "tanh": 2.0**-11, "lg2": 2.0**-22}


def exact(opcode, value):
    """The function of a positive or negative finite value, to 40 digits."""
    with decimal.localcontext(prec=40):
        x = decimal.Decimal(value.numerator) / decimal.Decimal(value.denominator)
        two = decimal.Decimal(2)
        match opcode:
            case "rcp":
                return 1 / x
            case "sqrt":
                return x.sqrt()
            case "rsqrt":
                return 1 / x.sqrt()
            case "lg2":
                return x.ln() / two.ln()
            case "ex2":
                return two**x
        power = (2 * x).exp()
        return (power - 1) / (power + 1)


@pytest.mark.parametrize("opcode", sorted(_RELATIVE))
def test_f32_is_within_the_documented_error(opcode):
    (bits,) = operands("f32", 1, 400)
    values = [number("f32", each) for each in bits.tolist()]
    result = computed(f"{opcode}.approx.f32", bits).tolist()
    checked = 0
    for value, after in zip(values, result, strict=True):
        if (
            isinstance(value, str)
            or value == 0
            or (value < 0 and opcode in ("sqrt", "rsqrt", "lg2"))
            or abs(value) < 1e-9
        ):
            continue
        if (opcode == "ex2" and abs(value) > 120) or (opcode == "tanh" and abs(value) > 40) or abs(value) > 1e30:
            continue
        right, near = exact(opcode, value), number("f32", after)
        near = decimal.Decimal(0) if isinstance(near, str) else decimal.Decimal(near.numerator) / near.denominator
        bound = decimal.Decimal(_RELATIVE[opcode]) * (abs(right) if opcode != "lg2" else max(abs(right), 1))
        assert abs(near - right) <= bound, (value, near, right)
        checked += 1
    assert checked > 100


@pytest.mark.parametrize(("opcode", "function"), [("sin", math.sin), ("cos", math.cos)])
def test_sin_and_cos_are_within_the_documented_error(opcode, function):
    values = np.linspace(-2 * math.pi, 2 * math.pi, 1001).astype(np.float32)
    result = computed(f"{opcode}.approx.f32", values.view(np.uint32)).view(np.float32)
    assert max(abs(float(near) - function(float(x))) for x, near in zip(values, result, strict=True)) <= 2.0**-20.5


@pytest.mark.parametrize(
    ("opcode", "name", "error"),
    [("ex2", "f16", 2.0**-9.9), ("ex2", "bf16", 2.0**-7), ("tanh", "f16", 2.0**-10.987), ("tanh", "bf16", 2.0**-8)],
)
def test_every_half_is_within_the_documented_error(opcode, name, error):
    # ex2 of f16 and bf16: relative; tanh of f16 and bf16: absolute. Subnormal results are exact to half a last place.
    bits = np.arange(1 << 16, dtype=np.uint16)
    ftz = ".ftz" if (opcode, name) == ("ex2", "bf16") else ""
    result = computed(f"{opcode}.approx{ftz}.{name}", bits)
    greatest = float(number(name, {"f16": 0x7BFF, "bf16": 0x7F7F}[name]))
    least = 2.0 ** {"f16": -24, "bf16": -126}[name]
    for before, after in zip(bits.tolist(), result.tolist(), strict=True):
        value, near = number(name, before), number(name, after)
        if isinstance(value, str):
            continue
        right = math.tanh(value) if opcode == "tanh" else 2.0 ** min(float(value), 1000)
        if right > greatest:
            assert near == "inf"
        else:
            scale = max(right, 0) if opcode == "ex2" else 1
            assert abs((0 if near == "-0" else near) - right) <= max(error * scale, least)


# What the ISA fixes, by instruction: (operand, result), as Python's floats.
_FIXED = {
    "rcp.approx.f32": [(-math.inf, -0.0), (-0.0, -math.inf), (0.0, math.inf), (math.inf, 0.0)],
    "rsqrt.approx.f32": [(-math.inf, math.nan), (-1.0, math.nan), (-0.0, -math.inf), (0.0, math.inf), (math.inf, 0.0)],
    "sqrt.approx.f32": [(-1.0, math.nan), (-0.0, -0.0), (0.0, 0.0), (math.inf, math.inf)],
    "lg2.approx.f32": [(-1.0, math.nan), (-0.0, -math.inf), (0.0, -math.inf), (math.inf, math.inf), (8.0, 3.0)],
    "ex2.approx.f32": [(-math.inf, 0.0), (-0.0, 1.0), (0.0, 1.0), (math.inf, math.inf), (-3.0, 0.125)],
    "sin.approx.f32": [(-math.inf, math.nan), (-0.0, -0.0), (0.0, 0.0), (math.inf, math.nan)],
    "cos.approx.f32": [(-math.inf, math.nan), (-0.0, 1.0), (0.0, 1.0), (math.inf, math.nan)],
    "tanh.approx.f32": [(-math.inf, -1.0), (-0.0, -0.0), (0.0, 0.0), (math.inf, 1.0)],
}


@pytest.mark.parametrize("instruction", sorted(_FIXED))
def test_special_values(instruction):
    before, after = zip(*_FIXED[instruction], (math.nan, math.nan), strict=True)
    result = computed(instruction, np.array(before, np.float32).view(np.uint32))
    expected = np.where(np.isnan(after), np.uint32(0x7FFFFFFF), np.array(after, np.float32).view(np.uint32))
    assert result.tolist() == expected.tolist()


def test_ftz_takes_a_subnormal_operand_for_a_zero():
    bits = np.array([1, 0x80000001], np.uint32)
    assert computed("rcp.approx.ftz.f32", bits).tolist() == [0x7F800000, 0xFF800000]
    assert computed("lg2.approx.ftz.f32", bits).tolist() == [0xFF800000, 0xFF800000]
    assert computed("lg2.approx.f32", bits).tolist() == [pattern("f32", -149), 0x7FFFFFFF]


def test_div_approx_gives_0_or_nan_for_a_divisor_beyond_2_to_the_126():
    huge = 0x7F000000  # 2^127
    a = np.array([0x3F800000, 0xBF800000, 0x7F800000, huge], np.uint32)
    assert computed("div.approx.f32", a, np.uint32(huge)).tolist() == [0, 0x80000000, 0x7FFFFFFF, 0]
    assert computed("div.full.f32", a, np.uint32(huge)).tolist()[3] == 0x3F800000
    assert computed("div.approx.f32", a, np.uint32(0x40000000)).tolist()[:2] == [0x3F000000, 0xBF000000]


@pytest.mark.parametrize(("instruction", "power"), [("rcp.approx.ftz.f64", 1.0), ("rsqrt.approx.ftz.f64", 0.5)])
def test_gross_f64_uses_and_gives_the_upper_words(instruction, power):
    values = np.array([3.0, 1e300, 1e-300, 0.1], np.float64)
    bits = values.view(np.uint64) & np.uint64(0xFFFFFFFF00000000)
    result = computed(instruction, bits | np.uint64(12345))
    assert not (result & np.uint64(0xFFFFFFFF)).any()
    expected = [float(each) ** -power for each in bits.view(np.float64)]
    assert np.allclose(result.view(DTYPES["f64"]).view(np.float64), expected, rtol=2.0**-19, atol=0)
