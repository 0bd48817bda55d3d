"""Races where what is known goes a long way: scopes, fences far from their accesses, relaxed arrivals, failed swaps."""

import numpy as np
import pytest

from ptxsim_cases.kernel_text import kernel, kinds, kinds_of_two_warps, launch

_PAIR = {"grid": (2, 1, 1), "cluster": (2, 1, 1)}
#: CTA 0 writes `data` and raises the flag behind it; thread 0 of CTA 1 waits for that, and thread 1 reads `data`.
_RELAY = """
.shared .align 4 .b8 told[4]; mov.u32 %r9, told;
ld.param.u64 %d0, [data]; add.u64 %d1, %d0, 4; mov.u32 %r0, %ctaid.x; mov.u32 %r2, %tid.x;
setp.ne.u32 %p0, %r0, 0; setp.ne.u32 %p1, %r2, 0; @%p0 bra take; @%p1 ret;
st.global.u32 [%d0], 7; {send} ret;
take: @!%p1 st.volatile.shared.u32 [%r9], 0; bar.sync 0; @%p1 bra meet;
again: {receive} setp.eq.u32 %p2, %r1, 0; @%p2 bra again;
{relay} @%p1 ld.global.u32 %r3, [%d0]; ret;
"""
_RELEASE, _ACQUIRE = "st.release.gpu.global.u32 [%d1], 1;", "ld.acquire.gpu.global.u32 %r1, [%d1];"
_BARRIER = "meet: bar.sync 0;"
_FLAG = """st.release.cta.shared.u32 [%r9], 1;
meet: @!%p1 ret; hear: ld.{}.cta.shared.u32 %r4, [%r9]; setp.eq.u32 %p3, %r4, 0; @%p3 bra hear;"""
_SEND, _RECEIVE = "st.relaxed.gpu.global.u32 [%d1], 1;", "ld.relaxed.gpu.global.u32 %r1, [%d1];"


@pytest.mark.parametrize(
    ("send", "receive", "relay", "races"),
    [
        # what was told to a thread in a wide scope it tells on in a narrow one
        (_RELEASE, _ACQUIRE, _FLAG.format("acquire"), False),
        (_RELEASE, _ACQUIRE, _FLAG.format("relaxed"), True),
        # a narrow fence behind a wide one takes nothing away, on either side
        (f"fence.acq_rel.gpu; fence.acq_rel.cta; {_SEND}", _ACQUIRE, _BARRIER, False),
        (f"fence.acq_rel.cta; {_SEND}", _ACQUIRE, _BARRIER, True),
        (_RELEASE, _RECEIVE, "fence.acq_rel.cta; fence.acq_rel.gpu;" + _BARRIER, False),
        (_RELEASE, _RECEIVE, "fence.acq_rel.cta;" + _BARRIER, True),
        # fence.sc synchronises behind a barrier, too; fence.acq_rel only in the thread that has read
        (f"membar.gl; {_SEND}", _RECEIVE, _BARRIER + "membar.gl;", False),
        (f"fence.sc.gpu; {_SEND}", _RECEIVE, _BARRIER + "fence.acq_rel.gpu;", True),
        (f"fence.acq_rel.gpu; {_SEND}", _RECEIVE, _BARRIER + "fence.sc.gpu;", True),
        # fences of one direction
        (f"fence.release.gpu; {_SEND}", _RECEIVE, "fence.acquire.gpu;" + _BARRIER, False),
        (f"fence.acquire.gpu; {_SEND}", _RECEIVE, "fence.acquire.gpu;" + _BARRIER, True),
        (f"fence.release.gpu; {_SEND}", _RECEIVE, "fence.release.gpu;" + _BARRIER, True),
        # a release is continued by later strong stores of its thread
        (_RELEASE.replace("1;", "0;") + _SEND, _ACQUIRE, _BARRIER, False),
        # who reduces reads nothing
        (_RELEASE, "atom.global.add.u32 %r1, [%d1], 1;", "fence.acq_rel.gpu;" + _BARRIER, False),
        (_RELEASE, "red.global.add.u32 [%d1], 1; mov.u32 %r1, 1;", "fence.acq_rel.gpu;" + _BARRIER, True),
    ],
)
def test_what_is_told_is_told_on(send, receive, relay, races):
    text = kernel(_RELAY.format(send=send, receive=receive, relay=relay), ".param .u64 data")
    report = launch(text, [np.zeros(2, np.uint32)], 64, grid=(2, 1, 1))
    assert kinds(report) == ({"race"} if races else set()), str(report)


_SHARED = ".shared .align 16 .b8 b[512]; mov.u32 %r1, b; mov.u32 %r5, %laneid;\n"


def _found(body: str) -> set[str]:
    return kinds_of_two_warps(_SHARED + body)


@pytest.mark.parametrize("lane", [0, 13, 31])
def test_a_word_that_all_lanes_read_is_overwritten_by_none_of_them_before_they_meet(lane):
    body = f"""setp.eq.u32 %p1, %r5, {lane}; shr.u32 %r6, %r0, 5; mad.lo.u32 %r6, %r6, 4, %r1;
    ld.shared.u32 %r4, [%r6]; {{}} @%p1 st.shared.u32 [%r6], 9;"""
    assert _found(body.format("")) == {"race"}
    assert _found(body.format("bar.warp.sync -1;")) == set()


