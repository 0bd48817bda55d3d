"""`wmma`: what is found in misuse, what is undefined, and the forms that are refused."""

import re

import numpy as np
import pytest

from ptxsim import PtxError, Report
from ptxsim_cases.kernel_text import kernel, kinds, launch

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


def require_found(report: Report, kind: str, message: str) -> None:
    """Check that all findings are of that kind and one says so, or that there is none where it is ""."""
    assert kinds(report) == ({kind} if kind else set()), str(report)
    assert re.search(message, str(report))


_STORE = "wmma.store.d.sync.aligned.row.m16n16k16"


# CUDA C++ allows strides that are multiples of 16 bytes.
@pytest.mark.parametrize(
    ("setup", "place", "kind", "message"),
    [
        ("", "shared [%r16]", "", ""),
        ("", "shared [%r16], 24", "", ""),
        ("", "shared [%r16+16]", "misaligned", "address of a matrix of wmma.load is no .* 32"),
        ("", "shared [%r16], 20", "misaligned", "stride of wmma.load is no multiple of 16 bytes"),
        ("", "shared [%r16], 8", "out-of-bounds", "less than the 16 elements of a row or column"),
        ("", "shared [%r16+3840]", "out-of-bounds", "outside of what is allocated"),
        ("", "global [%d0], 128", "", ""),
        ("", "global [%d0], 136", "out-of-bounds", "reads 16 bytes of global memory outside"),
        (
            "shl.b32 %r20, %r17, 5; add.u32 %r20, %r20, %r16;",
            "shared [%r20]",
            "barrier-divergence",
            "lanes of a warp give wmma.load different addresses or strides",
        ),
        (
            "add.u32 %r20, %r17, 16; shl.b32 %r20, %r20, 3;",
            "shared [%r16], %r20",
            "barrier-divergence",
            "different addresses or strides",
        ),
    ],
)
def test_what_the_isa_asks_of_addresses_and_strides(setup: str, place: str, kind: str, message: str):
    space, _, operands = place.partition(" ")
    report, _ = run(f"{_READY} {setup} {_A}.{space}.f16 {_A_REGISTERS}, {operands};")
    require_found(report, kind, message)


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        (f"{_A}.shared.s8 {{%r0, %r1}}, [%r16+8];", "", ""),
        (f"{_A}.shared.s8 {{%r0, %r1}}, [%r16+4];", "misaligned", "is no multiple of 8"),
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
def test_what_it_asks_of_other_types_and_of_stores(body: str, kind: str, message: str):
    require_found(run(_READY + body)[0], kind, message)


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
