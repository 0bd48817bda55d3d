"""`wmma`: products of all types, shapes and orders from memory to memory, layouts, and what is found in misuse.

Expected numbers are numpy's, of integers that every type holds exactly.
"""

import re
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from ptxsim import PtxError, Report
from ptxsim.matrix.instructions import matrix_operation
from ptxsim.matrix.wmma import WmmaTransfer
from ptxsim_cases.kernel_text import kernel, kinds, launch
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


def bits_of(element: str) -> int:
    return _BITS.get(element, 32)


def registers(case: Case, operand: str) -> list[str]:
    """The registers of an operand: %r or %d with numbers of its own."""
    m, n, k = case.shape
    element = {"a": case.a, "b": case.a, "c": case.c, "d": case.d}[operand]
    held = {"a": m * k, "b": k * n}.get(operand, m * n) * bits_of(element) // 32
    count = 8 if element == "f16" and operand in "ab" else held // max(32, bits_of(element))
    first = {"a": 0, "b": 8, "c": 16, "d": 24}[operand]
    name = "%d" if element == "f64" else "%r"
    return [f"{name}{(first // 4 + 4 if element == 'f64' else first) + i}" for i in range(count)]


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


def multiply(case: Case, padding: int, bitwise: str = "", end: str = "", order: str = "row"):
    """The report, A, B and C as numbers, and D's bits, of one product by one warp; all operands in global memory."""
    (m, n, k), rng = case.shape, np.random.default_rng(len(str(case)))
    shapes = {"a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n)}
    types = {"a": case.a, "b": case.a, "c": case.c, "d": case.d}
    orders = {"a": case.orders[0], "b": case.orders[1], "c": order, "d": order}
    values = {each: numbers(rng, types[each], shapes[each]) for each in "abcd"}
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


def test_f64_may_say_how_it_rounds():
    case = next(case for case in CASES if case.a == "f64")
    for rounding in (".rn", ".rz", ".rm", ".rp"):
        assert multiply(case, 0, end=rounding)[0].ok


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


_A = "wmma.load.a.sync.aligned.row.m16n16k16"
_A_REGISTERS = "{%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}"
_C_REGISTERS = "{%r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15}"
#: 4 KiB of shared memory that all lanes write; %r16 is its address, %r17 the lane, %d0 the address of `x`.
_TILE = ".shared .align 32 .b8 tile[4096];"
_SETUP = "mov.u32 %r16, tile; mov.u32 %r17, %laneid; ld.param.u64 %d0, [x]; mov.u32 %r18, 0;\n"
_FILL = """shl.b32 %r20, %r17, 2; add.u32 %r20, %r20, %r16; mov.u32 %r21, 0;
fill: st.shared.u32 [%r20], %r18; add.u32 %r20, %r20, 128; add.u32 %r21, %r21, 1; setp.lt.u32 %p0, %r21, 32;
@%p0 bra fill;
"""
_READY = _FILL + "bar.warp.sync -1;\n"


def run(body: str, threads: int = 32) -> tuple[Report, np.ndarray]:
    x = np.zeros(1024, np.float32)
    return launch(kernel(_SETUP + body + "\nret;", ".param .u64 x", _TILE), [x], threads), x


def zeros(names: str) -> str:
    return " ".join(f"mov.b32 {name}, %r18;" for name in names.strip("{}").split(", "))


_STORE = "wmma.store.d.sync.aligned.row.m16n16k16"


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        (f"{_A}.shared.f16 {_A_REGISTERS}, [%r16];", "", ""),
        (f"{_A}.shared.f16 {_A_REGISTERS}, [%r16], 24;", "", ""),  # what CUDA C++ allows: multiples of 16 bytes
        (f"{_A}.shared.f16 {_A_REGISTERS}, [%r16+16];", "misaligned", "address of a matrix of wmma.load is no .* 32"),
        (f"{_A}.shared.s8 {{%r0, %r1}}, [%r16+8];", "", ""),
        (f"{_A}.shared.s8 {{%r0, %r1}}, [%r16+4];", "misaligned", "is no multiple of 8"),
        (
            f"{_A}.shared.f16 {_A_REGISTERS}, [%r16], 20;",
            "misaligned",
            "stride of wmma.load is no multiple of 16 bytes",
        ),
        (
            f"{_A}.shared.f16 {_A_REGISTERS}, [%r16], 8;",
            "out-of-bounds",
            "less than the 16 elements of a row or column",
        ),
        (f"{_A}.shared.f16 {_A_REGISTERS}, [%r16+3840];", "out-of-bounds", "outside of what is allocated"),
        (f"{_A}.global.f16 {_A_REGISTERS}, [%d0], 128;", "", ""),
        (f"{_A}.global.f16 {_A_REGISTERS}, [%d0], 136;", "out-of-bounds", "reads 16 bytes of global memory outside"),
        (
            f"shl.b32 %r20, %r17, 5; add.u32 %r20, %r20, %r16; {_A}.shared.f16 {_A_REGISTERS}, [%r20];",
            "barrier-divergence",
            "lanes of a warp give wmma.load different addresses or strides",
        ),
        (
            f"add.u32 %r20, %r17, 16; shl.b32 %r20, %r20, 3; {_A}.shared.f16 {_A_REGISTERS}, [%r16], %r20;",
            "barrier-divergence",
            "different addresses or strides",
        ),
        (
            f"{zeros(_C_REGISTERS)} {_STORE}.shared.f32 [%r16], {_C_REGISTERS}, 12;",
            "out-of-bounds",
            "stride of wmma.store is less than the 16",
        ),
        (
            f"{zeros(_C_REGISTERS)} {_STORE}.global.f32 [%d0+3968], {_C_REGISTERS};",
            "out-of-bounds",
            "writes 16 bytes of global memory outside",
        ),
    ],
)
def test_what_the_isa_asks_of_addresses_and_strides(body: str, kind: str, message: str):
    report, _ = run(_READY + body)
    assert kinds(report) == ({kind} if kind else set()), str(report)
    if kind:
        assert report.findings[0].kind == kind
        assert re.search(message, str(report))


