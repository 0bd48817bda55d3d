"""Data races by happens-before: each faulty kernel is caught, and its corrected twin is clean."""

from typing import NamedTuple

import numpy as np
import pytest

from ptxsim import CHECKS
from ptxsim_cases.kernel_text import OWN_WORD, kernel, kinds, kinds_of_two_warps, launch

#: %r1 is the thread's own word of `b`, %r2 that of the thread with the number `%r0 ^ 32` (another warp).
_SHARED = """.shared .align 16 .b8 b[512]; mov.u32 %r1, b; mad.lo.u32 %r1, %r0, 4, %r1;
xor.b32 %r2, %r0, 32; mov.u32 %r3, b; mad.lo.u32 %r2, %r2, 4, %r3;
"""
#: %r2 is the word of the next lane of the same warp.
_NEXT_LANE = _SHARED + "xor.b32 %r2, %r0, 1; mad.lo.u32 %r2, %r2, 4, %r3;\n"
_PAIRS = "mov.u32 %r5, %laneid; setp.lt.u32 %p1, %r5, 16; selp.b32 %r6, 0xffff, 0xffff0000, %p1;"


class Twin(NamedTuple):
    """A kernel of 64 threads with a hole `$`: what makes it right, and what leaves (or makes) it wrong."""

    name: str
    body: str
    right: str
    wrong: str = ""


_TWINS = [
    Twin(
        "a read of another warp's word",
        _SHARED + "st.shared.u32 [%r1], %r0; $ ld.shared.u32 %r4, [%r2]; st.global.u32 [%d0], %r4;",
        "bar.sync 0;",
    ),
    Twin(
        "a write over another warp's read",
        _SHARED
        + "st.shared.u32 [%r1], %r0; bar.sync 0; ld.shared.u32 %r4, [%r2]; $ st.shared.u32 [%r1], %r4; bar.sync 0;",
        "bar.sync 0;",
    ),
    Twin(
        "a read of another lane's word",
        _NEXT_LANE + "st.shared.u32 [%r1], %r0; $ ld.shared.u32 %r4, [%r2]; st.global.u32 [%d0], %r4;",
        "bar.warp.sync 0xffffffff;",
    ),
    Twin(
        "shuffles order no memory",
        _NEXT_LANE + "st.shared.u32 [%r1], %r0; $ ld.shared.u32 %r4, [%r2]; st.global.u32 [%d0], %r4;",
        "bar.warp.sync -1;",
        "shfl.sync.bfly.b32 %r9, %r0, 1, 31, -1;",
    ),
    Twin(
        "a half of a warp meets",
        _NEXT_LANE + _PAIRS + "st.shared.u32 [%r1], %r0; bar.warp.sync %r6; $ ld.shared.u32 %r4, [%r2];",
        "",
        "xor.b32 %r2, %r0, 16; mad.lo.u32 %r2, %r2, 4, %r3;",
    ),
    Twin(
        "a barrier of two warps, and a third thread's word",
        _SHARED + "st.shared.u32 [%r1], %r0; bar.sync 1, $; ld.shared.u32 %r4, [%r2]; bar.sync 0;",
        "64",
        "32",
    ),
    Twin(
        "a producer that only arrives",
        _SHARED
        + """setp.lt.u32 %p0, %r0, 32; @%p0 bra take;
        st.shared.u32 [%r1], %r0; bar.arrive 1, 64; $ ret;
        take: bar.sync 1, 64; ld.shared.u32 %r4, [%r2];""",
        "",
        "st.shared.u32 [%r1], 7;",
    ),
    Twin(
        "different values to one word",
        _SHARED + "mov.u32 %r3, b; $ st.shared.u32 [%r3], %r4; bar.sync 0;",
        "mov.u32 %r4, 5;",
        "mov.u32 %r4, %r0;",
    ),
    Twin(
        "different values of two warps to one word",
        _SHARED + "mov.u32 %r3, b; shr.u32 %r4, %r0, 5; $ st.shared.u32 [%r3], %r4;",
        "mov.u32 %r4, 5;",
        "",
    ),
    Twin(
        "bytes beside each other are no race, and a word over them is one",
        _SHARED
        + """mov.u32 %r3, b; add.u32 %r4, %r3, %r0; st.shared.u8 [%r4], %r0; $
        setp.eq.u32 %p0, %r0, 40; @%p0 ld.shared.u32 %r5, [%r3];""",
        "bar.sync 0;",
    ),
    Twin(
        "atomics with each other are no race, and a plain read among them is one",
        _SHARED
        + """mov.u32 %r3, b; setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.u32 [%r3], 0; bar.sync 0;
        atom.shared.add.u32 %r4, [%r3], %r0; $ ld.shared.u32 %r5, [%r3];""",
        "bar.sync 0;",
    ),
    Twin(
        "volatile accesses are strong",
        _SHARED + "st$.shared.u32 [%r1], %r0; ld$.shared.u32 %r4, [%r2];",
        ".volatile",
    ),
]


