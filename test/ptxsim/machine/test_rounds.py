"""Aligned barriers in code that not all threads go through: who skips one, or comes in another round, is found out."""

import numpy as np
import pytest

from ptxsim_cases.kernel_text import OWN_WORD, kernel, kinds, launch

_DIVERGES = {"barrier-divergence"}
#: The forms that are aligned: %r9 and %p7 take what is reduced.
_ALIGNED = ("bar.sync 0;", "barrier.sync.aligned 0;", "barrier.cta.sync.aligned 0;", "bar.red.popc.u32 %r9, 0, %p7;")
_SETUP = "and.b32 %r1, %r0, 31; setp.eq.u32 %p7, %r0, 0; setp.lt.u32 %p0, %r1, 16; {}\n"
_WORK = "st.global.u32 [%d0], %r0;"


def _found(body: str, threads: int = 64, setup: str = "") -> set[str]:
    text = kernel(OWN_WORD + _SETUP.format(setup) + body + "\nret;")
    return kinds(launch(text, [np.zeros(threads, np.uint32)], threads))


@pytest.mark.parametrize("barrier", _ALIGNED)
@pytest.mark.parametrize(
    "rest",
    [
        # `if (t % 32 < 16) __syncthreads();` and then: work and an end, another barrier, the same one in the next round
        f"@!%p0 bra past; {{}} past: {_WORK}",
        f"@!%p0 bra past; {{}} past: bar.sync 1; {_WORK}",
        f"@!%p0 bra past; {{}} past: {_WORK} @%p0 bra end; trap; end:",
        "mov.u32 %r2, 0; again: @!%p0 bra past; {} past: not.pred %p0, %p0; add.u32 %r2, %r2, 1; "
        f"setp.lt.u32 %p1, %r2, 4; @%p1 bra again; {_WORK}",
        # a guard in place of the branch, also where nothing follows
        f"@%p0 {{}} {_WORK}",
        "@%p0 {}",
    ],
)
def test_lanes_that_an_aligned_barrier_leaves_out_are_found(barrier, rest):
    assert _found(rest.format(barrier)) - {"trap"} == _DIVERGES


def test_a_finding_names_the_barrier_and_who_has_passed_it():
    text = kernel(OWN_WORD + _SETUP.format("") + f"@!%p0 bra past;\nbar.sync 0;\npast: {_WORK} ret;")
    (finding,) = launch(text, [np.zeros(32, np.uint32)]).findings
    assert finding.line == text[: text.index("bar.sync")].count("\n") + 1
    assert finding.message.startswith("has passed this aligned barrier, and exits; other threads of its CTA")
    assert [thread.thread[0] for thread in finding.threads] == list(range(16, 32))


@pytest.mark.parametrize("threads", [32, 64])
def test_a_reduction_whose_barrier_is_in_the_condition(threads):
    body = f"""mov.u32 %r2, {threads // 2};
    again: setp.ge.u32 %p1, %r0, %r2; @%p1 bra past; {{inside}} past: {{outside}}
    shr.u32 %r2, %r2, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra again; setp.ne.u32 %p3, %r0, 0; @%p3 ret; {_WORK}"""
    assert _found(body.format(inside="bar.sync 0;", outside=""), threads) == _DIVERGES
    assert _found(body.format(inside="", outside="bar.sync 0;"), threads) == set()


@pytest.mark.parametrize("first", [100, 112, 128])
def test_a_barrier_for_some_warps_and_one_for_all(first):
    # `if (t < 128) __syncthreads(); __syncthreads();`
    condition = f"setp.ge.u32 %p1, %r0, {first};"
    body = f"@%p1 bra past; {{}} past: bar.sync 0; {_WORK}"
    assert _found(body.format("bar.sync 0;"), 256, condition) == _DIVERGES
    assert _found(f"@%p1 bra past; bar.sync 0; past: {_WORK}", 256, condition) == _DIVERGES
    # with a thread count the barrier is one of these warps, and unaligned ones may be anywhere
    assert _found(body.format("bar.sync 1, 128;"), 256, condition) == (set() if first == 128 else _DIVERGES)
    anywhere = body.replace("bar.sync 0", "barrier.sync 0").format("barrier.sync 0;")
    assert _found(anywhere, 256, condition) == set()


