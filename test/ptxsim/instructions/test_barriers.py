"""Barriers of a CTA and of a cluster, and what is found where they are misused."""

import numpy as np
import pytest

import ptxsim
from ptxsim import PtxError
from ptxsim_cases.kernel_text import OWN_WORD, kernel, kinds, launch, words


def found(body: str, threads: int = 64) -> set[str]:
    return kinds(launch(kernel(OWN_WORD + body + "\nret;"), [np.zeros(threads, np.uint32)], threads))


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [("bar.red.popc.u32 %r1, 0, %p0;", 10), ("barrier.cta.red.popc.aligned.u32 %r1, 0, !%p0;", 90)],
)
def test_a_barrier_counts_true_predicates(instruction, expected):
    out = words(f"setp.lt.u32 %p0, %r0, 10; {instruction} st.global.u32 [%d0], %r1;", 100)
    assert out.tolist() == [expected] * 100


@pytest.mark.parametrize(("kind", "bound", "expected"), [("and", 100, 1), ("and", 99, 0), ("or", 1, 1), ("or", 0, 0)])
def test_a_barrier_reduces_predicates(kind, bound, expected):
    body = f"setp.lt.u32 %p0, %r0, {bound}; bar.red.{kind}.pred %p1, 3, %p0; selp.u32 %r1, 1, 0, %p1;"
    assert words(body + "st.global.u32 [%d0], %r1;", 100).tolist() == [expected] * 100


# The ISA leaves `bar.warp.sync` undefined for a thread that its member mask does not name.
@pytest.mark.parametrize(("mask", "expected"), [("0xffffffff", set()), ("0x0000ffff", {"barrier-divergence"})])
def test_the_mask_of_a_warp_barrier_names_who_executes_it(mask, expected):
    half = "setp.lt.u32 %p0, %r0, 31; @!%p0 bra other;"
    assert found(f"{half} bar.warp.sync {mask}; ret; other: bar.warp.sync {mask};", 32) == expected


@pytest.mark.parametrize(
    ("instruction", "message"),
    [
        ("bar.sync;", "'bar.sync' takes 1 or 2 operands, not 0"),
        ("bar.arrive 1;", "'bar.arrive' takes 2 operands, not 1"),
        ("bar.warp.sync;", "'bar.warp.sync' takes 1 operand, not 0"),
        ("barrier.cluster.wait 0;", "'barrier.cluster.wait' takes 0 operands, not 1"),
        ("fence.acq_rel.gpu %r0;", "'fence.acq_rel.gpu' takes 0 operands, not 1"),
        ("nanosleep.u32;", "'nanosleep.u32' takes 1 operand, not 0"),
        ("setmaxnreg.inc.sync.aligned.u32 %r0;", "takes a constant number of registers"),
        ("setmaxnreg.inc.sync.aligned.u32 260;", "from 24 to 256, not 260"),
    ],
)
def test_operands_that_an_instruction_does_not_take_are_errors(instruction, message):
    with pytest.raises(PtxError, match=message):
        ptxsim.load(kernel(instruction + " ret;"))


def test_named_barriers_order_producer_and_consumer():
    body = """.shared .align 4 .b8 b[128]; mov.u32 %r1, b; and.b32 %r2, %r0, 31; mad.lo.u32 %r1, %r2, 4, %r1;
    setp.lt.u32 %p0, %r0, 32; @%p0 bra take;
    st.shared.u32 [%r1], %r0; bar.arrive 1, 64; st.global.u32 [%d0], %r0; ret;
    take: bar.sync 1, 64; ld.shared.u32 %r3, [%r1]; st.global.u32 [%d0], %r3;"""
    assert words(body, 64).tolist() == list(range(32, 64)) * 2


def test_barriers_are_counted():
    assert launch(kernel("bar.sync 0; barrier.sync 1; ret;", parameters=""), [], 96).counters.barriers == 2


