"""Arithmetic on floating point against rational arithmetic: every format, rounding and special value."""

from fractions import Fraction

import numpy as np
import pytest

from ptxsim_cases.exact_floating import DTYPES, arithmetic, assert_bits, computed, number, operands, pattern

_ARITY = {"add": 2, "sub": 2, "mul": 2, "div": 2, "sqrt": 1, "fma": 3}


@pytest.mark.parametrize("direction", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("opcode", ["add", "sub", "mul", "div", "sqrt", "fma"])
@pytest.mark.parametrize(("name", "count"), [("f32", 400), ("f64", 100)])
def test_every_rounding_is_exact(name, count, opcode, direction):
    arrays = operands(name, _ARITY[opcode], count)
    expected = [arithmetic(name, direction, opcode, bits) for bits in zip(*map(np.ndarray.tolist, arrays), strict=True)]
    assert_bits(name, computed(f"{opcode}.{direction}.{name}", *arrays), expected, arrays)


@pytest.mark.parametrize("opcode", ["add", "sub", "mul", "fma"])
@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_halves_are_rounded_once(name, opcode):
    arrays = operands(name, _ARITY[opcode], 1500)
    expected = [arithmetic(name, "rn", opcode, bits) for bits in zip(*map(np.ndarray.tolist, arrays), strict=True)]
    assert_bits(name, computed(f"{opcode}.rn.{name}", *arrays), expected, arrays)


@pytest.mark.parametrize("name", ["f32", "f16", "bf16"])
def test_one_element_at_a_time_gives_the_same(name):
    # The faster ways leave an array to the general one if any element needs it: alone, each takes its own.
    arrays = operands(name, 3, 150, seed=5)
    together = computed(f"fma.rn.{name}", *arrays)
    alone = [
        computed(f"fma.rn.{name}", *(each[index : index + 1] for each in arrays))[0] for index in range(len(together))
    ]
    assert together.tolist() == alone


def test_fma_of_f32_is_rounded_once_where_float64_gives_a_midpoint():
    # (1 + 2^-16)(1 - 2^-16) 2^-24 is less than 2^-24, but not where 1 + 2^-23 has been added in float64.
    a, b, c = (1 + Fraction(1, 1 << 16)) / 4096, (1 - Fraction(1, 1 << 16)) / 4096, 1 + Fraction(1, 1 << 23)
    bits = [np.array([pattern("f32", each)], np.uint32) for each in (a, b, c)]
    assert computed("fma.rn.f32", *bits).tolist() == [0x3F800001]
    assert computed("fma.rp.f32", *bits).tolist() == [0x3F800002]


def test_fma_of_f64_is_rounded_once_where_its_parts_make_a_midpoint():
    # As above: the product is less than 2^-53 by 2^-157.
    last = Fraction(1, 1 << 52)
    a, b, c = 1 + last, (1 - last) / 2**53, 1 + last
    bits = [np.array([pattern("f64", each)], np.uint64) for each in (a, b, c)]
    assert computed("fma.rn.f64", *bits).tolist() == [0x3FF0000000000001]
    assert computed("fma.rp.f64", *bits).tolist() == [0x3FF0000000000002]


def test_a_product_far_below_the_addend_counts_in_its_direction_only():
    one, tiny = np.array([0x3F800000], np.uint32), np.array([1], np.uint32)
    assert computed("fma.rn.f32", tiny, tiny, one).tolist() == [0x3F800000]
    assert computed("fma.rp.f32", tiny, tiny, one).tolist() == [0x3F800001]
    assert computed("fma.rm.f32", tiny, tiny ^ np.uint32(1 << 31), one).tolist() == [0x3F7FFFFF]


@pytest.mark.parametrize("opcode", ["add", "sub", "mul"])
def test_bf16_below_the_normal_numbers(opcode):
    # Products and sums about the least number, where float32 has lost bits of a product.
    draw = np.random.default_rng(3)
    exponents = {"mul": (8, 72), "add": (0, 3), "sub": (0, 3)}[opcode]
    arrays = [(draw.integers(*exponents, 1500) << 7 | draw.integers(0, 128, 1500)).astype(np.uint16) for _ in range(2)]
    expected = [arithmetic("bf16", "rn", opcode, bits) for bits in zip(*map(np.ndarray.tolist, arrays), strict=True)]
    assert len(set(expected)) > 40
    assert_bits("bf16", computed(f"{opcode}.rn.bf16", *arrays), expected, arrays)


def test_fma_of_f64_is_exact_at_the_ends_of_the_range():
    # The product overflows or underflows, the sum does not.
    huge, tiny = pattern("f64", number("f64", 0x7FEFFFFFFFFFFFFF)), 1
    arrays = [
        np.array(each, np.uint64)
        for each in ([huge, tiny, tiny], [0x4000000000000000, tiny, tiny], [huge | 1 << 63, tiny, 0])
    ]
    expected = [arithmetic("f64", "rn", "fma", bits) for bits in zip(*map(np.ndarray.tolist, arrays), strict=True)]
    assert computed("fma.rn.f64", *arrays).tolist() == expected == [huge, tiny, 0]


@pytest.mark.parametrize("direction", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("name", ["f32", "f64"])
def test_rcp_is_one_divided(name, direction):
    (a,) = operands(name, 1, 200)
    one = pattern(name, 1)
    expected = [arithmetic(name, direction, "div", (one, bits)) for bits in a.tolist()]
    assert_bits(name, computed(f"rcp.{direction}.{name}", a), expected, [a])


def test_mad_is_fma():
    arrays = operands("f32", 3, 200)
    assert computed("mad.rz.ftz.f32", *arrays).tolist() == computed("fma.rz.ftz.f32", *arrays).tolist()


@pytest.mark.parametrize("name", ["f32", "f16"])
def test_ftz_flushes_operands_and_results_and_keeps_their_signs(name):
    arrays = operands(name, 2, 400)

    def flushed(bits):
        value = number(name, bits)
        least = number(name, {"f32": 0x00800000, "f16": 0x0400}[name])
        subnormal = not isinstance(value, str) and 0 < abs(value) < least
        return bits & {"f32": 1 << 31, "f16": 1 << 15}[name] if subnormal else bits

    pairs = zip(*map(np.ndarray.tolist, arrays), strict=True)
    expected = [flushed(arithmetic(name, "rn", "mul", [flushed(each) for each in bits])) for bits in pairs]
    assert_bits(name, computed(f"mul.rn.ftz.{name}", *arrays), expected, arrays)


@pytest.mark.parametrize("name", ["f32", "f16"])
def test_sat_clamps_to_0_and_1_and_takes_nan_to_0(name):
    arrays = operands(name, 2, 400)
    one = pattern(name, 1)

    def clamped(bits):
        value = number(name, bits)
        if value in ("nan", "-inf", "-0") or (value != "inf" and value <= 0):
            return 0
        return one if value == "inf" or value > 1 else bits

    pairs = zip(*map(np.ndarray.tolist, arrays), strict=True)
    expected = [clamped(arithmetic(name, "rn", "add", bits)) for bits in pairs]
    assert_bits(name, computed(f"add.sat.{name}", *arrays), expected, arrays)


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_relu_takes_negative_results_to_0_and_keeps_nan(name):
    arrays = operands(name, 3, 400)
    sign = 1 << 15
    triples = zip(*map(np.ndarray.tolist, arrays), strict=True)
    exact = [arithmetic(name, "rn", "fma", bits) for bits in triples]
    expected = [0 if bits & sign else bits for bits in exact]
    assert any(bits & sign for bits in exact)
    assert_bits(name, computed(f"fma.rn.relu.{name}", *arrays), expected, arrays)


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_packed_halves_are_two_operations(name):
    arrays = [each.reshape(-1, 2) for each in operands(name, 3, 256)]
    packed = [each.astype(np.uint32)[:, 0] | each.astype(np.uint32)[:, 1] << np.uint32(16) for each in arrays]
    result = computed(f"fma.rn.{name}x2", *packed)
    halves = computed(f"fma.rn.{name}", *arrays)
    assert (result & 0xFFFF).tolist() == halves[:, 0].tolist()
    assert (result >> 16).tolist() == halves[:, 1].tolist()


@pytest.mark.parametrize(
    "instruction", ["fma.rn.f32", "fma.rz.f32", "fma.rn.f16x2", "fma.rn.bf16x2", "fma.rn.f64", "fma.rp.f64"]
)
def test_shapes_broadcast(instruction):
    # A warp's worth of one operand, a uniform one, and one value for all.
    name = instruction.rsplit(".", 1)[1].removesuffix("x2")
    dtype = np.uint32 if instruction.endswith("x2") else DTYPES[name]
    a = np.arange(64, dtype=dtype).reshape(2, 32) << dtype(8)
    b, c = dtype(0x3C00), np.broadcast_to(np.array([[7], [9]], dtype), (2, 32))
    result = computed(instruction, a, b, c)
    whole = computed(instruction, a, np.full_like(a, b), np.array(c))
    assert result.shape == (2, 32)
    assert result.dtype == dtype
    assert result.tolist() == whole.tolist()
