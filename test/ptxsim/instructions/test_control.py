"""Where threads go: branches that diverge and converge, loops, tables, calls, exits, spinning."""

import numpy as np
import pytest

import ptxsim
from ptxsim import PtxError
from ptxsim_cases.kernel_text import OWN_WORD, kernel, kinds, launch, words


def test_lanes_go_their_own_ways_and_meet_again():
    body = """and.b32 %r1, %r0, 1; setp.eq.u32 %p0, %r1, 0;
    @%p0 bra even; mul.lo.u32 %r2, %r0, 3; bra.uni meet; even: add.u32 %r2, %r0, 100;
    meet: activemask.b32 %r3; popc.b32 %r3, %r3; mad.lo.u32 %r2, %r3, 1000, %r2; st.global.u32 [%d0], %r2;"""
    assert words(body).tolist() == [32000 + (t + 100 if t % 2 == 0 else 3 * t) for t in range(32)]


def test_a_loop_runs_as_often_as_each_lane_needs():
    body = """mov.u32 %r1, 0; mov.u32 %r2, 0;
    loop: setp.ge.u32 %p0, %r1, %r0; @%p0 bra done; add.u32 %r1, %r1, 1; add.u32 %r2, %r2, %r1; bra loop;
    done: st.global.u32 [%d0], %r2;"""
    assert words(body, 80).tolist() == [t * (t + 1) // 2 for t in range(80)]


def test_a_table_sends_each_lane_to_its_place():
    body = """and.b32 %r1, %r0, 1; table: .branchtargets one, two;
    brx.idx %r1, table; one: mov.u32 %r2, 11; bra end; two: mov.u32 %r2, 22; end: st.global.u32 [%d0], %r2;"""
    assert words(body, 4).tolist() == [11, 22, 11, 22]


TWICE = ".func (.param .b32 result) twice(.param .b32 x) { .reg .b32 %a; ld.param.u32 %a, [x]; add.u32 %a, %a, %a;"
TWICE += " st.param.b32 [result], %a; ret; }"


def test_a_function_gets_each_lanes_own_parameters():
    body = """{ .param .b32 given; .param .b32 back; st.param.b32 [given], %r0;
    call (back), twice, (given); ld.param.b32 %r1, [back]; } st.global.u32 [%d0], %r1;"""
    assert words(body, 40, module=TWICE).tolist() == [2 * t for t in range(40)]


def test_a_function_that_part_of_a_warp_calls_returns_to_it():
    body = """mov.u32 %r1, 5; setp.gt.u32 %p0, %r0, 1; @!%p0 bra over;
    { .param .b32 given; .param .b32 back; st.param.b32 [given], %r0;
    call (back), twice, (given); ld.param.b32 %r1, [back]; } over: st.global.u32 [%d0], %r1;"""
    assert words(body, 4, module=TWICE).tolist() == [5, 5, 4, 6]


def test_registers_are_parameters_too():
    module = ".func (.reg .u32 y) next(.reg .u32 x) { add.u32 y, x, 1; ret; }"
    assert words("call (%r1), next, (%r0); st.global.u32 [%d0], %r1;", 3, module=module).tolist() == [1, 2, 3]


def test_recursion_is_an_error():
    module = ".func f() { call f; ret; }"
    with pytest.raises(PtxError, match="calls itself"):
        ptxsim.load(kernel("call f; ret;", module=module))


def test_lanes_that_exit_write_no_more():
    assert words("setp.gt.u32 %p0, %r0, 1; @%p0 exit; st.global.u32 [%d0], %r0;", 4).tolist() == [
        0,
        1,
        0xA5A5A5A5,
        0xA5A5A5A5,
    ]


def test_spinning_lanes_let_the_others_of_their_warp_run():
    # lanes 1 and up wait for a flag that lane 0 sets further down
    body = """.shared .u32 flag; setp.ne.u32 %p0, %r0, 0; mov.u32 %r2, 0; @!%p0 st.shared.u32 [flag], %r2;
    bar.warp.sync 0xffffffff; @!%p0 bra set;
    spin: ld.volatile.shared.u32 %r1, [flag]; setp.eq.u32 %p1, %r1, 0; @%p1 bra spin; bra.uni end;
    set: mov.u32 %r1, 3; st.volatile.shared.u32 [flag], %r1; end: st.global.u32 [%d0], %r1;"""
    assert words(body).tolist() == [3] * 32


def test_a_cta_may_wait_for_a_later_one():
    body = """ld.param.u64 %d0, [out]; mov.u32 %r1, %ctaid.x; setp.eq.u32 %p0, %r1, 0; @!%p0 bra set;
    spin: ld.acquire.gpu.global.u32 %r2, [%d0]; setp.eq.u32 %p1, %r2, 0; @%p1 bra spin; ret;
    set: mov.u32 %r2, 1; st.release.gpu.global.u32 [%d0], %r2; ret;"""
    out = np.zeros(1, np.uint32)
    assert launch(kernel(body), [out], 1, grid=(3, 1, 1)).ok
    assert out[0] == 1


def test_threads_that_wait_for_nobody_are_a_deadlock():
    body = """ld.param.u64 %d0, [out];
    spin: ld.volatile.global.u32 %r2, [%d0]; setp.eq.u32 %p1, %r2, 0; @%p1 bra spin; ret;"""
    report = launch(kernel(body), [np.zeros(1, np.uint32)])
    assert kinds(report) == {"deadlock"}
    assert report.findings[0].occurrences == 32


def test_a_trap_is_a_finding():
    assert kinds(launch(kernel(OWN_WORD + "setp.eq.u32 %p0, %r0, 1; @%p0 trap; ret;"), [np.zeros(32, np.uint32)])) == {
        "trap"
    }


# The alias and the function have one place in memory for what is declared in the body.
def test_a_call_by_an_alias_is_a_call_of_the_function():
    module = """.func (.reg .u32 r) next(.reg .u32 a) {
    .global .u32 total = 3; .reg .u32 t; ld.global.u32 t, [total]; add.u32 r, a, t; st.global.u32 [total], r; ret; }
    .func (.reg .u32 r) other(.reg .u32 a);
    .alias other, next;"""
    body = "call (%r1), other, (7); call (%r2), next, (%r1); st.global.u32 [%d0], %r2;"
    assert words(body, 1, module=module).tolist() == [20]
