"""The mbarrier instructions of the engine: who waits for whom, what states say, and what is found.

Source: PTX ISA 9.1 §9.7.13.15. Which forms exist was asked of ptxas 13.
"""

import numpy as np
import pytest

from ptxsim import Report
from ptxsim.errors import PtxError
from ptxsim_cases.kernel_text import OWN_WORD, kernel, kinds, launch, words

_BAR = ".shared .align 8 .b64 bar[4];\n"


def _init(count: int, index: int = 0) -> str:
    """How thread 0 makes the object `bar[index]`, and everybody waits for that."""
    return f"""
    setp.eq.u32 %p7, %r0, 0;
    @%p7 mbarrier.init.shared::cta.b64 [bar+{8 * index}], {count};
    bar.sync 0;
    """


def _wait(parity: int, index: int = 0) -> str:
    label = f"WAIT{parity}{index}"
    return f"""
    {label}: mbarrier.try_wait.parity.shared::cta.b64 %p6, [bar+{8 * index}], {parity};
    @!%p6 bra {label};
    """


def _words(body: str, threads: int = 32, **options) -> np.ndarray:
    return words(_BAR + body, threads, **options)


def _report(body: str, threads: int = 32, **options) -> Report:
    out = np.zeros(threads, np.uint32)
    return launch(kernel(OWN_WORD + _BAR + body + "\nret;"), [out], threads, **options)


def _result(predicate: str = "%p1") -> str:
    return f"selp.u32 %r9, 1, 0, {predicate}; st.global.u32 [%d0], %r9;"


def test_lanes_arrive_in_order():
    body = _init(32) + (
        "mbarrier.arrive.shared::cta.b64 %d5, [bar]; mbarrier.pending_count.b64 %r5, %d5; st.global.u32 [%d0], %r5;"
    )
    assert _words(body).tolist() == list(range(32, 0, -1))


def test_state_of_an_arrival_is_waited_for():
    # Each thread reads what another warp wrote before it arrived.
    body = (
        ".shared .align 4 .b32 box[64];\n"
        + _init(64)
        + """
    mov.u32 %r4, box; shl.b32 %r5, %r0, 2; add.u32 %r5, %r4, %r5; st.shared.u32 [%r5], %r0;
    mbarrier.arrive.shared.b64 %d5, [bar];
    W: mbarrier.try_wait.shared.b64 %p1, [bar], %d5, 1000;
    @!%p1 bra W;
    xor.b32 %r6, %r0, 32; shl.b32 %r6, %r6, 2; add.u32 %r6, %r4, %r6; ld.shared.u32 %r7, [%r6];
    st.global.u32 [%d0], %r7;
    """
    )
    assert _words(body, 64).tolist() == [thread ^ 32 for thread in range(64)]


@pytest.mark.parametrize(("parity", "expected"), [(0, 0), (1, 1)])
def test_parity_of_a_fresh_object(parity, expected):
    # The phase before the first one counts as complete.
    body = _init(1) + f"mbarrier.test_wait.parity.shared.b64 %p1, [bar], {parity};" + _result()
    assert (_words(body) == expected).all()


def test_phase_is_complete_with_the_last_arrival():
    body = _init(2) + (
        "mbarrier.arrive.shared.b64 %d5, [bar]; mbarrier.test_wait.shared.b64 %p1, [bar], %d5;"
        "mbarrier.arrive.shared.b64 _, [bar]; mbarrier.test_wait.shared.b64 %p2, [bar], %d5;"
        "selp.u32 %r9, 1, 0, %p1; selp.u32 %r8, 2, 0, %p2; add.u32 %r9, %r9, %r8; st.global.u32 [%d0], %r9;"
    )
    assert _words(body, 1).tolist() == [2]


def test_count_of_an_arrival():
    body = _init(64) + "mbarrier.arrive.release.cta.shared.b64 _, [bar], 2;" + _wait(0) + "st.global.u32 [%d0], %r0;"
    assert _words(body).tolist() == list(range(32))


