"""`cp.async` in the engine: which bytes move, when they are visible and to whom, and what is found on the way.

Source: PTX ISA 9.1 §9.7.9.25.3, §9.7.13.15.15. Which forms exist was asked of ptxas 13.
"""

import numpy as np
import pytest

from ptxsim import Report
from ptxsim.errors import PtxError
from ptxsim_cases.kernel_text import kernel, kinds, launch

_THREADS = 64
#: %d0: the thread's 16 bytes of `out`; %d2: those of `x`; %r4: those of shared memory.
_HEAD = """
.shared .align 16 .b8 tile[1024]; .shared .align 8 .b64 bar;
ld.param.u64 %d0, [out]; ld.param.u64 %d2, [x]; mov.u32 %r0, %tid.x;
mul.wide.u32 %d1, %r0, 16; add.u64 %d0, %d0, %d1; add.u64 %d2, %d2, %d1;
shl.b32 %r4, %r0, 4; mov.u32 %r3, tile; add.u32 %r4, %r3, %r4;
"""
_ZERO = "mov.u32 %r9, 0; st.shared.v4.u32 [%r4], {%r9, %r9, %r9, %r9};"
_WAIT_ALL = "cp.async.wait_all;"
#: The thread's 16 bytes of shared memory go to `out`.
_OUT = "ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r4]; st.global.v4.u32 [%d0], {%r5, %r6, %r7, %r8};"
#: Those of the thread in the other warp do.
_CROSSED = "xor.b32 %r10, %r0, 32; shl.b32 %r10, %r10, 4; add.u32 %r4, %r3, %r10;" + _OUT


def _run(body: str, size: int = 16 * _THREADS) -> tuple[np.ndarray, np.ndarray, Report]:
    """X, out and the report: arrays of [threads, 16] u8, `x` of `size` bytes in all."""
    x = np.random.default_rng(0).integers(1, 256, size).astype(np.uint8)
    out = np.full((_THREADS, 16), 0xA5, np.uint8)
    report = launch(kernel(_HEAD + body + "\nret;", ".param .u64 out, .param .u64 x"), [out, x], _THREADS)
    return np.pad(x, (0, 16 * _THREADS - size)).reshape(_THREADS, 16), out, report


