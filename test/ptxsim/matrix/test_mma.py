"""`mma`: the layouts of the ISA's tables, by products of distinct matrices, and the arithmetic of its accumulators.

Every layout here is written down again from PTX ISA §9.7.14.5.1–13: g is the groupID, t the threadID_in_group.
"""

import struct
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from ptxsim.matrix.instructions import matrix_operation
from ptxsim.matrix.mma import WarpMma
from ptxsim_cases.matrix_values import encoded, integers, registers_of

Place = Callable[[int, int, int], tuple[int, int]]


class Table(NamedTuple):
    """The extents, elements a lane, and the row and column of element i of A, B and C."""

    extents: tuple[int, int, int]
    counts: tuple[int, int, int]
    a: Place
    b: Place
    c: Place


def _c16(g: int, t: int, i: int) -> tuple[int, int]:
    return (g if i < 2 else g + 8), t * 2 + (i & 1)


M16N8K8_B16 = Table(
    (16, 8, 8),
    (4, 2, 4),
    lambda g, t, i: (g if i < 2 else g + 8, t * 2 + (i & 1)),
    lambda g, t, i: (t * 2 + i, g),
    _c16,
)
M16N8K16_B16 = Table(
    (16, 8, 16),
    (8, 4, 4),
    lambda g, t, i: (g if i in (0, 1, 4, 5) else g + 8, t * 2 + (i & 1) + (8 if i >= 4 else 0)),
    lambda g, t, i: (t * 2 + (i & 1) + (8 if i >= 2 else 0), g),
    _c16,
)
M16N8K4_TF32 = Table((16, 8, 4), (2, 1, 4), lambda g, t, i: (g if i == 0 else g + 8, t), lambda g, t, i: (t, g), _c16)
M16N8K8_TF32 = Table(
    (16, 8, 8),
    (4, 2, 4),
    lambda g, t, i: (g if i in (0, 2) else g + 8, t if i < 2 else t + 4),
    lambda g, t, i: (t if i == 0 else t + 4, g),
    _c16,
)
M8N8K16_B8 = Table(
    (8, 8, 16),
    (4, 4, 2),
    lambda g, t, i: (g, t * 4 + i),
    lambda g, t, i: (t * 4 + i, g),
    lambda g, t, i: (g, t * 2 + i),
)
M16N8K16_B8 = Table(
    (16, 8, 16),
    (8, 4, 4),
    lambda g, t, i: (g if i < 4 else g + 8, t * 4 + (i & 3)),
    lambda g, t, i: (t * 4 + i, g),
    _c16,
)
M16N8K32_B8 = Table(
    (16, 8, 32),
    (16, 8, 4),
    lambda g, t, i: (g if i < 4 or 8 <= i < 12 else g + 8, t * 4 + (i & 3) + (0 if i < 8 else 16)),
    lambda g, t, i: (t * 4 + (i & 3) + (0 if i < 4 else 16), g),
    _c16,
)
M8N8K4_F64 = Table((8, 8, 4), (1, 1, 2), lambda g, t, i: (g, t), lambda g, t, i: (t, g), lambda g, t, i: (g, t * 2 + i))
M16N8K4_F64 = Table((16, 8, 4), (2, 1, 4), lambda g, t, i: (g if i == 0 else g + 8, t), lambda g, t, i: (t, g), _c16)
M16N8K8_F64 = Table(
    (16, 8, 8),
    (4, 2, 4),
    lambda g, t, i: (g if i in (0, 2) else g + 8, t if i < 2 else t + 4),
    lambda g, t, i: (t if i == 0 else t + 4, g),
    _c16,
)
M16N8K16_F64 = Table(
    (16, 8, 16),
    (8, 4, 4),
    lambda g, t, i: (g if i % 2 == 0 else g + 8, i // 2 * 4 + t),
    lambda g, t, i: (t + i * 4, g),
    _c16,
)

CASES = [
    *((M16N8K8_B16, f"m16n8k8.row.col.{d}.f16.f16.{d}") for d in ("f16", "f32")),
    *((M16N8K16_B16, f"m16n8k16.row.col.{d}.f16.f16.{d}") for d in ("f16", "f32")),
    (M16N8K8_B16, "m16n8k8.row.col.f32.bf16.bf16.f32"),
    (M16N8K16_B16, "m16n8k16.row.col.f32.bf16.bf16.f32"),
    (M16N8K4_TF32, "m16n8k4.row.col.f32.tf32.tf32.f32"),
    (M16N8K8_TF32, "m16n8k8.row.col.f32.tf32.tf32.f32"),
    *((M16N8K16_B8, f"m16n8k16.row.col.{d}.e4m3.e5m2.{d}") for d in ("f16", "f32")),
    *((M16N8K32_B8, f"m16n8k32.row.col.{d}.e5m2.e4m3.{d}") for d in ("f16", "f32")),
    (M8N8K16_B8, "m8n8k16.row.col.s32.s8.u8.s32"),
    (M16N8K16_B8, "m16n8k16.row.col.s32.u8.s8.s32"),
    (M16N8K32_B8, "m16n8k32.row.col.s32.s8.s8.s32"),
    (M8N8K4_F64, "m8n8k4.row.col.f64.f64.f64.f64"),
    (M16N8K4_F64, "m16n8k4.row.col.f64.f64.f64.f64"),
    (M16N8K8_F64, "m16n8k8.row.col.f64.f64.f64.f64"),
    (M16N8K16_F64, "m16n8k16.row.col.f64.f64.f64.f64"),
]


def mma(text: str) -> WarpMma:
    operation = matrix_operation("mma", ("sync", "aligned", *text.split(".")))
    assert isinstance(operation, WarpMma)
    return operation


@pytest.mark.parametrize(("table", "text"), CASES, ids=[text for _, text in CASES])
def test_the_product_of_fragments_laid_out_by_the_tables(table: Table, text: str) -> None:
    operation, rng = mma(text), np.random.default_rng(len(text))
    types = operation.types
    (m, n, k), warps = table.extents, 3
    a, b = integers(rng, types.a, (warps, m, k)), integers(rng, types.b, (warps, k, n))
    c = integers(rng, types.result, (warps, m, n))
    d = operation.compute(
        registers_of(encoded(a, types.a), table.a, table.counts[0]),
        registers_of(encoded(b, types.b), table.b, table.counts[1]),
        registers_of(encoded(c, types.result), table.c, table.counts[2]),
    )
    expected = registers_of(encoded(a @ b + c, types.result), table.c, table.counts[2])
    assert d.dtype == expected.dtype
    np.testing.assert_array_equal(d, expected)


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("m16n8k16.row.col.f32.f16.f16.f32", (4, 2, 4, 32)),
        ("m16n8k16.row.col.f16.f16.f16.f16", (4, 2, 2, 32)),
        ("m16n8k8.row.col.f16.f16.f16.f16", (2, 1, 2, 32)),
        ("m16n8k4.row.col.f32.tf32.tf32.f32", (2, 1, 4, 32)),
        ("m16n8k32.row.col.s32.s8.s8.s32", (4, 2, 4, 32)),
        ("m8n8k16.row.col.s32.s8.s8.s32", (1, 1, 2, 32)),
        ("m8n8k4.row.col.f64.f64.f64.f64", (1, 1, 2, 64)),
        ("m16n8k16.row.col.f64.f64.f64.f64", (8, 4, 4, 64)),
    ],
)
def test_register_counts(text: str, counts: tuple[int, int, int, int]) -> None:
    operation = mma(text)
    assert (operation.a_registers, operation.b_registers, operation.d_registers, operation.register_bits) == counts


