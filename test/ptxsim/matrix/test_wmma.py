"""`wmma`: products of all types, shapes and orders from memory to memory, roundings, and layouts.

Expected numbers are numpy's, of integers that every type holds exactly.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from ptxsim.matrix.instructions import matrix_operation
from ptxsim.matrix.wmma import WmmaTransfer
from ptxsim_cases.kernel_text import kernel, launch
from ptxsim_cases.matrix_values import encoded, integers

_K16 = ((16, 16, 16), (8, 32, 16), (32, 8, 16))
_ORDERS = list(product(("row", "col"), repeat=2))


@dataclass(frozen=True)
class Case:
    """One `wmma`: the types of D, A (and B) and C, the shape, and the orders of A and B."""

    d: str
    a: str
    c: str
    shape: tuple[int, int, int]
    orders: tuple[str, str]

    def __str__(self) -> str:
        return f"{self.d}.{self.a}.{self.c}.{self.shape_text}.{'.'.join(self.orders)}"

    @property
    def shape_text(self) -> str:
        m, n, k = self.shape
        return f"m{m}n{n}k{k}"

    @property
    def types_text(self) -> str:
        return f"{self.d}.{self.c}" if self.a == "f16" else f"{self.d}.{self.a}.{self.a}.{self.c}"


CASES = [
    *(
        Case(d, "f16", c, shape, orders)
        for d, c, shape, orders in product(("f16", "f32"), ("f16", "f32"), _K16, _ORDERS)
    ),
    *(Case("f32", "bf16", "f32", shape, orders) for shape, orders in product(_K16, _ORDERS)),
    *(Case("s32", a, "s32", shape, orders) for a, shape, orders in product(("s8", "u8"), _K16, _ORDERS)),
    *(Case("f32", "tf32", "f32", (16, 16, 8), orders) for orders in _ORDERS),
    *(Case("f64", "f64", "f64", (8, 8, 4), orders) for orders in _ORDERS),
    *(Case("s32", a, "s32", (8, 8, 32), ("row", "col")) for a in ("s4", "u4")),
    Case("s32", "b1", "s32", (8, 8, 128), ("row", "col")),
]
_BITS = {"f16": 16, "bf16": 16, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1, "f64": 64}

#: The first register of each operand; those of f64 are behind the addresses, %d0 to %d3.
_FIRST = {"%r": {"a": 0, "b": 8, "c": 16, "d": 24}, "%d": {"a": 4, "b": 6, "c": 8, "d": 10}}


def bits_of(element: str) -> int:
    return _BITS.get(element, 32)


def registers(case: Case, operand: str) -> list[str]:
    """The registers of an operand: %r or %d with numbers of its own."""
    m, n, k = case.shape
    element = {"a": case.a, "b": case.a, "c": case.c, "d": case.d}[operand]
    held = {"a": m * k, "b": k * n}.get(operand, m * n) * bits_of(element) // 32
    count = 8 if element == "f16" and operand in "ab" else held // max(32, bits_of(element))
    name = "%d" if element == "f64" else "%r"
    return [f"{name}{_FIRST[name][operand] + i}" for i in range(count)]


def vector(names: list[str]) -> str:
    return "{" + ", ".join(names) + "}"


def numbers(rng: np.random.Generator, element: str, shape: tuple[int, int]) -> np.ndarray:
    low, high = {"s4": (-8, 8), "u4": (0, 16), "b1": (0, 2)}.get(element, (0, 0))
    return rng.integers(low, high, shape) if high else integers(rng, element, shape)


def stored(matrix: np.ndarray, element: str, order: str, padding: int) -> np.ndarray:
    """A matrix as it lies in memory, rows or columns with `padding` elements behind each."""
    lines = matrix if order == "row" else matrix.T
    bits = bits_of(element)
    if bits < 8:
        parts = np.pad(lines & (1 << bits) - 1, ((0, 0), (0, padding))).reshape(len(lines), -1, 8 // bits)
        return (parts << np.arange(0, 8, bits)).sum(axis=-1).astype(np.uint8)
    return np.pad(encoded(lines, element), ((0, 0), (0, padding)), constant_values=0x3F)


def matrix_of(memory: np.ndarray, shape: tuple[int, int], order: str) -> np.ndarray:
    rows, columns = shape
    return memory[:, :columns] if order == "row" else memory[:, :rows].T


def multiply(case: Case, padding: int, bitwise: str = "", end: str = "", order: str = "row", **given: np.ndarray):
    """The report, A, B and C as numbers, and D's bits, of one product by one warp; all operands in global memory.

    Random numbers stand for the operands that are not given.
    """
    (m, n, k), rng = case.shape, np.random.default_rng(len(str(case)))
    shapes = {"a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n)}
    types = {"a": case.a, "b": case.a, "c": case.c, "d": case.d}
    orders = {"a": case.orders[0], "b": case.orders[1], "c": order, "d": order}
    values = {each: numbers(rng, types[each], shapes[each]) for each in "abcd"} | given
    memory = {each: stored(values[each], types[each], orders[each], padding) for each in "abcd"}
    lines = ["ld.param.u64 %d0, [a]; ld.param.u64 %d1, [b]; ld.param.u64 %d2, [c]; ld.param.u64 %d3, [d];"]
    for number, each in enumerate("abc"):
        stride = shapes[each][orders[each] == "row"] + padding
        words = f"wmma.load.{each}.sync.aligned.{orders[each]}.{case.shape_text}.global.{types[each]}"
        lines.append(f"{words} {vector(registers(case, each))}, [%d{number}], {stride};")
    operation = f"mma.{bitwise}.popc" if bitwise else "mma"
    operands = ", ".join(vector(registers(case, each)) for each in "dabc")
    lines.append(
        f"wmma.{operation}.sync.aligned.{'.'.join(case.orders)}.{case.shape_text}.{case.types_text}{end} {operands};"
    )
    stride = shapes["d"][order == "row"] + padding
    words = f"wmma.store.d.sync.aligned.{order}.{case.shape_text}.global.{case.d}"
    lines.append(f"{words} [%d3], {vector(registers(case, 'd'))}, {stride};\nret;")
    report = launch(
        kernel("\n".join(lines), ", ".join(f".param .u64 {each}" for each in "abcd")), list(memory.values())
    )
    return report, values, matrix_of(memory["d"], (m, n), order)


@pytest.mark.parametrize("case", [case for case in CASES if case.a != "b1"], ids=str)
def test_products_of_all_types_shapes_and_orders(case: Case):
    report, values, d = multiply(case, padding=0)
    assert report.ok, str(report)
    assert (d == encoded(values["a"] @ values["b"] + values["c"], case.d)).all()


@pytest.mark.parametrize("order", ["row", "col"])
@pytest.mark.parametrize("case", CASES[:: len(_ORDERS) + 1], ids=str)
def test_products_of_parts_of_larger_matrices(case: Case, order: str):
    report, values, d = multiply(case, padding=32, order=order, bitwise="and" if case.a == "b1" else "")
    assert report.ok, str(report)
    assert (d == encoded(values["a"] @ values["b"] + values["c"], case.d)).all()


@pytest.mark.parametrize("bitwise", ["and", "xor"])
def test_products_of_single_bits_count_bits(bitwise: str):
    report, values, d = multiply(CASES[-1], padding=0, bitwise=bitwise)
    assert report.ok, str(report)
    combined = getattr(np, f"bitwise_{bitwise}")(values["a"][:, None, :], values["b"].T[None, :, :])
    assert (d.view(np.int32) == combined.sum(axis=-1) + values["c"]).all()


# One product, ±2^-80, is so small beside C = ±1 that the rounding decides alone, in whichever order the sum is formed.
@pytest.mark.parametrize(
    ("rounding", "moves", "towards"),
    [
        ("", lambda added, c: False, 0),
        (".rn", lambda added, c: False, 0),
        (".rz", lambda added, c: added != c, 0),
        (".rm", lambda added, c: added < 0, -np.inf),
        (".rp", lambda added, c: added > 0, np.inf),
    ],
)
def test_f64_may_say_how_it_rounds(
    rounding: str, moves: Callable[[np.ndarray, np.ndarray], np.ndarray], towards: float
):
    signs = np.resize([1.0, -1.0], 8)
    a, b, c = np.zeros((8, 4)), np.zeros((4, 8)), np.repeat(signs[:, None], 8, axis=1)
    a[:, 2], b[2] = 2.0**-40, signs * 2.0**-40
    report, _, d = multiply(Case("f64", "f64", "f64", (8, 8, 4), ("row", "col")), 0, end=rounding, a=a, b=b, c=c)
    assert report.ok, str(report)
    assert (d.view(np.float64) == np.where(moves(signs, c), np.nextafter(c, towards), c)).all()


# Where the lanes hold A (row-major, stride 256), as ptxas 13.0 loads it for sm_80 and sm_90a: the bytes from the
# address g · stride + t · 4 on (t · 8 for accumulators) of each register.
@pytest.mark.parametrize(
    ("text", "group", "thread", "places"),
    [
        ("a.row.m16n16k16.f16", 512, 4, [0, 0x1000, 0x10, 0x1010] * 2),
        ("a.row.m32n8k16.f16", 512, 4, [0, 0x1000, 0x10, 0x1010, 0x2000, 0x3000, 0x2010, 0x3010]),
        ("a.row.m8n32k16.f16", 512, 4, [0, 0x10] * 4),
        ("b.col.m16n16k16.f16", 512, 4, [0, 0x10, 0x1000, 0x1010] * 2),
        ("b.col.m8n32k16.bf16", 512, 4, [0, 0x1000, 0x10, 0x1010, 0x2000, 0x3000, 0x2010, 0x3010]),
        ("a.row.m16n16k16.s8", 256, 4, [0, 0x800]),
        ("b.col.m8n32k16.s8", 256, 4, [0, 0x800, 0x1000, 0x1800]),
        ("b.col.m32n8k16.s8", 256, 4, [0]),
        ("a.row.m16n16k8.tf32", 1024, 4, [0, 0x2000, 0x10, 0x2010]),
        ("b.col.m16n16k8.tf32", 1024, 4, [0, 0x10, 0x2000, 0x2010]),
        ("c.row.m16n16k16.f32", 1024, 8, [0, 4, 0x2000, 0x2004, 0x20, 0x24, 0x2020, 0x2024]),
        ("c.row.m32n8k16.s32", 1024, 8, [0, 4, 0x2000, 0x2004, 0x4000, 0x4004, 0x6000, 0x6004]),
        ("c.col.m8n32k16.f32", 1024, 8, [0, 4, 0x2000, 0x2004, 0x4000, 0x4004, 0x6000, 0x6004]),
        ("c.col.m8n32k16.f16", 512, 4, [0, 0x1000, 0x2000, 0x3000]),
        ("a.row.m8n8k4.f64", 2048, 8, [0]),
        ("c.row.m8n8k4.f64", 2048, 16, [0, 8]),
        ("a.row.m8n8k32.s4", 128, 4, [0]),
        ("b.col.m8n8k128.b1", 32, 4, [0]),
    ],
)
def test_lanes_hold_what_ptxas_gives_them(text: str, group: int, thread: int, places: list[int]):
    operand, *rest = text.split(".")
    transfer = matrix_operation("wmma", ("load", operand, "sync", "aligned", *rest))
    assert isinstance(transfer, WmmaTransfer)
    stride = 256
    offsets = transfer.offsets(np.array([[stride]], np.uint32))
    size = transfer.register_bits // 8
    memory = np.arange(32 * stride * 8, dtype=np.uint32)  # the word at each place is its number
    chunk = np.arange(transfer.words * transfer.word_bytes)
    octets = memory.view(np.uint8)[offsets[..., None] + chunk]
    found = transfer.loaded(octets.view(f"u{transfer.word_bytes}")).view(np.uint32).reshape(32, -1, size // 4)
    for lane in range(32):
        first = lane // 4 * group + lane % 4 * thread
        assert (found[lane, :, 0] * 4).tolist() == [first + place for place in places], lane


@pytest.mark.parametrize(
    ("case", "counts"),
    [
        (CASES[0], (8, 8, 4, 4)),
        (Case("f32", "f16", "f16", (8, 32, 16), ("row", "row")), (8, 8, 4, 8)),
        (Case("f32", "bf16", "f32", (8, 32, 16), ("row", "row")), (2, 8, 8, 8)),
        (Case("s32", "s8", "s32", (32, 8, 16), ("row", "row")), (4, 1, 8, 8)),
        (Case("f32", "tf32", "f32", (16, 16, 8), ("row", "row")), (4, 4, 8, 8)),
        (Case("f64", "f64", "f64", (8, 8, 4), ("row", "row")), (1, 1, 2, 2)),
        (Case("s32", "s4", "s32", (8, 8, 32), ("row", "col")), (1, 1, 2, 2)),
    ],
    ids=str,
)
def test_fragments_have_as_many_registers_as_the_isa_says(case: Case, counts: tuple[int, int, int, int]):
    words = f"mma.sync.aligned.{'.'.join(case.orders)}.{case.shape_text}.{case.types_text}"
    found = matrix_operation("wmma", tuple(words.split(".")))
    assert (found.a_registers, found.b_registers, found.c_registers, found.d_registers) == counts
    assert tuple(len(registers(case, each)) for each in "abcd") == counts