def test_updates_of_one_warp_do_not_hide_those_of_another():
    # the last warp that counts meets, and reads the count that the other warp still changes
    body = """setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.u32 [%r1], 0; bar.sync 0;
    atom.shared.add.u32 %r4, [%r1], 1; {} bar.warp.sync -1; setp.eq.u32 %p1, %r0, 63; @%p1 ld.shared.u32 %r4, [%r1];"""
    assert _found(body.format("")) == {"race"}
    assert _found(body.format("bar.sync 0;")) == set()


def test_a_lane_that_updates_last_does_not_hide_the_others():
    body = """setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.u32 [%r1], 0; bar.sync 0; setp.gt.u32 %p1, %r0, 31; @%p1 ret;
    atom.shared.add.u32 %r4, [%r1], 1; {} setp.eq.u32 %p1, %r0, 31; @%p1 ld.shared.u32 %r4, [%r1];"""
    assert _found(body.format("")) == {"race"}
    assert _found(body.format("bar.warp.sync -1;")) == set()


def test_what_an_access_acquires_happens_before_it():
    # the word that is handed over is read plainly by its first owner
    body = """setp.gt.u32 %p1, %r0, 31; setp.eq.u32 %p0, %r5, 0; @%p0 st.volatile.shared.u32 [%r1], 0; bar.sync 0;
    @%p1 bra take; @%p0 ld.shared.u32 %r4, [%r1]; @%p0 st.{}.cta.shared.u32 [%r1], 1; ret;
    take: @!%p0 ret; again: atom.acquire.cta.shared.exch.b32 %r4, [%r1], 2; setp.ne.u32 %p2, %r4, 1; @%p2 bra again;"""
    assert "race" in _found(body.format("relaxed"))


def test_a_swap_that_fails_releases_nothing():
    # thread 32 fails to swap behind its write, and tells nobody of it by that
    body = """setp.eq.u32 %p0, %r0, 0; setp.eq.u32 %p1, %r0, 32; @%p0 st.volatile.shared.u32 [%r1], 5; bar.sync 0;
    @%p1 st.shared.u32 [%r1+4], 1; @%p1 atom.release.cta.shared.cas.b32 %r4, [%r1], {}, 6; @%p1 ret;
    @!%p0 ret; mov.u32 %r7, 0;
    again: add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, 200; @%p2 bra again;
    ld.acquire.cta.shared.u32 %r4, [%r1]; ld.shared.u32 %r4, [%r1+4];"""
    assert _found(body.format(4)) == {"race"}
    assert _found(body.format(5)) == set()


#: Each CTA of two writes a word of the other's, arrives at its mbarrier, waits for its own, and reads.
_REMOTE = """.shared .align 8 .b8 b[16]; mov.u32 %r1, b; add.u32 %r2, %r1, 8; mov.u32 %r3, %cluster_ctarank;
xor.b32 %r4, %r3, 1; mapa.shared::cluster.u32 %r5, %r1, %r4; mapa.shared::cluster.u32 %r6, %r2, %r4;
{late} mbarrier.init.shared::cta.b64 [%r2], 1; {init}
barrier.cluster.arrive{order}; barrier.cluster.wait;
st.shared::cluster.u32 [%r5], %r3; {before} mbarrier.arrive.{arrive}.cluster.shared::cluster.b64 _, [%r6];
again: mbarrier.try_wait.{wait}.cluster.shared::cta.b64 %p0, [%r2], 0; @!%p0 bra again; {behind}
ld.shared.u32 %r7, [%r1]; barrier.cluster.arrive; barrier.cluster.wait; ret;
"""
_FORM = {"late": "", "init": "", "order": "", "before": "", "behind": "", "arrive": "release", "wait": "parity.acquire"}
_FENCE = "fence.acq_rel.cluster;"
_INIT = "fence.mbarrier_init.release.cluster;"


@pytest.mark.parametrize(
    ("changes", "races"),
    [
        ({}, False),
        ({"arrive": "relaxed"}, True),
        ({"arrive": "relaxed", "before": _FENCE}, False),
        ({"arrive": "relaxed", "before": "fence.release.cluster;"}, False),
        ({"arrive": "relaxed", "before": "fence.acq_rel.cta;"}, True),
        ({"wait": "parity.relaxed"}, True),
        ({"wait": "parity.relaxed", "behind": _FENCE}, False),
        ({"wait": "parity.relaxed", "behind": "fence.acquire.cluster;"}, False),
        # the fence of mbarrier.init lets a relaxed arrival hand on what was made, and nothing else
        ({"order": ".relaxed"}, True),
        ({"order": ".relaxed", "init": _INIT}, False),
        ({"order": ".relaxed", "init": _INIT + "st.shared.u32 [%r1], 9;"}, True),
        ({"order": ".relaxed", "init": _FENCE}, False),
        ({"order": ".relaxed", "late": _FENCE}, True),
    ],
)
def test_relaxed_arrivals_hand_on_what_fences_have_prepared(changes, races):
    report = launch(kernel(_REMOTE.format(**_FORM | changes), ""), [], 1, **_PAIR)
    assert kinds(report) == ({"race"} if races else set()), str(report)