def test_a_barrier_for_a_part_of_a_warp_is_reported():
    assert found("setp.lt.u32 %p0, %r0, 16; @%p0 bar.sync 0; @!%p0 bar.sync 0;", 32) == {"barrier-divergence"}


@pytest.mark.parametrize("first", [32, 40])
def test_threads_that_exit_hold_up_no_barrier(first):
    # PTX ISA, `exit`: threads that exit release a barrier of the whole CTA that only they hold up
    body = f"setp.ge.u32 %p0, %r0, {first}; @%p0 exit; bar.sync 0; st.global.u32 [%d0], 7;"
    out = np.zeros(64, np.uint32)
    assert launch(kernel(OWN_WORD + body + "ret;"), [out], 64).ok
    assert out.tolist() == [7] * first + [0] * (64 - first)


def test_a_barrier_that_waits_says_how_many_have_arrived():
    report = launch(kernel("mov.u32 %r1, %warpid; setp.eq.u32 %p0, %r1, 0; @%p0 bar.sync 4, 64; ret;", ""), [], 64)
    assert "barrier 4 (32 of 64 threads have arrived)" in report.findings[0].message


def test_a_barrier_with_two_counts_is_reported():
    body = "setp.lt.u32 %p0, %r0, 32; @%p0 bra one; bar.sync 1, 64; ret; one: bar.sync 1, 32;"
    assert "barrier-divergence" in found(body)


def test_a_count_that_is_no_whole_warps_is_reported():
    assert found("bar.sync 1, 40;") == {"barrier-divergence"}


def test_a_barrier_that_too_few_threads_come_to_is_a_deadlock():
    report = launch(kernel("mov.u32 %r1, %warpid; setp.eq.u32 %p0, %r1, 0; @%p0 bar.sync 4, 64; ret;", ""), [], 64)
    (finding,) = report.findings
    assert finding.kind == "deadlock"
    assert "barrier 4" in finding.message
    assert finding.occurrences == 32


def test_two_warps_at_two_barriers_are_a_deadlock():
    assert found("setp.lt.u32 %p0, %r0, 32; @%p0 bra one; bar.sync 1; ret; one: bar.sync 2;") >= {"deadlock"}


def test_unaligned_barriers_take_diverged_lanes():
    body = "setp.lt.u32 %p0, %r0, 5; @%p0 bra one; barrier.sync 0; bra.uni end; one: barrier.sync 0; end:"
    assert words(body + "st.global.u32 [%d0], %r0;").tolist() == list(range(32))


def test_a_cluster_wait_without_arrival_is_reported():
    assert "barrier-divergence" in found("barrier.cluster.wait;")


def test_fences_are_counted():
    report = launch(kernel("fence.acq_rel.gpu; membar.cta; fence.proxy.async.shared::cta; ret;", ""), [], 64)
    assert report.counters.fences == {"fence.acq_rel.gpu": 2, "membar.cta": 2, "fence.proxy.async.shared::cta": 2}


@pytest.mark.parametrize("count", [20, 36, 264])
def test_setmaxnreg_takes_multiples_of_eight(count):
    with pytest.raises(PtxError, match="multiple of 8"):
        ptxsim.load(kernel(f"setmaxnreg.inc.sync.aligned.u32 {count}; ret;", ""))


def test_a_cluster_does_not_wait_for_threads_that_exit():
    body = """mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p0, %r1, 1; @%p0 bra work;
    barrier.cluster.arrive; barrier.cluster.wait; ret;
    work: mov.u32 %r2, 0; again: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 300; @%p1 bra again; ret;"""
    assert launch(kernel(body, ""), [], grid=(2, 1, 1), cluster=(2, 1, 1)).ok


def test_a_loop_without_effects_is_no_deadlock():
    body = """mov.u32 %r2, 0; again: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 30000; @%p1 bra again;
    st.global.u32 [%d0], %r2;"""
    assert words(body).tolist() == [30000] * 32
