"""Memory: every state space, vectors, generic addresses, and what a bad access finds without harm."""

import numpy as np
import pytest

import ptxsim
from ptxsim import PtxError, Thread
from ptxsim_cases.kernel_text import OWN_WORD, kernel, kinds, launch, words


def test_a_vector_load_takes_neighbours_in_order():
    out, source = np.zeros(4, np.uint32), np.arange(10, 18, dtype=np.uint32)
    body = """ld.param.u64 %d2, [x]; ld.param.u64 %d0, [out]; ld.global.nc.v4.u32 {%r1, %r2, %r3, %r4}, [%d2+16];
    st.global.v2.u32 [%d0], {%r4, %r1}; st.global.v2.u32 [%d0+8], {%r2, %r3}; ret;"""
    assert launch(kernel(body, ".param .u64 out, .param .u64 x"), [out, source], 1).ok
    assert out.tolist() == [17, 14, 15, 16]


@pytest.mark.parametrize(("width", "expected"), [(8, 0xEF), (16, 0xCDEF)])
def test_loads_take_the_low_bytes_first(width, expected):
    out = np.array([0x89ABCDEF], np.uint32)
    body = f"ld.param.u64 %d0, [out]; ld.global.b{width} %r1, [%d0]; st.global.b32 [%d0], %r1; ret;"
    assert launch(kernel(body), [out], 1).ok
    assert out.tolist() == [expected]


def test_shared_memory_is_the_ctas():
    body = """.shared .align 4 .b8 buffer[128]; mov.u32 %r1, buffer; shl.b32 %r2, %r0, 2; add.u32 %r1, %r1, %r2;
    st.shared.u32 [%r1], %r0; bar.sync 0; mov.u32 %r3, buffer; sub.u32 %r2, 124, %r2; add.u32 %r3, %r3, %r2;
    ld.shared.u32 %r4, [%r3]; st.global.u32 [%d0], %r4;"""
    assert words(body).tolist() == list(range(31, -1, -1))


def test_dynamic_shared_memory_starts_behind_the_static():
    module = ".extern .shared .align 16 .b8 more[];\n"
    body = (
        OWN_WORD
        + """.shared .align 4 .b8 first[4]; mov.u32 %r1, more; mov.u32 %r2, first; sub.u32 %r1, %r1, %r2;
    mov.u32 %r3, %dynamic_smem_size; mad.lo.u32 %r1, %r3, 1000, %r1; st.shared.u32 [more+28], %r1;
    st.shared.u32 [first], %r1; st.global.u32 [%d0], %r1; ret;"""
    )
    out = np.zeros(1, np.uint32)
    assert launch(kernel(body, module=module), [out], 1, dynamic_shared_bytes=32).ok
    assert out.tolist() == [32016]


def test_local_memory_is_each_threads_own():
    body = """.local .align 4 .b8 mine[8]; st.local.u32 [mine+4], %r0; mov.u64 %d2, mine; cvta.local.u64 %d2, %d2;
    ld.u32 %r1, [%d2+4]; st.global.u32 [%d0], %r1;"""
    assert words(body, 70).tolist() == list(range(70))


def test_a_generic_address_goes_where_it_points():
    # even lanes read shared memory, odd ones constants, by one instruction
    module = ".const .align 4 .u32 fixed = 77;\n"
    body = """.shared .align 4 .u32 word; mov.u32 %r1, 55; st.shared.u32 [word], %r1; bar.warp.sync 0xffffffff;
    mov.u64 %d2, word; cvta.shared.u64 %d2, %d2; mov.u64 %d3, fixed; cvta.const.u64 %d3, %d3;
    and.b32 %r1, %r0, 1; setp.eq.u32 %p0, %r1, 1; selp.b64 %d2, %d3, %d2, %p0; ld.u32 %r2, [%d2];
    isspacep.shared %p1, %d2; selp.u32 %r3, 1000, 0, %p1; add.u32 %r2, %r2, %r3; st.global.u32 [%d0], %r2;"""
    assert words(body, module=module).tolist() == [1055, 77] * 16


def test_module_variables_start_anew_with_each_launch():
    module = ".global .align 4 .u32 counter = 3;\n"
    body = OWN_WORD + "ld.global.u32 %r1, [counter]; st.global.u32 [%d0], %r1; st.global.u32 [counter], 9; ret;"
    out = np.zeros(1, np.uint32)
    loaded = ptxsim.load(kernel(body.replace(", 9;", ", %r0;"), module=module))
    for _ in range(2):
        loaded.launch("k", (1, 1, 1), (1, 1, 1), [out])
        assert out.tolist() == [3]


def test_one_past_the_end_is_out_of_bounds():
    out = np.full(7, 5, np.uint32)
    report = launch(
        kernel(OWN_WORD + "ld.global.u32 %r1, [%d0]; add.u32 %r1, %r1, 1;\nst.global.u32 [%d0], %r1; ret;"), [out], 8
    )
    assert [finding.kind for finding in report.findings] == ["out-of-bounds"] * 2
    assert all(finding.threads == (Thread((0, 0, 0), (7, 0, 0)),) for finding in report.findings)
    assert out.tolist() == [6] * 7