@pytest.mark.parametrize("twin", _TWINS, ids=lambda twin: twin.name)
def test_a_race_is_found_and_its_corrected_twin_is_clean(twin):
    assert kinds_of_two_warps(twin.body.replace("$", twin.wrong)) == {"race"}
    assert kinds_of_two_warps(twin.body.replace("$", twin.right)) == set()


def test_equal_values_race_where_that_is_asked_for():
    body = _SHARED + "mov.u32 %r3, b; mov.u32 %r4, 5; st.shared.u32 [%r3], %r4;"
    assert kinds_of_two_warps(body, checks=(*CHECKS, "same-value")) == {"race"}


def test_a_race_names_both_lines_the_threads_and_the_address():
    text = kernel(OWN_WORD + _SHARED + "st.shared.u32 [%r1], %r0;\nld.shared.u32 %r4, [%r2];\nret;")
    line = text[: text.index("ld.shared")].count("\n") + 1
    (finding,) = [each for each in launch(text, [np.zeros(64, np.uint32)], 64).findings if each.kind == "race"]
    assert finding.line == line
    assert f"another thread writes at line {line - 1}" in finding.message
    assert (finding.threads[0].thread, len(finding.threads), finding.occurrences) == ((0, 0, 0), 16, 64)
    assert finding.address == 1024 + 32 * 4


#: CTA 0 writes the word `data`, and says so in the word `flag`; CTA 1 waits for that and reads `data`.
_HANDOVER = """
ld.param.u64 %d0, [data]; ld.param.u64 %d1, [flag]; mov.u32 %r0, %ctaid.x; setp.ne.u32 %p0, %r0, 0; @%p0 bra take;
st.global.u32 [%d0], 7; {send} ret;
take: {receive} setp.eq.u32 %p1, %r1, 0; @%p1 bra take; {after} ld.global.u32 %r2, [%d0]; ret;
"""


@pytest.mark.parametrize(
    ("send", "receive", "after", "races"),
    [
        ("st.release.gpu.global.u32 [%d1], 1;", "ld.acquire.gpu.global.u32 %r1, [%d1];", "", False),
        ("fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%d1], 1;", "ld.acquire.gpu.global.u32 %r1, [%d1];", "", False),
        ("membar.gl; st.volatile.global.u32 [%d1], 1;", "ld.volatile.global.u32 %r1, [%d1];", "membar.gl;", False),
        ("membar.gl; red.global.add.u32 [%d1], 1;", "atom.global.or.b32 %r1, [%d1], 0;", "fence.sc.gpu;", False),
        ("atom.global.release.gpu.exch.b32 %r3, [%d1], 1;", "ld.acquire.sys.global.u32 %r1, [%d1];", "", False),
        # no release, no acquire, a fence in the wrong place, a scope that is too narrow, a weak flag
        ("st.relaxed.gpu.global.u32 [%d1], 1;", "ld.acquire.gpu.global.u32 %r1, [%d1];", "", True),
        ("st.release.gpu.global.u32 [%d1], 1;", "ld.relaxed.gpu.global.u32 %r1, [%d1];", "", True),
        ("st.relaxed.gpu.global.u32 [%d1], 1; membar.gl;", "ld.acquire.gpu.global.u32 %r1, [%d1];", "", True),
        ("fence.acq_rel.cta; st.relaxed.gpu.global.u32 [%d1], 1;", "ld.acquire.gpu.global.u32 %r1, [%d1];", "", True),
        ("st.release.cta.global.u32 [%d1], 1;", "ld.acquire.gpu.global.u32 %r1, [%d1];", "", True),
        ("st.release.gpu.global.u32 [%d1], 1;", "ld.acquire.cta.global.u32 %r1, [%d1];", "", True),
        ("st.global.u32 [%d1], 1;", "ld.global.u32 %r1, [%d1];", "", True),
    ],
)
def test_a_word_is_handed_over_from_one_cta_to_another(send, receive, after, races):
    body = _HANDOVER.format(send=send, receive=receive, after=after)
    text = kernel(body, ".param .u64 data, .param .u64 flag")
    report = launch(text, [np.zeros(1, np.uint32), np.zeros(1, np.uint32)], 1, grid=(2, 1, 1))
    assert kinds(report) == ({"race"} if races else set())