@pytest.mark.parametrize("place", ["shared", "global", "local"])
def test_generic_addresses_are_of_shared_and_global_memory(place: str):
    address = {
        "shared": "cvt.u64.u32 %d1, %r16; cvta.shared.u64 %d1, %d1;",
        "global": "mov.b64 %d1, %d0;",
        "local": ".local .align 32 .b8 mine[1024]; mov.u64 %d1, mine; cvta.local.u64 %d1, %d1;",
    }[place]
    report, _ = run(_READY + f"{address} {_A}.f16 {_A_REGISTERS}, [%d1];")
    found = [finding.message for finding in report.findings if "global or shared memory only" in finding.message]
    assert bool(found) == (place == "local")
    assert report.ok == (place != "local"), str(report)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (f"{_A}.shared.f16 {_A_REGISTERS}, [%r16];", "uninitialized"),
        (_FILL + f"{_A}.shared.f16 {_A_REGISTERS}, [%r16];", "race"),
        (
            f"{zeros(_C_REGISTERS)} {_STORE}.shared.f32 [%r16], {_C_REGISTERS};"
            "shl.b32 %r20, %r17, 4; add.u32 %r20, %r20, %r16; ld.shared.u32 %r0, [%r20];",
            "race",
        ),
        (
            f"{zeros(_C_REGISTERS)} {_STORE}.shared.f32 [%r16], {_C_REGISTERS}; bar.warp.sync -1;"
            "shl.b32 %r20, %r17, 4; add.u32 %r20, %r20, %r16; ld.shared.u32 %r0, [%r20];",
            "",
        ),
        (
            _READY + f"setp.lt.u32 %p1, %r17, 9; @%p1 exit; {_A}.shared.f16 {_A_REGISTERS}, [%r16];",
            "barrier-divergence",
        ),
        (
            _READY
            + f"setp.lt.u32 %p1, %r17, 9; @%p1 bra low; mov.u32 %r20, 1; low: {_A}.shared.f16 {_A_REGISTERS}, [%r16];",
            "",
        ),
        (f"{_STORE}.global.f32 [%d0], {_C_REGISTERS};", "uninitialized"),
        (f"cvt.u64.u32 %d1, %r16; cvta.shared.u64 %d1, %d1; {_STORE}.f32 [%d1], {_C_REGISTERS};", ""),
        (
            f"{_STORE}.f32 [%d0], {_C_REGISTERS};",
            "uninitialized",
        ),
    ],
)
def test_what_is_found_of_memory_and_warps(body: str, kind: str):
    report, _ = run(body)
    assert kinds(report) == ({kind} if kind else set()), str(report)