SINGLE = {
    "f16": M16N8K16_B16,
    "bf16": M16N8K16_B16,
    "tf32": M16N8K8_TF32,
    "s8": M16N8K32_B8,
    "u8": M16N8K32_B8,
    "f64": M8N8K4_F64,
}


def one_element(text: str, a: list[int], b: list[int], c: int) -> int:
    """The bits of D[0, 0] where row 0 of A, column 0 of B and C[0, 0] are given and the rest is zero."""
    operation = mma(text)
    types, table = operation.types, SINGLE[operation.types.a]
    m, n, k = table.extents
    row, column, sums = (
        encoded(np.zeros(shape, int), element)
        for shape, element in (((m, k), types.a), ((k, n), types.b), ((m, n), types.result))
    )
    row[0, : len(a)], column[: len(b), 0], sums[0, 0] = a, b, c
    d = operation.compute(
        registers_of(row, table.a, table.counts[0]),
        registers_of(column, table.b, table.counts[1]),
        registers_of(sums, table.c, table.counts[2]),
    )
    return int(d[0, 0]) & (0xFFFF if types.result == "f16" else ~0)  # D[0, 1] is in the upper half of an f16x2


def f16(number: float) -> int:
    return struct.unpack("<H", struct.pack("<e", number))[0]


def f32(number: float) -> int:
    return struct.unpack("<I", struct.pack("<f", number))[0]


def f64(number: float) -> int:
    return struct.unpack("<Q", struct.pack("<d", number))[0]