@pytest.mark.parametrize(("order", "races"), [("acq_rel", False), ("relaxed", True)])
def test_what_a_thread_has_been_told_it_tells_on(order, races):
    # CTA 0 → counter → CTA 1 → counter → CTA 2, which reads what CTA 0 wrote
    body = f"""
    ld.param.u64 %d0, [data]; ld.param.u64 %d1, [count]; mov.u32 %r0, %ctaid.x; setp.ne.u32 %p0, %r0, 0;
    @!%p0 st.global.u32 [%d0], 7;
    turn: ld.acquire.gpu.global.u32 %r1, [%d1]; setp.ne.u32 %p1, %r1, %r0; @%p1 bra turn;
    setp.eq.u32 %p2, %r0, 2; @%p2 ld.global.u32 %r2, [%d0];
    atom.{order}.gpu.global.add.u32 %r3, [%d1], 1; ret;"""
    text = kernel(body, ".param .u64 data, .param .u64 count")
    report = launch(text, [np.zeros(1, np.uint32), np.zeros(1, np.uint32)], 1, grid=(3, 1, 1))
    assert kinds(report) == ({"race"} if races else set())


def test_a_barrier_of_a_cta_hands_on_what_one_thread_was_told():
    body = """
    ld.param.u64 %d0, [data]; ld.param.u64 %d1, [flag]; mov.u32 %r0, %ctaid.x; mov.u32 %r4, %tid.x;
    setp.eq.u32 %p3, %r4, 0; mul.wide.u32 %d2, %r4, 4; add.u64 %d2, %d0, %d2; setp.ne.u32 %p0, %r0, 0; @%p0 bra take;
    st.global.u32 [%d2], 7; bar.sync 0; @%p3 st.release.gpu.global.u32 [%d1], 1; ret;
    take: @!%p3 bra told;
    again: ld.acquire.gpu.global.u32 %r1, [%d1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra again;
    told: bar.sync 0; xor.b32 %r4, %r4, 32; mul.wide.u32 %d2, %r4, 4; add.u64 %d2, %d0, %d2;
    ld.global.u32 %r2, [%d2]; ret;
    """
    arrays: list[object] = [np.zeros(64, np.uint32), np.zeros(1, np.uint32)]
    text = kernel(body, ".param .u64 data, .param .u64 flag")
    assert launch(text, arrays, 64, grid=(2, 1, 1)).ok
    without = text.replace("told: bar.sync 0;", "told:")
    assert kinds(launch(without, [np.zeros(64, np.uint32), np.zeros(1, np.uint32)], 64, grid=(2, 1, 1))) == {"race"}


def test_ctas_that_write_one_word_of_global_memory_race():
    body = "ld.param.u64 %d0, [out]; mov.u32 %r1, %ctaid.x; st.global.u32 [%d0], %r1; ret;"
    report = launch(kernel(body), [np.zeros(1, np.uint32)], 1, grid=(2, 1, 1))
    assert kinds(report) == {"race"}


def test_the_barrier_of_a_cluster_orders_its_ctas():
    body = """.shared .align 4 .b8 b[4]; mov.u32 %r1, b; mov.u32 %r2, %cluster_ctarank; xor.b32 %r3, %r2, 1;
    mapa.shared::cluster.u32 %r4, %r1, %r3; st.shared::cluster.u32 [%r4], %r2;
    barrier.cluster.arrive; barrier.cluster.wait; ld.shared.u32 %r5, [%r1]; ret;"""
    text = kernel(body, "")
    options = {"grid": (2, 1, 1), "cluster": (2, 1, 1)}
    assert launch(text, [], 1, **options).ok
    relaxed = text.replace("cluster.arrive", "cluster.arrive.relaxed")
    assert kinds(launch(relaxed, [], 1, **options)) == {"race"}


def test_a_cta_that_may_have_exited_is_not_accessed():
    # each CTA reads a word of the other, and nothing keeps the other from ending before
    body = """.shared .align 4 .b8 b[4]; mov.u32 %r1, b; mov.u32 %r2, %cluster_ctarank; xor.b32 %r3, %r2, 1;
    mapa.shared::cluster.u32 %r4, %r1, %r3; st.shared.u32 [%r1], %r2;
    barrier.cluster.arrive; barrier.cluster.wait; ld.shared::cluster.u32 %r5, [%r4];
    """
    options = {"grid": (2, 1, 1), "cluster": (2, 1, 1)}
    keep = "barrier.cluster.arrive; barrier.cluster.wait;"
    assert launch(kernel(body + keep + "ret;", ""), [], 1, **options).ok
    report = launch(kernel(body + "ret;", ""), [], 1, **options)
    assert kinds(report) == {"race"}
    assert "exited" in report.findings[0].message


def test_a_weak_write_behind_a_strong_one_of_its_thread_is_not_forgotten():
    # thread 0 makes a counter and counts itself; the others count without knowing that it is made
    body = (
        _SHARED
        + """mov.u32 %r3, b; setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.u32 [%r3], 0;
    @%p0 atom.shared.add.u32 %r4, [%r3], 1; {} @!%p0 atom.shared.add.u32 %r4, [%r3], 1;"""
    )
    assert kinds_of_two_warps(body.format("")) == {"race"}
    assert kinds_of_two_warps(body.format("bar.sync 0;")) == set()
