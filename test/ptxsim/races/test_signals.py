"""The mbarriers that count copies: who issues a copy knows that its mbarrier is made, in its own CTA and in others."""

import numpy as np
import pytest

from ptxsim import Report
from ptxsim_cases.bulk_text import LOAD, PARAMETERS, WAIT, numbers
from ptxsim_cases.kernel_text import kernel, kinds, launch

#: `%p0` is true for the thread that makes the mbarrier at %r2, `%p2` for the one that copies, of another warp.
_SETUP = """
.shared .align 128 .b8 tile[256]; .shared .align 8 .b64 full;
ld.param.u64 %d1, [a]; mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mov.u32 %r2, full; mov.u32 %r3, %cluster_ctarank;
setp.eq.u32 %p0, %r0, 0; setp.eq.u32 %p2, %r0, 32;
"""
_INIT, _EXPECT = "@%p0 mbarrier.init.shared.b64 [%r2], 1;", "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 256;"
_COPY = f"{LOAD} [%r1], [%d1], 256, [%r2];"
_MEET = "bar.sync 0;"
_OF_CLUSTER, _OF_PROXY = "@%p0 fence.mbarrier_init.release.cluster;", "@%p0 fence.proxy.async;"


def _run(body: str, **options) -> Report:
    arrays = [numbers(), np.zeros(64, np.uint32)]
    return launch(kernel(_SETUP + body + "\nret;", PARAMETERS), arrays, 64, **options)


# The mbarrier is accessed as by the generic proxy, and a barrier of the CTA makes it seen: fences change nothing.
@pytest.mark.parametrize("fence", ["", _OF_CLUSTER, _OF_PROXY])
@pytest.mark.parametrize(("meet", "expected"), [(_MEET, set()), ("", {"race"})])
def test_a_new_mbarrier_counts_a_copy_behind_a_barrier(fence, meet, expected):
    body = f"{_INIT} {fence} {meet} @%p0 {_EXPECT} @%p2 {_COPY} {_MEET} {WAIT.format(0)}"
    assert kinds(_run(body)) == expected


def test_the_message_names_the_line_of_the_other():
    (finding,) = _run(f"{_INIT}\n@%p0 {_EXPECT} @%p2 {_COPY} {_MEET} {WAIT.format(0)}").findings
    init = next(
        number for number, line in enumerate(kernel(_SETUP + _INIT, PARAMETERS).split("\n"), 1) if _INIT in line
    )
    assert finding.message.startswith("signals 8 bytes of shared memory that another thread writes at line")
    assert f"line {init}" in finding.message
    assert "nothing orders the two" in finding.message


def test_who_makes_an_mbarrier_may_copy_at_once():
    assert kinds(_run(f"{_INIT} @%p0 {_EXPECT} @%p0 {_COPY} {_MEET} {WAIT.format(0)}")) == set()


@pytest.mark.parametrize(("meet", "expected"), [(_MEET, set()), ("", {"race"})])
def test_an_mbarrier_made_anew_counts_a_copy_behind_another_barrier(meet, expected):
    first = f"{_INIT} {_MEET} @%p0 {_EXPECT} @%p2 {_COPY} {WAIT.format(0)} {_MEET}"
    second = f"@%p0 {_EXPECT} @%p2 {_COPY} {_MEET} {WAIT.format(0).replace('wait_', 'again_')}"
    body = f"{first} @%p0 mbarrier.inval.shared.b64 [%r2]; {_INIT} {meet} {second}"
    assert kinds(_run(body)) == expected


# Arrivals are atomic with what a copy counts: those of other threads, with bytes and without, may come when they like.
def test_arrivals_and_copies_come_in_any_order():
    body = f"{_INIT.replace('1;', '63;')} {_MEET} @%p0 {_EXPECT} @%p2 bra copy; @%p0 bra wait;"
    body += f"mbarrier.arrive.shared.b64 _, [%r2]; bra wait; copy: {_COPY} wait: {WAIT.format(0)}"
    assert kinds(_run(body)) == set()


_CLUSTER = "barrier.cluster.arrive{}; barrier.cluster.wait;"


# CTA 0 copies to both CTAs of its cluster, and counts at the mbarriers of both.
@pytest.mark.parametrize(
    ("meet", "expected"),
    [
        (_CLUSTER.format(""), set()),
        (_OF_CLUSTER + _CLUSTER.format(".relaxed"), set()),
        (_CLUSTER.format(".relaxed") + _MEET, {"race"}),
        (_OF_PROXY + _CLUSTER.format(".relaxed") + _MEET, {"race"}),
        (_OF_CLUSTER.replace("@%p0", "@%p2") + _CLUSTER.format(".relaxed") + _MEET, {"race"}),
    ],
)
def test_a_new_mbarrier_of_another_cta_counts_a_copy_behind_a_barrier_of_the_cluster(meet, expected):
    copy = f"@%p3 {LOAD}.multicast::cluster [%r1], [%d1], 256, [%r2], %h1;"
    chosen = "mov.b16 %h1, 3; setp.eq.and.u32 %p3, %r3, 0, %p2;"
    body = f"{_INIT} {meet} @%p0 {_EXPECT} {chosen} {copy} {WAIT.format(0)}"
    assert kinds(_run(body + _CLUSTER.format(""), grid=(2, 1, 1), cluster=(2, 1, 1))) == expected