def test_a_warp_that_is_not_full_loads_nothing_that_is_defined():
    report, _ = run(f"{_A}.global.f16 {_A_REGISTERS}, [%d0];", threads=40)
    assert kinds(report) == {"barrier-divergence"}


def test_lanes_that_never_come_to_a_wmma_are_found():
    report, _ = run(f"setp.lt.u32 %p1, %r17, 9; @%p1 bra end; {_A}.global.f16 {_A_REGISTERS}, [%d0]; end: bar.sync 0;")
    assert kinds(report) & {"deadlock", "barrier-divergence"}


def test_each_warp_has_its_own_matrix():
    # That of the second warp is 256 words on.
    body = f"""mov.u32 %r20, %tid.x; shr.u32 %r20, %r20, 5; mul.wide.u32 %d1, %r20, 1024; add.u64 %d0, %d0, %d1;
    wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {_C_REGISTERS}, [%d0];
    {" ".join(f"add.f32 %r{i}, %r{i}, 0f3F800000;" for i in range(8, 16))}
    {_STORE}.global.f32 [%d0], {_C_REGISTERS};"""
    report, x = run(body, threads=64)
    assert report.ok, str(report)
    assert (x[:512] == 1).all()
    assert (x[512:] == 0).all()


def test_an_undefined_register_of_a_makes_its_rows_of_d_undefined():
    # %r1 and %r3 hold rows 8 to 15 of A; D's registers 0, 1, 4, 5 hold rows 0 to 7.
    registers_of_d = "{%r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27}"
    load = f"{_A}.global.f16 {{%r0, _, %r2, _, %r4, %r5, %r6, %r7}}, [%d0];"
    multiply_text = f"""{zeros(_C_REGISTERS)} wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32
    {registers_of_d}, {_A_REGISTERS}, {_A_REGISTERS.replace("%r1,", "%r0,").replace("%r3", "%r0")}, {_C_REGISTERS};"""
    mine = "mul.wide.u32 %d1, %r17, 4; add.u64 %d2, %d0, %d1;"
    report, _ = run(f"{load} {multiply_text} {mine} st.global.b32 [%d2+2048], %r25;")
    assert report.ok, str(report)
    report, _ = run(f"{load} {multiply_text} {mine} st.global.b32 [%d2+2048], %r22;")
    assert kinds(report) == {"uninitialized"}


def test_undefined_registers_come_back_from_shared_memory():
    # %r10 and %r11 hold rows 8 to 15 of the left half.
    names = _C_REGISTERS.replace("%r10", "%r24").replace("%r11", "%r25")
    there = f"{zeros('{%r8, %r9, %r12, %r13, %r14, %r15}')} {_STORE}.shared.f32 [%r16], {names}; bar.warp.sync -1;"
    back = f"wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {_A_REGISTERS}, [%r16];"
    mine = "mul.wide.u32 %d1, %r17, 4; add.u64 %d2, %d0, %d1;"
    for register, found in (("%r0", set()), ("%r3", {"uninitialized"})):
        report, _ = run(f"{there} {back} {mine} st.global.b32 [%d2], {register};")
        assert kinds(report) == found, register


