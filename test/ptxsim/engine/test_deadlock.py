"""Kernels that never end are found, whatever they do meanwhile; kernels that take long are not."""

import numpy as np
import pytest

from ptxsim.engine import deadlock, grid
from ptxsim_cases.kernel_text import OWN_WORD, kernel, kinds, launch

_POLL = "ld.volatile.global.u32 %r2, [%d0]; setp.eq.u32 %p1, %r2, 77;"
_BACK = "@!%p1 bra spin;"

#: Loops that wait for a 77 that nobody writes; each has the label `spin`.
_ENDLESS = {
    "nothing": "spin: bra spin;",
    "a count of no use": "spin: add.u32 %r3, %r3, 1; bra spin;",
    "a poll": f"spin: {_POLL} {_BACK}",
    "a poll that is counted": f"spin: add.u32 %r3, %r3, 1; {_POLL} {_BACK} st.global.u32 [%d0], %r3;",
    "a sleep that doubles": f"""mov.u32 %r4, 8; spin: nanosleep.u32 %r4; shl.b32 %r4, %r4, 1; min.u32 %r4, %r4, 1024;
        {_POLL} {_BACK}""",
    "a sleep after some rounds": f"""spin: add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 3000; @%p2 bra over;
        nanosleep.u32 %r3; over: {_POLL} {_BACK}""",
    "a sleep that grows on one way": f"""mov.u32 %r4, 1; spin: setp.gt.u32 %p2, %r4, 100; @%p2 bra long;
        add.u32 %r4, %r4, 3; bra.uni meet; long: add.u32 %r4, %r4, 1; meet: nanosleep.u32 %r4; {_POLL} {_BACK}""",
    "a loop of delay by the clock": f"""spin: {_POLL} @%p1 bra end; mov.u64 %d3, %clock64; delay:
        mov.u64 %d4, %clock64; sub.u64 %d4, %d4, %d3; setp.lt.u64 %p2, %d4, 50000; @%p2 bra delay; bra spin; end:""",
    "a loop of delay by a count": f"""spin: {_POLL} @%p1 bra end; mov.u32 %r4, 0;
        delay: add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 30; @%p2 bra delay; bra spin; end:""",
    "a compare-and-swap": """spin: atom.global.cas.b32 %r2, [%d0], 77, 1; setp.eq.u32 %p1, %r2, 77; @!%p1 bra spin;""",
    "an atomic that changes nothing": f"""spin: atom.global.or.b32 %r2, [%d0], 0; setp.eq.u32 %p1, %r2, 77; {_BACK}""",
    "a store of the same": f"spin: st.shared.u32 [box], 5; {_POLL} {_BACK}",
    "a reduction of nothing": f"spin: red.global.add.u32 [%d0], 0; {_POLL} {_BACK}",
    "a barrier": f"spin: bar.sync 0; {_POLL} {_BACK}",
    "one thread that asks for all": """setp.eq.u32 %p3, %r0, 0; spin: @%p3 ld.volatile.global.u32 %r2, [%d0];
        @%p3 st.shared.u32 [box], %r2; bar.sync 0; ld.shared.u32 %r2, [box]; bar.sync 0;
        setp.eq.u32 %p1, %r2, 77; @!%p1 bra spin;""",
    "a vote": f"spin: {_POLL} vote.sync.any.pred %p1, %p1, -1; {_BACK}",
    "a function": """spin: call (%r2), look, (%d0); setp.eq.u32 %p1, %r2, 77; @!%p1 bra spin;""",
    "some lanes": f"and.b32 %r4, %r0, 1; setp.eq.u32 %p2, %r4, 0; @%p2 ret; spin: {_POLL} {_BACK}",
    "two places": f"""and.b32 %r4, %r0, 1; setp.eq.u32 %p2, %r4, 0; @%p2 bra other; spin: {_POLL} {_BACK} ret;
        other: add.u32 %r3, %r3, 1; {_POLL} @!%p1 bra other;""",
    "a wait that a clock ends only in part": f"""mov.u64 %d3, %clock64; spin: mov.u64 %d4, %clock64;
        sub.u64 %d4, %d4, %d3; setp.gt.u64 %p2, %d4, 1000000000; @%p2 bra late; late: {_POLL} {_BACK}""",
}
_LOOK = ".func (.reg .u32 y) look(.reg .u64 a) { ld.volatile.global.u32 y, [a]; ret; }\n"
_START = OWN_WORD + ".shared .b32 box; mov.u32 %r3, 0;\n"


@pytest.fixture
def _soon(monkeypatch):
    """Make threads suspicious after fewer turns, so that loops of some thousand rounds are long."""
    monkeypatch.setattr(grid, "_CLUSTER_ROUNDS", 4)
    for name, turns in (("_QUIET_TURNS", 500), ("_MANY_TURNS", 1500), ("_PATIENCE", 20_000)):
        monkeypatch.setattr(deadlock, name, turns)


soon = pytest.mark.usefixtures("_soon")


def run(body: str, threads: int = 64, **options):
    """Run a kernel on an array of zeros; return the report and the array."""
    out = np.zeros(threads, np.uint32)
    return launch(kernel(_START + body + "\nret;", module=_LOOK), [out], threads, checks=("barriers",), **options), out


@soon
@pytest.mark.parametrize("body", _ENDLESS.values(), ids=_ENDLESS.keys())
def test_a_loop_without_end_is_a_deadlock(body):
    report, _ = run(body)
    assert kinds(report) == {"deadlock"}
    assert "spins for ever" in report.findings[0].message