F16_F32 = "m16n8k16.row.col.f32.f16.f16.f32"
F16_F16 = "m16n8k16.row.col.f16.f16.f16.f16"


def test_products_of_f16_are_exact_in_f32() -> None:
    # (1 + 2^-10)² = 1 + 2^-9 + 2^-20, which needs 21 bits.
    factor = f16(1 + 2**-10)
    assert one_element(F16_F32, [factor], [factor], 0) == f32(1 + 2**-9 + 2**-20)


def test_subnormal_f16_are_not_flushed() -> None:
    assert one_element(F16_F32, [1], [1], 0) == f32(2**-48)


def test_the_sum_is_rounded_once_to_nearest_even() -> None:
    # 2^24 + 1 + 1 is 2^24 + 2 when summed exactly; two roundings of 2^24 + 1 to even would lose both.
    assert one_element(F16_F32, [f16(1), f16(1)], [f16(1), f16(1)], f32(2**24)) == f32(2**24 + 2)
    assert one_element(F16_F32, [f16(1)], [f16(1)], f32(2**24)) == f32(2**24)


def test_an_f16_accumulator_is_rounded_from_the_exact_sum() -> None:
    # 2048 + 1 + 2^-10 lies above the middle of 2048 and 2050.
    assert one_element(F16_F16, [f16(1), f16(2**-10)], [f16(1), f16(1)], f16(2048)) == f16(2050)
    assert one_element(F16_F16, [f16(1)], [f16(1)], f16(2048)) == f16(2048)


@pytest.mark.parametrize(("text", "infinity"), [(F16_F16, 0x7C00), ("m16n8k16.row.col.f32.bf16.bf16.f32", 0x7F800000)])
def test_overflow_gives_infinity(text: str, infinity: int) -> None:
    large = 0x7BFF if text == F16_F16 else 0x7F7F
    assert one_element(text, [large], [large], 0) == infinity


@pytest.mark.parametrize(("text", "nan"), [(F16_F32, 0x7FFFFFFF), (F16_F16, 0x7FFF)])
def test_infinity_times_zero_is_the_canonical_nan(text: str, nan: int) -> None:
    assert one_element(text, [0x7C00], [0], 0) == nan


def test_nan_of_c_becomes_canonical() -> None:
    assert one_element(F16_F32, [], [], 0xFF800001) == 0x7FFFFFFF


def test_tf32_ignores_the_lower_13_bits() -> None:
    text = "m16n8k8.row.col.f32.tf32.tf32.f32"
    assert one_element(text, [f32(1) | 0x1FFF], [f32(3) | 0x1000], 0) == f32(3)


S8 = "m16n8k32.row.col.s32.s8.s8.s32"


@pytest.mark.parametrize(
    ("text", "c", "expected"),
    [
        (S8, 2**31 - 1, -(2**31) + 127 * 127 - 1),  # wraps
        (S8 + ".satfinite", 2**31 - 1, 2**31 - 1),
        (S8 + ".satfinite", -(2**31), -(2**31) + 127 * 127),
    ],
)
def test_integer_overflow_wraps_or_saturates(text: str, c: int, expected: int) -> None:
    assert one_element(text, [127], [127], c & 0xFFFFFFFF) == expected & 0xFFFFFFFF


def test_negative_overflow_saturates() -> None:
    text = "m16n8k32.row.col.satfinite.s32.s8.u8.s32"
    assert one_element(text, [0x80], [255], -(2**31) & 0xFFFFFFFF) == 2**31


def test_unsigned_bytes_are_not_sign_extended() -> None:
    assert one_element("m16n8k32.row.col.s32.u8.u8.s32", [255], [255], 0) == 255 * 255


F64 = "m8n8k4.row.col.f64.f64.f64.f64"


def test_f64_products_are_fused_with_the_sum() -> None:
    # (1 + 2^-30)² - 1 is 2^-29 + 2^-60, whose last term a rounded product would lose.
    assert one_element(F64, [f64(1 + 2**-30)], [f64(1 + 2**-30)], f64(-1)) == f64(2**-29 + 2**-60)


def test_f64_rounding_towards_zero() -> None:
    # (1 + 2^-52)² + 2^-53 + 2^-54 is three quarters of a unit above 1 + 2^-51.
    factor, addend = [f64(1 + 2**-52)], f64(2**-53 + 2**-54)
    assert one_element(F64, factor, factor, addend) == f64(1 + 2**-51 + 2**-52)
    assert one_element(F64 + ".rz", factor, factor, addend) == f64(1 + 2**-51)
