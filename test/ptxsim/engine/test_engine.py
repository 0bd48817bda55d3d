"""The engine: registers, special registers, moves, guards, and how it counts."""

import numpy as np
import pytest

import ptxsim
from ptxsim import PtxError, Thread
from ptxsim_cases.kernel_text import OWN_WORD, kernel, kinds, launch, words


def test_every_thread_has_its_own_registers():
    assert words("add.u32 %r1, %r0, 5; st.global.u32 [%d0], %r1;", 100).tolist() == list(range(5, 105))


def test_a_guard_lets_only_its_lanes_execute():
    out = words("mov.u32 %r1, 7; setp.lt.u32 %p0, %r0, 3; @!%p0 mov.u32 %r1, 9; st.global.u32 [%d0], %r1;", 5)
    assert out.tolist() == [7, 7, 7, 9, 9]


def test_a_narrow_result_is_extended_by_its_sign():
    # cvt.s16.s32 gives -1 as 16 bits; ld.s8 extends into a 32-bit register
    out = words("mov.u32 %r1, 0x80; st.global.u8 [%d0], %r1; ld.global.s8 %r2, [%d0]; st.global.u32 [%d0], %r2;", 1)
    assert out.tolist() == [0xFFFFFF80]


@pytest.mark.parametrize(
    ("special", "expected"),
    [
        ("%laneid", [t % 32 for t in range(70)]),
        ("%warpid", [t // 32 for t in range(70)]),
        ("%lanemask_eq", [1 << t % 32 for t in range(70)]),
        ("%lanemask_lt", [(1 << t % 32) - 1 for t in range(70)]),
        ("%lanemask_gt", [0xFFFFFFFF ^ ((2 << t % 32) - 1) for t in range(70)]),
        ("%ntid.x", [70] * 70),
        ("%nwarpid", [3] * 70),
        ("%envreg3", [0] * 70),
    ],
)
def test_special_registers(special, expected):
    assert words(f"mov.u32 %r1, {special}; st.global.u32 [%d0], %r1;", 70).tolist() == expected


def test_threads_and_ctas_are_numbered_with_x_first():
    body = """
    ld.param.u64 %d0, [out];
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %ctaid.z;
    mad.lo.u32 %r4, %r3, 3, %r2; mad.lo.u32 %r4, %r4, 2, %r1;
    mov.u32 %r5, %tid.x; mov.u32 %r6, %tid.y; mov.u32 %r7, %tid.z;
    mad.lo.u32 %r8, %r7, 3, %r6; mad.lo.u32 %r8, %r8, 5, %r5;
    mad.lo.u32 %r9, %r4, 30, %r8; mul.wide.u32 %d1, %r9, 4; add.u64 %d0, %d0, %d1;
    mov.u32 %r10, %laneid; mov.u32 %r11, %warpid; mad.lo.u32 %r10, %r11, 32, %r10;
    st.global.u32 [%d0], %r10; ret;"""
    out = np.zeros(2 * 3 * 2 * 30, np.uint32)
    assert launch(kernel(body), [out], grid=(2, 3, 2), block=(5, 3, 2)).ok
    assert out.tolist() == list(range(30)) * 12


def test_a_vector_is_packed_low_part_first():
    out = words("mov.b16 %h0, 0x1234; mov.b16 %h1, 0xabcd; mov.b32 %r1, {%h0, %h1}; st.global.u32 [%d0], %r1;", 1)
    assert out.tolist() == [0xABCD1234]


def test_a_register_is_unpacked_low_part_first():
    out = words("mov.b64 %d2, 0x1111222233334444; mov.b64 {%r1, %r2}, %d2; st.global.u32 [%d0], %r2;", 1)
    assert out.tolist() == [0x11112222]


def test_128_bits_are_packed_and_unpacked():
    body = "mov.b64 %d2, 5; mov.b64 %d3, 6; mov.b128 %q0, {%d2, %d3}; mov.b128 {%d4, %d5}, %q0;"
    assert words(body + "cvt.u32.u64 %r1, %d5; st.global.u32 [%d0], %r1;", 1).tolist() == [6]


def test_a_register_that_nobody_wrote_is_reported_where_it_is_used():
    out = np.zeros(4, np.uint32)
    body = (
        OWN_WORD + "setp.lt.u32 %p0, %r0, 2;\n@%p0 mov.u32 %r1, 1;\nmov.u32 %r2, %r1;\nst.global.u32 [%d0], %r2; ret;"
    )
    report = launch(kernel(body), [out], 4)
    (finding,) = report.findings
    assert (finding.kind, finding.line) == (
        "uninitialized",
        kernel(body)[: kernel(body).index("st.global")].count("\n") + 1,
    )
    assert finding.threads == (Thread((0, 0, 0), (2, 0, 0)), Thread((0, 0, 0), (3, 0, 0)))


def test_a_register_that_is_written_on_every_way_is_clean():
    body = """setp.lt.u32 %p0, %r0, 2;
    @%p0 bra first; mov.u32 %r1, 2; bra.uni both; first: mov.u32 %r1, 1; both: st.global.u32 [%d0], %r1;"""
    assert words(body, 4).tolist() == [1, 1, 2, 2]


def test_instructions_are_counted_by_warp():
    out = np.zeros(70, np.uint32)
    report = launch(kernel(OWN_WORD + "st.global.u32 [%d0], %r0; ret;"), [out], 70)
    assert report.counters.instructions == {"ld": 3, "mov": 3, "mul": 3, "add": 3, "st": 3, "ret": 3}


@pytest.mark.parametrize(
    "instruction", ["frobnicate.u32 %r1, %r0;", "add.u33 %r1, %r0, %r0;", "mov.u32 %r1, %nothing;"]
)
def test_what_is_not_known_is_an_error_with_its_line(instruction):
    text = kernel("mov.u32 %r0, 1;\n" + instruction + "\nret;")
    with pytest.raises(PtxError) as error:
        ptxsim.load(text)
    assert error.value.line == text[: text.index(instruction)].count("\n") + 1


def test_an_operand_wider_than_its_register_is_an_error():
    with pytest.raises(PtxError, match="u64"):
        ptxsim.load(kernel("add.u64 %d0, %d1, %r0; ret;"))


def test_nothing_is_found_in_an_empty_kernel():
    assert kinds(launch(kernel("ret;", parameters=""), [])) == set()


@pytest.mark.parametrize(
    "instruction",
    [
        "brx.idx %r1;",
        "cvta.to.global.u64 %d1;",
        "isspacep.global %p0;",
        "getctarank.u64 %r1;",
        "ld.global.v2.b128 {%q0, %q1}, [%d0];",
        "st.global.v2.b128 [%d0], {%q0, %q1};",
    ],
)
def test_an_instruction_with_wrong_operands_is_an_error(instruction):
    with pytest.raises(PtxError):
        ptxsim.load(kernel(f"{instruction} ret;", ""))