def test_more_lanes_than_one_phase_takes():
    # 32 lanes at an object of 8: four phases, so that parity 1 is the last complete one.
    body = _init(8) + (
        "mbarrier.arrive.shared.b64 %d5, [bar]; mbarrier.pending_count.b64 %r5, %d5;"
        "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 1; selp.u32 %r6, 100, 0, %p1;"
        "add.u32 %r5, %r5, %r6; st.global.u32 [%d0], %r5;"
    )
    assert _words(body).tolist() == [108 - lane % 8 for lane in range(32)]


def test_lanes_at_different_objects():
    body = (
        _init(8)
        + "".join(f"@%p7 mbarrier.init.shared.b64 [bar+{8 * index}], 8;" for index in (1, 2, 3))
        + """
    bar.sync 0;
    mov.u32 %r4, bar; and.b32 %r5, %r0, 3; shl.b32 %r5, %r5, 3; add.u32 %r4, %r4, %r5;
    mbarrier.arrive.shared.b64 %d5, [%r4]; mbarrier.pending_count.b64 %r5, %d5;
    mbarrier.test_wait.shared.b64 %p1, [%r4], %d5; selp.u32 %r6, 100, 0, %p1;
    add.u32 %r5, %r5, %r6; st.global.u32 [%d0], %r5;
    """
    )
    assert _words(body).tolist() == [108 - lane // 4 for lane in range(32)]


def test_dropped_arrival_is_not_expected_again():
    body = _init(2) + (
        "mbarrier.arrive_drop.shared.b64 _, [bar]; mbarrier.arrive.shared.b64 _, [bar];"
        "mbarrier.arrive.shared.b64 %d5, [bar]; mbarrier.test_wait.shared.b64 %p1, [bar], %d5;" + _result()
    )
    assert _words(body, 1).tolist() == [1]


def test_bytes_are_waited_for():
    body = _init(1) + (
        "mbarrier.arrive.expect_tx.shared.b64 %d5, [bar], 48; mbarrier.test_wait.shared.b64 %p1, [bar], %d5;"
        "mbarrier.complete_tx.shared.b64 [bar], 16; mbarrier.test_wait.shared.b64 %p2, [bar], %d5;"
        "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [bar], 32;"
        "mbarrier.test_wait.shared.b64 %p3, [bar], %d5;"
        "selp.u32 %r7, 1, 0, %p1; selp.u32 %r8, 2, 0, %p2; selp.u32 %r9, 4, 0, %p3;"
        "add.u32 %r9, %r9, %r8; add.u32 %r9, %r9, %r7; st.global.u32 [%d0], %r9;"
    )
    assert _words(body, 1).tolist() == [4]


def test_first_attempt_fails_where_the_phase_is_incomplete():
    body = _init(2) + "mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;" + _result()
    assert _words(body, 1).tolist() == [0]


def test_generic_address():
    body = _init(32) + (
        "mov.u32 %r4, bar; cvt.u64.u32 %d4, %r4; cvta.shared.u64 %d4, %d4; mbarrier.arrive.b64 %d5, [%d4];"
        "W: mbarrier.try_wait.b64 %p1, [%d4], %d5; @!%p1 bra W; st.global.u32 [%d0], %r0;"
    )
    assert _words(body).tolist() == list(range(32))


def test_object_is_made_again_after_its_end():
    body = _init(1) + (
        "mbarrier.inval.shared.b64 [bar]; mbarrier.init.shared.b64 [bar], 1;"
        "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;" + _result()
    )
    assert _words(body, 1).tolist() == [0]


_REMOTE = """
    mov.u32 %r10, %cluster_ctarank; xor.b32 %r11, %r10, 1; mov.u32 %r12, bar;
    mapa.shared::cluster.u32 %r13, %r12, %r11;
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
"""


def test_arrival_at_another_cta():
    body = (
        _init(32)
        + _REMOTE
        + "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r13];"
        + "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [bar], 0; @!%p1 bra W;"
    )
    assert str(_report(body, grid=(2, 1, 1), cluster=(2, 1, 1))) == "no findings"


def test_other_lanes_wait_at_a_barrier_for_one_that_waits_for_another_cta():
    # Thread 0 of CTA 0 comes to the barrier once CTA 1, which is slow, has arrived: the warp is not divergent there.
    body = (
        _init(1)
        + _REMOTE
        + """
    setp.ne.u32 %p1, %r10, 0; @%p1 bra FAR;
    setp.ne.u32 %p2, %r0, 0; @%p2 bra JOIN;
    W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [bar], 0; @!%p3 bra W;
    JOIN: bar.sync 1; bra END;
    FAR: mov.u32 %r14, 0;
    SLOW: add.u32 %r14, %r14, 1; setp.lt.u32 %p4, %r14, 500; @%p4 bra SLOW;
    setp.ne.u32 %p2, %r0, 0; @%p2 bra END;
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r13];
    END: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    """
    )
    assert str(_report(body, grid=(2, 1, 1), cluster=(2, 1, 1))) == "no findings"


@pytest.mark.parametrize(
    ("arrive", "expected"),
    [
        ("barrier.cluster.arrive.release", set()),
        ("barrier.cluster.arrive.relaxed", {"race"}),
        ("fence.mbarrier_init.release.cluster; barrier.cluster.arrive.relaxed", set()),
    ],
)
def test_new_object_is_seen_in_the_cluster(arrive, expected):
    # Thread 0 of each CTA makes an object, which the other CTA arrives at once the cluster has met.
    body = (
        "setp.eq.u32 %p7, %r0, 0; @%p7 mbarrier.init.shared::cta.b64 [bar], 32;"
        + _REMOTE.replace("barrier.cluster.arrive", arrive)
        + "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r13];"
        + "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [bar], 0; @!%p1 bra W;"
        + "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
    )
    assert kinds(_report(body, grid=(2, 1, 1), cluster=(2, 1, 1))) == expected


# --- a kernel that only looks goes on ---


def test_peeking_kernel_completes_the_phase_itself():
    # No other thread could: the blocked second attempt gives false, too, and then the kernel arrives.
    peek = "mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @%p1 bra END;"
    body = (
        _init(1)
        + "mov.u32 %r5, 0; AGAIN: add.u32 %r5, %r5, 1;"
        + peek
        + "setp.lt.u32 %p2, %r5, 5; @%p2 bra AGAIN; mbarrier.arrive.shared.b64 _, [bar];"
        + _wait(0)
        + "END: st.global.u32 [%d0], %r5;"
    )
    assert _words(body, 1).tolist() == [5]


# --- deadlocks ---


def _deadlocks(report: Report) -> list[str]:
    return [finding.message for finding in report.findings if finding.kind == "deadlock"]


@pytest.mark.parametrize("test", ["try_wait", "test_wait"])
def test_missing_arrival_is_a_deadlock(test):
    body = _init(33) + (
        f"mbarrier.arrive.shared.b64 %d5, [bar]; W: mbarrier.{test}.shared.b64 %p1, [bar], %d5; @!%p1 bra W;"
    )
    report = _report(body)
    (message,) = _deadlocks(report)
    assert kinds(report) == {"deadlock"}
    assert "phase 0 (parity 0; 1 of 33 arrivals and 0 bytes pending) of the mbarrier bar (0x400)" in message


def test_each_waiting_group_is_named():
    body = (
        _init(2)
        + "@%p7 mbarrier.init.shared.b64 [bar+8], 3; bar.sync 0;"
        + "setp.lt.u32 %p1, %r0, 32; @%p1 bra FIRST;"
        + _wait(0, 1)
        + "bra END; FIRST:"
        + _wait(0, 0)
        + "END:"
    )
    messages = _deadlocks(_report(body, 64))
    assert [("bar (" in message, "bar+8 (" in message) for message in messages] == [(False, True), (True, False)]


def test_alternating_attempts_are_a_deadlock():
    body = (
        _init(1)
        + "@%p7 mbarrier.init.shared.b64 [bar+8], 1; bar.sync 0; W:"
        + "mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @%p1 bra END;"
        + "mbarrier.try_wait.parity.shared.b64 %p1, [bar+8], 0; @!%p1 bra W; END:"
    )
    assert kinds(_report(body)) == {"deadlock"}


def test_ctas_of_a_cluster_wait_for_each_other():
    body = _init(1) + _REMOTE + _wait(0) + "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r13];"
    report = _report(body, grid=(2, 1, 1), cluster=(2, 1, 1))
    assert kinds(report) == {"deadlock"}
    assert report.findings[0].occurrences == 64


# --- bytes that do not add up ---


def test_bytes_that_never_come_are_reported_where_they_are_expected():
    body = _init(1) + "@%p7 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;" + _wait(0)
    report = _report(body)
    mismatch = next(finding for finding in report.findings if finding.kind == "mbarrier-tx-mismatch")
    assert kinds(report) == {"mbarrier-tx-mismatch", "deadlock"}
    assert " bytes more are expected than copies bring, in phase " in mismatch.message
    expecting = kernel(OWN_WORD + _BAR + body).splitlines()[mismatch.line - 1]
    assert "expect_tx" in expecting


def test_bytes_that_nobody_waits_for_are_reported_at_the_end():
    assert kinds(_report(_init(1) + "@%p7 mbarrier.expect_tx.shared.b64 [bar], 64;")) == {"mbarrier-tx-mismatch"}


def test_more_bytes_than_an_object_counts():
    body = _init(1) + "@%p7 mbarrier.expect_tx.shared.b64 [bar], 1048576;"
    assert kinds(_report(body)) == {"mbarrier-tx-mismatch"}


# --- misuse ---


@pytest.mark.parametrize(
    ("operation", "kind"),
    [
        ("mbarrier.arrive.shared.b64 _, [bar], 3;", "barrier-divergence"),
        ("mbarrier.arrive.shared.b64 _, [bar], 0;", "barrier-divergence"),
        ("mbarrier.arrive_drop.shared.b64 _, [bar], 3;", "barrier-divergence"),
        ("mbarrier.arrive.noComplete.shared.b64 _, [bar], 2;", "barrier-divergence"),
        ("mbarrier.test_wait.parity.shared.b64 %p1, [bar], 2;", "barrier-divergence"),
        ("mbarrier.init.shared.b64 [bar], 2;", "barrier-divergence"),
        ("mbarrier.init.shared.b64 [bar+8], 0;", "barrier-divergence"),
        ("mbarrier.arrive.shared.b64 _, [bar+8];", "uninitialized"),
        ("mbarrier.test_wait.shared.b64 %p1, [bar], 5;", "uninitialized"),
        ("mbarrier.pending_count.b64 %r5, 5;", "uninitialized"),
        ("mbarrier.inval.shared.b64 [bar]; mbarrier.arrive.shared.b64 _, [bar];", "uninitialized"),
        ("st.shared.u64 [bar], 5; mbarrier.arrive.shared.b64 _, [bar];", "uninitialized"),
        ("mbarrier.arrive.shared.b64 _, [bar+4];", "misaligned"),
        ("mbarrier.arrive.shared.b64 _, [bar+32];", "out-of-bounds"),
        ("mbarrier.arrive.b64 _, [%d0];", "out-of-bounds"),
    ],
)
def test_misuse_is_found(operation, kind):
    report = _report(_init(2) + operation, 1)
    assert kinds(report) == {kind}
    assert len(report.findings) == 1


def test_object_of_another_cta_is_not_waited_for():
    body = (
        _init(1)
        + _REMOTE
        + ("cvt.u64.u32 %d4, %r13; cvta.shared::cluster.u64 %d4, %d4; mbarrier.test_wait.parity.b64 %p1, [%d4], 1;")
    )
    body += "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
    assert kinds(_report(body, grid=(2, 1, 1), cluster=(2, 1, 1))) == {"out-of-bounds"}


# --- what is ordered ---

_HANDED_ON = """
    .shared .align 4 .b32 box;
    INIT
    setp.ge.u32 %p1, %r0, 32; @%p1 bra READ;
    @%p7 st.shared.u32 [box], 7;
    ARRIVE
    bra END;
    READ: WAIT
    ld.shared.u32 %r5, [box]; st.global.u32 [%d0], %r5;
    END:
"""


def _handed_on(arrive: str, wait: str) -> set[str]:
    text = _HANDED_ON.replace("INIT", _init(32)).replace("ARRIVE", arrive).replace("WAIT", wait)
    return kinds(_report(text, 64)) - {"uninitialized"}


_ARRIVE = "mbarrier.arrive.shared.b64 _, [bar];"


def test_release_and_acquire_order_accesses():
    assert _handed_on(_ARRIVE, _wait(0)) == set()


def test_relaxed_arrival_orders_nothing():
    assert _handed_on("mbarrier.arrive.relaxed.cta.shared.b64 _, [bar];", _wait(0)) == {"race"}


def test_relaxed_wait_orders_nothing():
    assert _handed_on(_ARRIVE, _wait(0).replace("parity.", "parity.relaxed.cta.")) == {"race"}


def test_wait_whose_result_nobody_looks_at_orders_nothing():
    wait = "mbarrier.try_wait.parity.shared.b64 %p5, [bar], 0;"
    assert _handed_on(_ARRIVE, 3 * wait) == {"race"}


# --- forms ---

_FORMS = """
mbarrier.init.b64 [bar], 1;
mbarrier.arrive.release.cluster.shared::cta.b64 %d5, [bar];
mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [bar], 2;
mbarrier.arrive.noComplete.release.cta.b64 %d5, [bar], 1;
mbarrier.arrive_drop.expect_tx.shared::cluster.b64 _, [bar], 1;
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 1;
mbarrier.test_wait.parity.b64 %p1, [bar], 1;
mbarrier.try_wait.parity.relaxed.cluster.b64 %p1, [bar], 1, %r1;
mbarrier.try_wait.relaxed.cta.b64 %p1, [bar], %d5, 200;
mbarrier.inval.b64 [bar];
"""
_NO_FORMS = """
mbarrier.init.shared::cluster.b64 [bar], 1;
mbarrier.arrive.cluster.shared::cluster.b64 _, [bar];
mbarrier.arrive.release.shared::cta.b64 _, [bar];
mbarrier.arrive.release.cluster.shared::cluster.b64 %d5, [bar];
mbarrier.arrive.expect_tx.shared::cta.b64 %d5, [bar];
mbarrier.arrive.noComplete.shared::cta.b64 %d5, [bar];
mbarrier.arrive.noComplete.relaxed.cta.b64 %d5, [bar], 1;
mbarrier.arrive.noComplete.release.cluster.b64 %d5, [bar], 1;
mbarrier.arrive.noComplete.release.cta.shared::cluster.b64 _, [bar], 1;
mbarrier.arrive.release.cta.expect_tx.shared::cta.b64 _, [bar], 1;
mbarrier.expect_tx.release.cta.shared::cta.b64 [bar], 1;
mbarrier.test_wait.shared::cluster.b64 %p1, [bar], %d5;
mbarrier.test_wait.parity.b64 %p1, [bar], 1, %r1;
mbarrier.try_wait.acquire.b64 %p1, [bar], %d5, 200;
mbarrier.try_wait.b64 _, [bar], %d5, 200;
mbarrier.inval.shared::cluster.b64 [bar];
mbarrier.arrive.shared.b64 [bar];
mbarrier.wait.b64 [bar];
"""


@pytest.mark.parametrize("form", _FORMS.strip().splitlines())
def test_forms_of_the_isa_are_known(form):
    # `bra` jumps over it: only that it loads is tested.
    assert _report("bra END;" + form + "END:").ok


@pytest.mark.parametrize("form", _NO_FORMS.strip().splitlines())
def test_other_forms_are_errors_at_load(form):
    with pytest.raises(PtxError):
        _report(form)