@pytest.mark.parametrize("copies", [("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16)])
def test_each_size_moves_its_bytes(copies):
    cache, size = copies
    x, out, report = _run(_ZERO + f"cp.async.{cache}.shared.global [%r4], [%d2], {size};" + _WAIT_ALL + _OUT)
    expected = x.copy()
    expected[:, size:] = 0
    assert report.ok
    np.testing.assert_array_equal(out, expected)


def test_bytes_are_old_until_the_wait():
    _, out, report = _run(_ZERO + "cp.async.cg.shared.global [%r4], [%d2], 16;" + _OUT)
    assert (out == 0).all()
    assert kinds(report) == {"async-in-flight"}


def test_source_is_read_at_issue():
    # The thread overwrites its source while the copy is under way.
    body = "cp.async.cg.shared.global [%r4], [%d2], 16; mov.u32 %r9, 0; st.global.u32 [%d2], %r9;"
    x, out, _ = _run(body + _WAIT_ALL + _OUT)
    np.testing.assert_array_equal(out[:, 4:], x[:, 4:])
    assert out[:, :4].any()


_TWO_GROUPS = """
cp.async.ca.shared.global [%r4], [%d2], 4; cp.async.commit_group;
cp.async.ca.shared.global [%r4+4], [%d2+4], 4; cp.async.commit_group;
"""


@pytest.mark.parametrize(("left", "copied"), [(0, 8), (1, 4), (2, 0), (7, 0)])
def test_wait_group_leaves_the_last_groups(left, copied):
    x, out, report = _run(_ZERO + _TWO_GROUPS + f"cp.async.wait_group {left};" + _OUT)
    expected = np.where(np.arange(16) < copied, x, 0)
    np.testing.assert_array_equal(out, expected)
    assert kinds(report) == (set() if copied == 8 else {"async-in-flight"})


def test_wait_group_does_not_wait_for_an_open_group():
    _, out, _ = _run(_ZERO + "cp.async.cg.shared.global [%r4], [%d2], 16; cp.async.wait_group 0;" + _OUT)
    assert (out == 0).all()


def test_empty_groups_count():
    # Two empty groups after the copy: `wait_group 2` waits for the group before them.
    body = "cp.async.cg.shared.global [%r4], [%d2], 16;" + 3 * "cp.async.commit_group;" + "cp.async.wait_group 2;"
    x, out, report = _run(body + _OUT)
    assert report.ok
    np.testing.assert_array_equal(out, x)


def test_groups_are_the_threads_own():
    # Even threads wait; odd threads do not, and see what was there.
    body = """
    cp.async.cg.shared.global [%r4], [%d2], 16; cp.async.commit_group;
    and.b32 %r10, %r0, 1; setp.eq.u32 %p1, %r10, 1; @%p1 bra ODD;
    cp.async.wait_group 0;
    ODD:
    """
    x, out, _ = _run(_ZERO + body + _OUT)
    np.testing.assert_array_equal(out, np.where(np.arange(_THREADS)[:, None] % 2 == 0, x, 0))


def test_only_some_lanes_copy():
    body = "setp.lt.u32 %p1, %r0, 40; @%p1 cp.async.cg.shared.global [%r4], [%d2], 16;"
    x, out, report = _run(_ZERO + body + _WAIT_ALL + _OUT)
    assert report.ok
    np.testing.assert_array_equal(out, np.where(np.arange(_THREADS)[:, None] < 40, x, 0))


def test_other_threads_see_the_bytes_after_a_barrier():
    x, out, report = _run("cp.async.cg.shared.global [%r4], [%d2], 16;" + _WAIT_ALL + "bar.sync 0;" + _CROSSED)
    assert report.ok
    np.testing.assert_array_equal(out, np.roll(x, 32, axis=0))


def test_other_threads_do_not_without_a_wait():
    _, out, report = _run(_ZERO + "cp.async.cg.shared.global [%r4], [%d2], 16; bar.sync 0;" + _CROSSED)
    assert (out == 0).all()
    assert kinds(report) == {"async-in-flight"}


# --- bytes that are not read ---


@pytest.mark.parametrize("size", [4, 8, 16])
def test_bytes_behind_src_size_are_zeros(size):
    body = f"rem.u32 %r11, %r0, {size + 1}; cp.async.ca.shared.global [%r4], [%d2], {size}, %r11;"
    x, out, report = _run(_ZERO + body + _WAIT_ALL + _OUT)
    read = np.arange(_THREADS)[:, None] % (size + 1)
    assert report.ok
    np.testing.assert_array_equal(out, np.where(np.arange(16) < read, x, 0))


def test_only_the_bytes_that_are_copied_must_exist():
    # The array ends 6 bytes into the last thread's 16.
    size = 16 * _THREADS - 10
    last = "setp.eq.u32 %p1, %r0, 63; selp.u32 %r11, BYTES, 16, %p1;"
    copy = "cp.async.cg.shared.global [%r4], [%d2], 16, %r11;"
    x, out, report = _run(last.replace("BYTES", "6") + copy + _WAIT_ALL + _OUT, size)
    assert report.ok
    np.testing.assert_array_equal(out, x)
    *_, report = _run(last.replace("BYTES", "7") + copy + _WAIT_ALL + _OUT, size)
    assert kinds(report) == {"out-of-bounds"}


def test_nothing_is_read_where_src_size_is_zero():
    _, out, report = _run("mov.u64 %d2, 0; cp.async.cg.shared.global [%r4], [%d2], 16, 0;" + _WAIT_ALL + _OUT)
    assert report.ok
    assert (out == 0).all()


def test_ignored_source():
    body = "setp.lt.u32 %p1, %r0, 10; cp.async.ca.shared.global [%r4], [%d2], 16, %p1;"
    x, out, report = _run(body + _WAIT_ALL + _OUT)
    assert report.ok
    np.testing.assert_array_equal(out, np.where(np.arange(_THREADS)[:, None] < 10, 0, x))


# --- arrivals at an mbarrier ---

_INIT = "setp.eq.u32 %p7, %r0, 0; @%p7 mbarrier.init.shared.b64 [bar], COUNT; bar.sync 0;"
_WAIT = "W: mbarrier.try_wait.parity.shared.b64 %p6, [bar], 0; @!%p6 bra W;"
_COPY = "cp.async.cg.shared.global [%r4], [%d2], 16;"


def test_mbarrier_tracks_copies_with_counted_arrivals():
    body = _INIT.replace("COUNT", str(_THREADS)) + _COPY + "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];"
    x, out, report = _run(body + _WAIT + _CROSSED)
    assert report.ok
    np.testing.assert_array_equal(out, np.roll(x, 32, axis=0))


def test_mbarrier_tracks_copies_and_counts_the_arrivals_itself():
    body = _INIT.replace("COUNT", str(_THREADS)) + _COPY + "cp.async.mbarrier.arrive.shared.b64 [bar];"
    x, out, report = _run(body + "mbarrier.arrive.shared.b64 _, [bar];" + _WAIT + _CROSSED)
    assert report.ok
    np.testing.assert_array_equal(out, np.roll(x, 32, axis=0))


def test_mbarrier_tracks_only_the_copies_before():
    body = _INIT.replace("COUNT", str(_THREADS)) + "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];" + _COPY
    _, out, report = _run(_ZERO + body + _WAIT + _OUT)
    assert (out == 0).all()
    assert kinds(report) == {"async-in-flight"}


def test_thread_may_exit_before_its_copies_arrive():
    # Warp 0 copies and exits; warp 1 waits for the copies.
    body = (
        _INIT.replace("COUNT", "32")
        + "setp.ge.u32 %p1, %r0, 32; @%p1 bra READ;"
        + _COPY
        + "cp.async.mbarrier.arrive.noinc.b64 [%d5]; ret; READ:"
        + _WAIT
        + _CROSSED
    )
    generic = "mov.u32 %r12, bar; cvt.u64.u32 %d5, %r12; cvta.shared.u64 %d5, %d5;"
    x, out, report = _run(generic + body)
    assert report.ok
    np.testing.assert_array_equal(out[32:], x[:32])


def test_arrival_at_no_object():
    *_, report = _run(_COPY + "cp.async.mbarrier.arrive.shared.b64 [bar];")
    assert kinds(report) == {"uninitialized"}


# --- what is found and counted ---


@pytest.mark.parametrize(
    ("copy", "kind"),
    [
        ("cp.async.cg.shared.global [%r4+1024], [%d2], 16;", "out-of-bounds"),
        ("cp.async.cg.shared.global [%r4+8], [%d2], 16;", "misaligned"),
        ("cp.async.cg.shared.global [%r4], [%d2+8], 16;", "misaligned"),
        ("cp.async.ca.shared.global [%r4], [%d2+2], 4;", "misaligned"),
        ("mov.u32 %r11, 17; cp.async.cg.shared.global [%r4], [%d2], 16, %r11;", "out-of-bounds"),
    ],
)
def test_faulty_copies_are_found(copy, kind):
    *_, report = _run(copy + _WAIT_ALL)
    assert kind in kinds(report)


def test_thread_that_exits_with_copies_under_way_is_none_of_others_business():
    *_, report = _run(_COPY)
    assert report.ok


def test_bytes_are_counted():
    *_, report = _run(_COPY + _WAIT_ALL)
    assert report.counters.read["global", 16] == 16 * _THREADS
    assert report.counters.written["shared", 16] == 16 * _THREADS


# --- forms ---

_FORMS = """
cp.async.ca.shared::cta.global.L2::cache_hint.L2::128B [%r4], [%d2], 4, %r1, %d3;
cp.async.ca.shared.global.L2::128B.L2::cache_hint [%r4], [%d2], 4, %r1, %d3;
cp.async.ca.shared.global.L2::cache_hint [%r4], [%d2], 16, %p1, %d3;
cp.async.ca.shared.global.L2::cache_hint [%r4], [%d2], 16, %d3;
cp.async.ca.shared.global [%r4], [%d2], 16, !%p1;
cp.async.ca.shared.global.L2::64B [%r4], [%d2], 16, 0;
cp.async.mbarrier.arrive.noinc.b64 [%d2];
"""
_NO_FORMS = """
cp.async.cg.shared.global [%r4], [%d2], 8;
cp.async.ca.shared.global [%r4], [%d2], 12;
cp.async.ca.shared.global [%r4], [%d2], %r1;
cp.async.ca.shared.global [%r4], [%d2], 16, 17;
cp.async.ca.shared.global [%r4], [%d2], 16, %r1, %p1;
cp.async.ca.shared.global [%r4], [%d2], 16, %p1, %d3;
cp.async.ca.shared::cluster.global [%r4], [%d2], 16;
cp.async.ca.global.shared [%d2], [%r4], 4;
cp.async.ca.shared.global.L1::no_allocate [%r4], [%d2], 4;
cp.async.wait_group %r1;
cp.async.wait_group;
cp.async.wait_all 0;
cp.async.commit_group 0;
cp.async.mbarrier.arrive.shared::cluster.b64 [%r4];
cp.async.mbarrier.wait.b64 [%r4];
cp.async;
"""


@pytest.mark.parametrize("form", _FORMS.strip().splitlines())
def test_forms_of_the_isa_are_known(form):
    *_, report = _run("bra END;" + form + "END:")
    assert report.ok


@pytest.mark.parametrize("form", _NO_FORMS.strip().splitlines())
def test_other_forms_are_errors_at_load(form):
    with pytest.raises(PtxError):
        _run(form)