@pytest.mark.parametrize("name", ["a poll that is counted", "a compare-and-swap", "a store of the same"])
def test_a_loop_without_end_is_found_in_seconds(name):
    # with the bounds as they are
    report, _ = run(_ENDLESS[name])
    assert kinds(report) == {"deadlock"}


@soon
def test_a_loop_that_a_count_far_away_may_end_is_given_up():
    report, _ = run(f"spin: add.u32 %r3, %r3, 1; setp.gt.u32 %p2, %r3, 4000000000; @%p2 trap; {_POLL} {_BACK}", 32)
    assert kinds(report) == {"deadlock"}


def test_ctas_that_wait_for_each_other_are_a_deadlock():
    report, _ = run(f"mov.u32 %r5, %ctaid.x; {_ENDLESS['a poll that is counted']}", 32, grid=(4, 1, 1))
    assert kinds(report) == {"deadlock"}
    assert {thread.cta for finding in report.findings for thread in finding.threads} == {(0, 0, 0)}
    assert report.findings[0].occurrences == 128


#: Kernels that take long, and end: each stores 1.
_LONG = {
    "a count": "spin: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 9000; @%p1 bra spin;",
    "a generator of random numbers": """spin: mad.lo.u32 %r3, %r3, 1664525, 1013904223;
        setp.ne.u32 %p1, %r3, 0xfa969f48; @%p1 bra spin;""",
    "a count of rounds within rounds": """spin: mov.u32 %r4, 0; inner: add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 60;
        @%p1 bra inner; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 100; @%p1 bra spin;""",
    "a count in some rounds": """mov.u32 %r4, 0; spin: add.u32 %r4, %r4, 1; and.b32 %r5, %r4, 3;
        setp.ne.u32 %p2, %r5, 0; @%p2 bra over; add.u32 %r3, %r3, 1; over: setp.lt.u32 %p1, %r3, 2500;
        @%p1 bra spin;""",
    "a float that shrinks": """mov.f32 %r4, 0f3F800000; spin: mul.f32 %r4, %r4, 0f3F7FF000;
        setp.gt.f32 %p1, %r4, 0f3A000000; @%p1 bra spin;""",
    "a poll with a count": f"spin: add.u32 %r3, %r3, 1; {_POLL} setp.lt.u32 %p1, %r3, 9000; @%p1 bra spin;",
    "a time": """mov.u64 %d3, %globaltimer; spin: mov.u64 %d4, %globaltimer; sub.u64 %d4, %d4, %d3;
        setp.lt.u64 %p1, %d4, 3000000000; @%p1 bra spin;""",
    "a time of 32 bits": """mov.u32 %r4, %clock; spin: mov.u32 %r5, %clock; sub.u32 %r5, %r5, %r4;
        setp.lt.u32 %p1, %r5, 1000000000; @%p1 bra spin;""",
    "a time in each of many rounds": """spin: mov.u64 %d3, %clock64;
        delay: mov.u64 %d4, %clock64; sub.u64 %d4, %d4, %d3; setp.lt.u64 %p2, %d4, 1000000000; @%p2 bra delay;
        add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 50; @%p1 bra spin;""",
    "a poll with a time": f"""mov.u64 %d3, %clock64; spin: {_POLL} @%p1 bra end; mov.u64 %d4, %clock64;
        sub.u64 %d4, %d4, %d3; setp.lt.u64 %p1, %d4, 10000000000; @%p1 bra spin; end:""",
    "barriers": "spin: bar.sync 0; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 4000; @%p1 bra spin;",
    "one warp that counts while the others wait": """setp.ge.u32 %p2, %r0, 32; @%p2 bra meet;
        spin: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 5000; @%p1 bra spin; meet: bar.sync 0;""",
    "one lane that counts while the others poll": """setp.ne.u32 %p2, %r0, 0; @%p2 bra wait; spin: add.u32 %r3, %r3, 1;
        setp.lt.u32 %p1, %r3, 4000; @%p1 bra spin; st.volatile.shared.u32 [box], 9; bra.uni end;
        wait: ld.volatile.shared.u32 %r4, [box]; setp.ne.u32 %p1, %r4, 9; @%p1 bra wait; end:""",
}


@soon
@pytest.mark.parametrize("body", _LONG.values(), ids=_LONG.keys())
def test_a_loop_that_ends_is_none(body):
    # memory stays the same for much longer than it takes to become suspicious
    report, out = run(body + "mov.u32 %r9, 1; st.global.u32 [%d0], %r9;", 64)
    assert report.ok, str(report)
    assert (out == 1).all()


def test_a_long_count_is_no_deadlock():
    # with the bounds as they are
    report, out = run(
        "spin: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 50000; @%p1 bra spin; st.global.u32 [%d0], %r3;"
    )
    assert report.ok, str(report)
    assert (out == 50000).all()


def test_a_cta_may_compute_for_long_while_others_wait_for_it():
    body = """mov.u32 %r5, %ctaid.x; ld.param.u64 %d0, [out]; setp.ne.u32 %p2, %r5, 0; @%p2 bra wait;
    spin: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 20000; @%p1 bra spin; mov.u32 %r4, 9;
    st.volatile.global.u32 [%d0], %r4; ret; wait: ld.volatile.global.u32 %r4, [%d0]; setp.ne.u32 %p1, %r4, 9;
    @%p1 bra wait;"""
    report, out = run(body, 32, grid=(3, 1, 1))
    assert report.ok, str(report)
    assert out[0] == 9
