"""Observation order: who has read what atomics and strong stores left in a word may go on with it by plain accesses.

PTX ISA, "Causality Order": X precedes Y if X precedes some Z in observation order, and Z precedes Y in base causality
order. That orders X with Y, and nothing before X.
"""

import numpy as np
import pytest

from ptxsim_cases.kernel_text import OWN_WORD, kernel, kinds, launch

#: Each CTA counts itself in the word `n` ($count), and one of them, told by the count, sets it back ($reset).
_TICKET = """
ld.param.u64 %d0, [out]; add.u64 %d1, %d0, 4; mov.u32 %r0, %tid.x; mov.u32 %r2, %ctaid.x; setp.ne.u32 %p0, %r0, 0;
{before} @%p0 bra meet; {count} meet: {meet} {after} ret;
"""
_COUNT = "atom.global.add.u32 %r1, [%d0], 1;"
_LAST = "@%p0 ret; setp.ne.u32 %p1, %r1, 3; @%p1 ret; "
_RESET = _LAST + "st.global.u32 [%d0], 0;"


def _tickets(count: str = _COUNT, after: str = _RESET, before: str = "", meet: str = "", threads: int = 64) -> set[str]:
    text = kernel(_TICKET.format(before=before, count=count, meet=meet, after=after))
    return kinds(launch(text, [np.zeros(2, np.uint32)], threads, grid=(4, 1, 1)))


@pytest.mark.parametrize(
    "count",
    [
        _COUNT,
        "fence.acq_rel.gpu; " + _COUNT,
        "fence.acq_rel.gpu; " + _COUNT + " fence.acq_rel.gpu;",
        "membar.gl; " + _COUNT.replace("add.u32 %r1, [%d0], 1", "inc.u32 %r1, [%d0], 9"),
        _COUNT.replace("global.", "acq_rel.gpu.global."),
    ],
)
def test_the_last_cta_sets_a_ticket_counter_back(count):
    assert _tickets(count) == set()
    assert _tickets(count, _RESET.replace("st.global.u32 [%d0], 0", "ld.global.u32 %r3, [%d0]")) == set()


@pytest.mark.parametrize(
    ("count", "after"),
    [
        # the first one is told by its ticket of no other
        (_COUNT, _RESET.replace("%r1, 3", "%r1, 0")),
        (_COUNT, _RESET.replace("%r1, 3", "%r1, 2")),
        # scopes that do not have both threads
        (_COUNT.replace("global.", "relaxed.cta.global."), _RESET),
        # reductions, and atomics whose value decides nothing, tell nobody who is last: here it is CTA 3
        ("red.global.add.u32 [%d0], 1;", _RESET.replace("%r1, 3", "%r2, 3")),
        (_COUNT, _RESET.replace("%r1, 3", "%r2, 3")),
        # a plain store between two atomics is observed by none
        (_COUNT.replace(";", "; setp.eq.u32 %p2, %r1, 1; @%p2 st.global.u32 [%d0], 2;"), _RESET),
    ],
)
def test_a_counter_that_is_set_back_by_another_one_races(count, after):
    assert _tickets(count, after) == {"race"}


def test_a_thread_that_knows_the_last_one_may_set_the_counter_back():
    share = ".shared .align 4 .b8 last[4]; mov.u32 %r5, last; "
    count, read = _COUNT + " st.shared.u32 [%r5], %r1;", "ld.shared.u32 %r1, [%r5];"
    other = _RESET.replace("@%p0 ret;", "setp.ne.u32 %p0, %r0, 40; @%p0 ret;")
    assert _tickets(count, read + other, share, "bar.sync 0;") == set()
    assert "race" in _tickets(count, read + other, share)


@pytest.mark.parametrize(
    ("count", "races"),
    [
        (_COUNT, True),
        ("fence.acq_rel.gpu; " + _COUNT, True),
        (_COUNT + " fence.acq_rel.gpu;", True),
        ("fence.acq_rel.gpu; " + _COUNT + " fence.acq_rel.gpu;", False),
        (_COUNT.replace("global.", "acq_rel.gpu.global."), False),
    ],
)
def test_what_was_done_before_an_atomic_is_ordered_by_release_and_acquire_only(count, races):
    # the second word is data: CTA 0 writes it before it counts itself, the last one reads it
    write = "setp.eq.u32 %p3, %r2, 0; @%p3 st.global.u32 [%d1], 7; "
    found = _tickets(write + count, _RESET + " ld.global.u32 %r3, [%d1];", threads=1)
    assert found == ({"race"} if races else set())