def test_a_load_counts_the_bytes_of_its_matrix():
    report, _ = run(f"{_A}.global.f16 {_A_REGISTERS}, [%d0];")
    assert report.counters.read["global", 16] == 512
    assert [each.units for each in report.counters.sectors.values()] == [16]


_FOUR = "{%r0}, {%r0}, {%r0}, {%r0}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("wmma.load.d.sync.aligned.row.m16n16k16.f16 {%r0}, [%d0];", "needs one matrix: .a, .b, .c"),
        ("wmma.load.a.sync.aligned.m16n16k16.f16 {%r0}, [%d0];", "needs one order: .row, .col"),
        ("wmma.load.a.sync.row.m16n16k16.f16 {%r0}, [%d0];", "'.aligned' is mandatory"),
        ("wmma.load.a.sync.aligned.row.m16n16k8.f16 {%r0}, [%d0];", r"\.f16 has no shape \.m16n16k8 .* \.m8n32k16"),
        ("wmma.load.a.sync.aligned.row.m16n16k16.f32 {%r0}, [%d0];", "needs one type"),
        ("wmma.load.a.sync.aligned.col.m8n8k32.s4 {%r0}, [%d0];", r"A of \.s4 must be '\.row'"),
        ("wmma.load.b.sync.aligned.row.m8n8k128.b1 {%r0}, [%d0];", r"B of \.b1 must be '\.col'"),
        ("wmma.load.a.sync.aligned.row.m16n16k16.local.f16 {%r0}, [%d0];", "'.local' is unknown here"),
        ("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r0, %r1}, [%d0];", "takes 8 registers here, not 2"),
        ("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r0};", "takes 2 or 3 operands, not 1"),
        ("wmma.store.c.sync.aligned.row.m16n16k16.f32 [%d0], {%r0};", "needs one matrix: .d"),
        ("wmma.store.d.sync.aligned.row.m16n16k16.bf16 [%d0], {%r0};", "needs one type"),
        (f"wmma.mma.sync.aligned.row.m16n16k16.f32.f32 {_FOUR};", "needs the orders of A and B"),
        (f"wmma.mma.sync.aligned.row.col.m16n16k16.f32 {_FOUR};", "needs the types of D, A, B and C"),
        (f"wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.u8.s32 {_FOUR};", "A and B are of one type"),
        (f"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16.f16.f32 {_FOUR};", "or .f16 and not written"),
        (f"wmma.mma.sync.aligned.row.col.m16n16k16.s32.s32 {_FOUR};", r"D cannot be \.s32 where A is \.f16"),
        (f"wmma.mma.sync.aligned.row.col.m16n16k16.f32.s32 {_FOUR};", r"C cannot be \.s32 where A is \.f16"),
        (f"wmma.mma.sync.aligned.row.row.m8n8k32.s32.s4.s4.s32 {_FOUR};", "must be '.row' and B '.col'"),
        (f"wmma.mma.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {_FOUR};", "'.popc' is mandatory"),
        (f"wmma.mma.or.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {_FOUR};", "operation on bits: .xor, .and"),
        (f"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32.satfinite {_FOUR};", "'.satfinite' is unknown"),
        (f"wmma.mma.sync.aligned.row.col.m16n8k16.f32.f32 {_FOUR};", r"has no shape \.m16n8k16"),
        ("wmma.fill.sync.aligned {%r0};", "needs one operation: .load, .store, .mma"),
    ],
)  # fmt: skip
def test_forms_that_do_not_exist_are_refused(text: str, message: str):
    with pytest.raises(PtxError, match=message):
        launch(kernel(_SETUP + text, ".param .u64 x", _TILE), [])