def test_the_gap_between_two_arrays_is_nobodys():
    body = "ld.param.u64 %d0, [out]; ld.param.u64 %d1, [x]; st.global.u32 [%d1+4], 1; st.global.u32 [%d0+-4], 1; ret;"
    body = body.replace(", 1;", ", %r0;").replace("st.", "mov.u32 %r0, 1; st.", 1)
    report = launch(kernel(body, ".param .u64 out, .param .u64 x"), [np.zeros(1, np.uint32), np.zeros(1, np.uint32)], 1)
    assert [finding.kind for finding in report.findings] == ["out-of-bounds"] * 2


def test_a_misaligned_access_is_reported_with_its_address():
    out = np.zeros(4, np.uint32)
    body = "ld.param.u64 %d0, [out];\nld.global.v2.u32 {%r1, %r2}, [%d0+4]; ret;"
    (finding,) = launch(kernel(body), [out], 1).findings
    assert finding.kind == "misaligned"
    assert finding.address is not None
    assert finding.address % 8 == 4


def test_shared_memory_that_nobody_wrote_is_reported():
    body = (
        OWN_WORD
        + """.shared .align 4 .b8 buffer[128]; shl.b32 %r2, %r0, 2; mov.u32 %r1, buffer; add.u32 %r1, %r1, %r2;
    setp.ne.u32 %p0, %r0, 3; @%p0 st.shared.u32 [%r1], %r0; ld.shared.u32 %r3, [%r1]; st.global.u32 [%d0], %r3; ret;"""
    )
    out = np.ones(32, np.uint32)
    (finding,) = launch(kernel(body), [out]).findings
    assert (finding.kind, finding.threads) == ("uninitialized", (Thread((0, 0, 0), (3, 0, 0)),))


def test_a_check_that_is_off_reports_nothing():
    body = "ld.param.u64 %d0, [out];\nld.global.u32 %r1, [%d0+400]; st.global.u32 [%d0], %r1; ret;"
    out = np.ones(4, np.uint32)
    assert launch(kernel(body), [out], 1, checks=("races",)).ok
    assert out[0] == 0


def test_a_store_to_constants_is_an_error():
    with pytest.raises(PtxError, match="cannot be written"):
        ptxsim.load(kernel("mov.u32 %r1, 1; st.const.u32 [fixed], %r1; ret;", module=".const .u32 fixed;\n"))


def test_sectors_of_global_memory_are_counted_for_each_request():
    # lanes 8 bytes apart: 32 lanes touch 256 bytes, which are 8 sectors of 32
    body = """ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 8; add.u64 %d0, %d0, %d1;
    ld.global.u32 %r1, [%d0]; ret;"""
    counters = launch(kernel(body), [np.zeros(128, np.uint32)], 64).counters
    (count,) = counters.sectors.values()
    assert (count.opcode, count.requests, count.units) == ("ld", 2, 16)
    assert counters.read == {("global", 4): 256}


@pytest.mark.parametrize(("stride", "conflicts"), [(4, 0), (8, 1), (128, 31), (0, 0), (132, 0)])
def test_bank_conflicts_are_counted(stride, conflicts):
    body = f""".shared .align 4 .b8 buffer[8192]; mov.u32 %r1, buffer; mad.lo.u32 %r1, %r0, {stride}, %r1;
    mov.u32 %r0, 1; st.shared.u32 [%r1], %r0; ret;"""
    report = launch(kernel("mov.u32 %r0, %tid.x;" + body, parameters=""), [])
    assert list(report.counters.bank_conflicts.values()) == [conflicts]


def test_wide_accesses_without_conflict_are_split_by_quarter_warps():
    body = """.shared .align 16 .b8 buffer[512]; mov.u32 %r0, %tid.x; mov.u32 %r1, buffer; mad.lo.u32 %r1, %r0, 16, %r1;
    st.shared.v4.u32 [%r1], {%r0, %r0, %r0, %r0}; ret;"""
    counters = launch(kernel(body, parameters=""), []).counters
    assert [count.units for count in counters.passes.values()] == [4]
    assert list(counters.bank_conflicts.values()) == [0]


def test_a_peers_shared_memory_is_written_through_mapa():
    body = """.shared .align 4 .u32 word; ld.param.u64 %d0, [out]; mov.u32 %r0, %cluster_ctarank; mov.u32 %r1, word;
    xor.b32 %r2, %r0, 1; mapa.shared::cluster.u32 %r3, %r1, %r2; add.u32 %r4, %r0, 40;
    st.shared::cluster.u32 [%r3], %r4; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    ld.shared.u32 %r5, [word]; mov.u32 %r6, %ctaid.x; mul.wide.u32 %d1, %r6, 4; add.u64 %d0, %d0, %d1;
    st.global.u32 [%d0], %r5; ret;"""
    out = np.zeros(4, np.uint32)
    assert launch(kernel(body), [out], 1, grid=(4, 1, 1), cluster=(2, 1, 1)).ok
    assert out.tolist() == [41, 40, 41, 40]


def test_findings_of_one_instruction_are_one():
    out = np.zeros(1, np.uint32)
    report = launch(kernel(OWN_WORD + "st.global.u32 [%d0], %r0; ret;"), [out], 1, grid=(1, 1, 1))
    assert kinds(report) == set()
    report = launch(kernel(OWN_WORD + "st.global.u32 [%d0], %r0; ret;"), [out], 33, grid=(2, 1, 1))
    assert [(finding.kind, finding.occurrences, len(finding.threads)) for finding in report.findings] == [
        ("out-of-bounds", 64, 16)
    ]