#: Thread 0 raises a flag, and thread 32 waits for that, in a warp each.
_FLAG = """.shared .align 4 .b8 f[4]; mov.u32 %r1, f; setp.eq.u32 %p0, %r0, 0; setp.eq.u32 %p1, %r0, 32;
@%p0 st.volatile.shared.u32 [%r1], 0; bar.sync 0; @%p0 bra send; @%p1 bra take; ret;
send: {} ret;
take: ld.{}.shared.u32 %r2, [%r1]; setp.eq.u32 %p2, %r2, 0; @%p2 bra take; {} ret;
"""


@pytest.mark.parametrize(
    ("send", "order", "then", "races"),
    [
        ("st.volatile.shared.u32 [%r1], 1;", "volatile", "st.shared.u32 [%r1], 0;", False),
        ("st.relaxed.cta.shared.u32 [%r1], 1;", "relaxed.cta", "ld.shared.u32 %r3, [%r1];", False),
        ("red.shared.add.u32 [%r1], 1;", "relaxed.cta", "st.shared.u8 [%r1], 0;", False),
        # a plain store is observed by none, and one that is seen is seen in every byte
        ("st.shared.u32 [%r1], 1;", "volatile", "st.shared.u32 [%r1], 0;", True),
        ("st.volatile.shared.u32 [%r1], 1;", "volatile", "st.shared.u8 [%r1+1], 0;", False),
    ],
)
def test_who_has_seen_a_flag_raised_may_lower_it(send, order, then, races):
    report = launch(kernel(OWN_WORD + _FLAG.format(send, order, then)), [np.zeros(64, np.uint32)], 64)
    assert kinds(report) == ({"race"} if races else set()), str(report)


def test_a_plain_store_ends_what_a_release_has_left():
    # CTA 0 releases data by a counter that CTA 1 sets back; who then acquires the counter is told nothing of the data
    body = """ld.param.u64 %d0, [out]; add.u64 %d1, %d0, 4; add.u64 %d2, %d0, 8; mov.u32 %r2, %ctaid.x;
    setp.eq.u32 %p0, %r2, 0; setp.eq.u32 %p1, %r2, 1; @%p0 bra send; @%p1 bra reset;
    again: ld.acquire.gpu.global.u32 %r1, [%d2]; setp.eq.u32 %p2, %r1, 0; @%p2 bra again;
    ld.acquire.gpu.global.u32 %r1, [%d0]; ld.global.u32 %r3, [%d1]; ret;
    send: st.global.u32 [%d1], 7; st.release.gpu.global.u32 [%d0], 1; ret;
    reset: ld.relaxed.gpu.global.u32 %r1, [%d0]; setp.eq.u32 %p2, %r1, 0; @%p2 bra reset;
    {} st.release.gpu.global.u32 [%d2], 1; ret;"""
    report = launch(kernel(body.format("st.global.u32 [%d0], 0;")), [np.zeros(3, np.uint32)], 1, grid=(3, 1, 1))
    assert [each.message.split()[0] for each in report.findings] == ["reads"]
    assert launch(kernel(body.format("")), [np.zeros(3, np.uint32)], 1, grid=(3, 1, 1)).ok


def test_lanes_of_one_atomic_observe_those_before_them():
    body = """.shared .align 4 .b8 n[4]; mov.u32 %r1, n; setp.eq.u32 %p0, %r0, 0;
    @%p0 st.shared.u32 [%r1], 0; bar.sync 0; atom.shared.add.u32 %r2, [%r1], 1;
    setp.eq.u32 %p1, %r2, {}; @%p1 st.shared.u32 [%r1], 0;"""
    for ticket, found in ((63, set()), (62, {"race"}), (0, {"race"})):
        report = launch(kernel(OWN_WORD + body.format(ticket) + " ret;"), [np.zeros(64, np.uint32)], 64)
        assert kinds(report) == found