def test_warps_at_two_aligned_barriers_name_both_lines():
    text = kernel(
        "mov.u32 %r0, %tid.x; setp.lt.u32 %p0, %r0, 32; @%p0 bra one;\nbar.sync 0; ret;\none: bar.sync 0; ret;", ""
    )
    (finding,) = launch(text, [], 64).findings
    lines = [number for number, line in enumerate(text.splitlines(), 1) if "bar.sync" in line]
    assert finding.kind == "barrier-divergence"
    assert {finding.line, int(finding.message.split()[-1])} == set(lines)


@pytest.mark.parametrize("trips", ["%r1", "%r8"])
def test_a_loop_with_a_barrier_takes_all_threads_equally_often(trips):
    loop = f"mov.u32 %r2, 0; again: bar.sync 0; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, {trips}; @%p1 bra again;"
    # %r8 is 3 in all threads, or the number of the warp
    assert _found(loop + _WORK, setup="mov.u32 %r8, 3;") == (_DIVERGES if trips == "%r1" else set())
    assert _found(loop + _WORK, setup="shr.u32 %r8, %r0, 5; add.u32 %r8, %r8, 2;") == _DIVERGES


@pytest.mark.parametrize(
    "body",
    [
        # `if (t >= n) return;`, as a guarded exit, as a jump to the end, behind work of its own, out of a loop
        f"@!%p0 exit; bar.sync 0; {_WORK}",
        f"@!%p0 bra end; bar.sync 0; {_WORK} end:",
        f"@%p0 bra go; {_WORK} bra end; go: bar.sync 0; {_WORK} end:",
        f"again: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r1, %r2; @%p1 bra end; bar.sync 0; {_WORK} bra again; end:",
        f"again: add.u32 %r2, %r2, 1; bar.sync 0; setp.lt.u32 %p1, %r1, %r2; @%p1 ret; {_WORK} bra again;",
        # one thread after the other, all of one warp, behind a barrier at the head of the loop
        f"again: bar.sync 0; setp.eq.u32 %p1, %r0, %r2; @%p1 bra end; {_WORK} add.u32 %r2, %r2, 1; "
        "setp.lt.u32 %p1, %r2, 40; @%p1 bra again; end:",
        # a return between the barrier's rounds, and a branch that all lanes of all warps take alike
        f"again: @%p6 ret; bar.sync 0; setp.lt.u32 %p6, %r1, 16; {_WORK} bar.sync 0; xor.b32 %r2, %r2, 1; "
        "setp.eq.u32 %p5, %r2, 1; @%p5 bra again;",
        f"setp.lt.u32 %p1, %r0, 64; @!%p1 bra past; bar.sync 0; past: {_WORK}",
        # two ways to one barrier
        f"setp.lt.u32 %p1, %r1, 40; @%p0 bra meet; @!%p1 bra past; meet: bar.sync 0; past: {_WORK}",
    ],
)
def test_lanes_that_have_returned_are_not_waited_for(body):
    assert _found(body, setup="mov.u32 %r2, 0; setp.lt.u32 %p6, %r0, 0;") == set()


def test_lanes_that_skip_a_barrier_and_return_then_are_found():
    body = f"""again: add.u32 %r2, %r2, 1; @!%p0 bra past; bar.sync 0; past: {_WORK} @!%p0 ret;
    setp.lt.u32 %p1, %r2, 3; @%p1 bra again;"""
    assert _found(body, setup="mov.u32 %r2, 0;") == _DIVERGES


def test_an_aligned_barrier_of_a_cluster_takes_whole_warps():
    body = "@!%p0 bra past; {} past: " + _WORK
    arrive = "barrier.cluster.arrive{0}; barrier.cluster.wait{0};"
    assert _found(body.format(arrive.format(".aligned"))) == _DIVERGES
    assert _found(body.format(arrive.format(""))) == set()
