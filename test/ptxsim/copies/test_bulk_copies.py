"""Bulk copies of plain ranges: `cp.async.bulk`, `cp.reduce.async.bulk`, bulk groups, and what is found in misuse."""

import ml_dtypes
import numpy as np
import pytest

from ptxsim import PtxError, load
from ptxsim_cases.bulk_text import (
    BYTES,
    FINISH,
    LOAD,
    PARAMETERS,
    READ_TILE,
    STORE,
    WAIT,
    WRITE_TILE,
    clean,
    expect,
    numbers,
    run,
)
from ptxsim_cases.kernel_text import kernel, kinds


@pytest.mark.parametrize("destination", ["cta", "cluster"])
def test_a_load_brings_global_bytes_to_shared_memory(destination):
    a, b = numbers(), np.zeros(64, np.uint32)
    load_tile = LOAD.replace("shared::cluster", f"shared::{destination}")
    clean(expect() + f"@%p0 {load_tile} [%r1], [%d1], 256, [%r2];\n" + WAIT.format(0) + READ_TILE, a, b)
    assert (a == b).all()


def test_every_active_lane_issues_its_own_copy():
    a, b = numbers(), np.zeros(64, np.uint32)
    body = f"""setp.lt.u32 %p2, %r0, 16; shl.b32 %r6, %r0, 4; add.u32 %r7, %r1, %r6; cvt.u64.u32 %d5, %r6;
    add.u64 %d6, %d1, %d5; @%p2 {LOAD} [%r7], [%d6], 16, [%r2];\n"""
    clean(expect() + body + WAIT.format(0) + READ_TILE, a, b)
    assert (a == b).all()


def test_a_load_with_cache_policy_moves_the_same():
    a, b = numbers(), np.zeros(64, np.uint32)
    body = f"mov.b64 %d7, 0x14F0000000000000; @%p0 {LOAD}.L2::cache_hint [%r1], [%d1], 256, [%r2], %d7;\n"
    clean(expect() + body + WAIT.format(0) + READ_TILE, a, b)
    assert (a == b).all()


def test_who_does_not_wait_for_a_load_reads_the_old_bytes():
    a, b = numbers(), np.zeros(64, np.uint32)
    early = "fence.proxy.async; bar.sync 0;" + expect() + f"@%p0 {LOAD} [%r1], [%d1], 256, [%r2];\n"
    look = "@%p0 ld.shared.u32 %r9, [%r1]; @%p0 st.global.u32 [%d2], %r9;"
    report = run("@%p0 st.shared.u32 [%r1], 7;" + early + look + WAIT.format(0), a, b)
    assert "async-in-flight" in kinds(report)
    assert b[0] == 7


def test_a_store_waits_for_its_group():
    a, b = numbers(), np.zeros(64, np.uint32)
    clean(WRITE_TILE + f"@%p0 {STORE} [%d2], [%r1], 256;\n" + FINISH, a, b)
    assert (a == b).all()


# The store reads the tile when it lands: what is written before the wait is what arrives, and is reported.
def test_a_source_that_is_overwritten_early_is_corrupted():
    a, b = numbers(), np.zeros(64, np.uint32)
    body = f"@%p0 {STORE} [%d2], [%r1], 256; @%p0 cp.async.bulk.commit_group; @%p0 st.shared.u32 [%r1+4], 99;"
    report = run(WRITE_TILE + body + "@%p0 cp.async.bulk.wait_group.read 0;", a, b)
    assert kinds(report) == {"async-in-flight"}
    assert b[1] == 99


def test_a_wait_for_the_reading_makes_the_source_free():
    a, b = numbers(), np.zeros(64, np.uint32)
    body = f"@%p0 {STORE} [%d2], [%r1], 256; @%p0 cp.async.bulk.commit_group;"
    clean(WRITE_TILE + body + "@%p0 cp.async.bulk.wait_group.read 0; @%p0 st.shared.u32 [%r1+4], 99;", a, b)
    assert (a == b).all()


# Of two groups, wait_group 1 completes the first: its half of the tile may be written again, the other not.
@pytest.mark.parametrize(("offset", "found"), [(0, set()), (128, {"async-in-flight"})])
def test_a_wait_leaves_the_last_groups_pending(offset, found):
    a, b = numbers(), np.zeros(64, np.uint32)
    body = f"""@%p0 {STORE} [%d2], [%r1], 128; @%p0 cp.async.bulk.commit_group;
    @%p0 {STORE} [%d2+128], [%r1+128], 128; @%p0 cp.async.bulk.commit_group;
    @%p0 cp.async.bulk.wait_group.read 1; @%p0 st.shared.u32 [%r1+{offset}], 5; @%p0 cp.async.bulk.wait_group 0;"""
    report = run(WRITE_TILE + body, a, b)
    assert kinds(report) == found
    assert (b[0], b[32]) == ((a[0], a[32]) if not offset else (a[0], 5))


# A group may be empty, and counts.
def test_empty_groups_count():
    a, b = numbers(), np.zeros(64, np.uint32)
    body = f"""@%p0 {STORE} [%d2], [%r1], 256; cp.async.bulk.commit_group; cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 1; @%p0 st.shared.u32 [%r1], 5;"""
    clean(WRITE_TILE + body, a, b)
    assert (a == b).all()


@pytest.mark.parametrize("end", ["", "@%p0 cp.async.bulk.commit_group;"])
def test_a_cta_that_ends_before_its_memory_is_read_is_reported(end):
    a, b = numbers(), np.zeros(64, np.uint32)
    report = run(WRITE_TILE + f"@%p0 {STORE} [%d2], [%r1], 256;" + end, a, b)
    assert kinds(report) == {"async-in-flight"}
    assert "no thread waits" in report.findings[0].message
    assert report.findings[0].threads[0].thread == (0, 0, 0)


def test_a_cta_that_ends_before_a_load_has_come_is_reported():
    report = run(expect() + f"@%p0 {LOAD} [%r1], [%d1], 256, [%r2];", numbers(), np.zeros(64, np.uint32))
    assert kinds(report) == {"async-in-flight"}


def test_a_copy_to_another_cta_counts_at_its_mbarrier():
    a, b = numbers(128), np.zeros(128, np.uint32)
    body = """.shared .align 16 .b8 theirs[256]; mov.u32 %r8, %ctaid.x; mul.wide.u32 %d8, %r8, 256;
    add.u64 %d1, %d1, %d8; add.u64 %d2, %d2, %d8; mov.u32 %r20, theirs; mapa.shared::cluster.u32 %r21, %r20, %r5;
    mapa.shared::cluster.u32 %r22, %r2, %r5; barrier.cluster.arrive; barrier.cluster.wait;\n"""
    copy = "@%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r21], [%r1], 256, [%r22];\n"
    end = "mov.u32 %r1, %r20;" + READ_TILE + "barrier.cluster.arrive; barrier.cluster.wait;"
    clean(body + expect() + WRITE_TILE + copy + WAIT.format(0) + end, a, b, grid=(2, 1, 1), cluster=(2, 1, 1))
    assert (b == np.concatenate([a[64:], a[:64]])).all()


def test_a_multicast_goes_to_the_ctas_of_its_mask():
    a, b = numbers(), np.zeros(4 * 64, np.uint32)
    body = """mov.u32 %r8, %ctaid.x; mul.wide.u32 %d8, %r8, 256; add.u64 %d2, %d2, %d8; mov.b16 %h1, 0x5;
    and.b32 %r23, %r3, 1; setp.ne.u32 %p3, %r23, 0; barrier.cluster.arrive; barrier.cluster.wait; @%p3 bra end;\n"""
    copy = f"setp.eq.and.u32 %p4, %r3, 2, %p0; @%p4 {LOAD}.multicast::cluster [%r1], [%d1], 256, [%r2], %h1;"
    end = "\nend: barrier.cluster.arrive; barrier.cluster.wait;"
    clean(body + expect() + copy + WAIT.format(0) + READ_TILE + end, a, b, grid=(4, 1, 1), cluster=(4, 1, 1))
    assert b.reshape(4, 64).tolist() == [a.tolist(), [0] * 64, a.tolist(), [0] * 64]


REDUCTIONS = [
    ("add.u32", np.uint32, lambda x, y: x + y),
    ("add.u64", np.uint64, lambda x, y: x + y),
    ("min.s32", np.int32, np.minimum),
    ("max.s64", np.int64, np.maximum),
    ("max.u64", np.uint64, np.maximum),
    ("inc.u32", np.uint32, lambda x, y: np.where(x >= y, 0, x + 1)),
    ("dec.u32", np.uint32, lambda x, y: np.where((x == 0) | (x > y), y, x - 1)),
    ("xor.b64", np.uint64, np.bitwise_xor),
    ("add.f32", np.float32, lambda x, y: x + y),
    ("add.f64", np.float64, lambda x, y: x + y),
    ("add.noftz.f16", np.float16, lambda x, y: x + y),
    ("add.noftz.bf16", ml_dtypes.bfloat16, lambda x, y: x + y),
    ("min.f16", np.float16, np.minimum),
]


@pytest.mark.parametrize(("operation", "dtype", "function"), REDUCTIONS, ids=[each[0] for each in REDUCTIONS])
def test_a_reduction_combines_with_global_memory(operation, dtype, function):
    x, y = (
        np.random.default_rng(k).integers(0, 100, BYTES // np.dtype(dtype).itemsize).astype(dtype) for k in range(2)
    )
    total, given = x.copy(), y.copy()
    body = f"@%p0 cp.reduce.async.bulk.global.shared::cta.bulk_group.{operation} [%d2], [%r1], 256;\n"
    clean(WRITE_TILE + body + FINISH, given, total)
    assert total.tolist() == function(x, y).astype(dtype).tolist()


def test_a_reduction_combines_with_shared_memory_of_another_cta():
    a, b = numbers(128), np.zeros(64, np.uint32)
    body = """.shared .align 16 .b8 sum[256]; mov.u32 %r8, %ctaid.x; mul.wide.u32 %d8, %r8, 256; add.u64 %d1, %d1, %d8;
    mov.u32 %r20, sum; shl.b32 %r21, %r0, 2; add.u32 %r22, %r20, %r21; st.shared.u32 [%r22], %r0; fence.proxy.async;
    mov.b32 %r26, 0; mapa.shared::cluster.u32 %r24, %r20, %r26; mapa.shared::cluster.u32 %r25, %r2, %r26;
    setp.eq.u32 %p3, %r3, 0; @!%p3 bra give;\n"""
    give = "@%p0 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 "
    give += "[%r24], [%r1], 256, [%r25];\n"
    meet = "barrier.cluster.arrive; barrier.cluster.wait;\n"
    text = body + expect(512) + "give:\n" + WRITE_TILE + meet + give + "@!%p3 bra end;\n" + WAIT.format(0)
    clean(text + "mov.u32 %r1, %r20;" + READ_TILE + "end:" + meet, a, b, grid=(2, 1, 1), cluster=(2, 1, 1))
    assert (b == a[:64] + a[64:] + np.arange(64, dtype=np.uint32)).all()


FAULTS = [
    (f"{LOAD} [%r1+8], [%d1], 16, [%r2];", "misaligned", "destination address"),
    (f"{LOAD} [%r1], [%d1+4], 16, [%r2];", "misaligned", "source address"),
    (f"mov.b32 %r9, 24; @%p0 {LOAD} [%r1], [%d1], %r9, [%r2];", "misaligned", "size 24"),
    (f"{LOAD} [%r1], [%d1], 16, [%r2+4];", "misaligned", "mbarrier"),
    (f"{LOAD} [%r1+16], [%d1], 256, [%r2];", "out-of-bounds", "destination"),
    (f"{LOAD} [%r1], [%d1+16], 256, [%r2];", "out-of-bounds", "source of the copy, 256 bytes of global memory"),
    (f"{LOAD} [%r1], [%d1], 16, [%r1];", "uninitialized", "mbarrier"),
    (f"{STORE} [%d2], [%r1], 256;", "uninitialized", "nobody has written"),
    (f"{STORE} [%d2+128], [%r1], 144;", "out-of-bounds", "destination"),
    ("cp.async.bulk.prefetch.L2.global [%d2+8], 16;", "misaligned", "source"),
    (f"mov.b16 %h1, 2; @%p0 {LOAD}.multicast::cluster [%r1], [%d1], 16, [%r2], %h1;", "out-of-bounds", "ctaMask"),
    (f"mov.b32 %r9, 0x9000400; @%p0 {LOAD} [%r9], [%d1], 16, [%r2];", "out-of-bounds", "0x9000400"),
]


@pytest.mark.parametrize(("instruction", "kind", "message"), FAULTS)
def test_misuse_is_reported(instruction, kind, message):
    instruction = instruction if "@%p0" in instruction else f"@%p0 {instruction}"
    report = run(instruction + FINISH, numbers(), np.zeros(64, np.uint32))
    assert kinds(report) == {kind}
    assert message in report.findings[0].message


def test_an_mbarrier_in_another_cta_than_the_destination_is_reported():
    body = f"mapa.shared::cluster.u32 %r6, %r2, %r5; barrier.cluster.arrive; barrier.cluster.wait;\
    @%p0 {LOAD} [%r4], [%d1], 16, [%r6]; barrier.cluster.arrive; barrier.cluster.wait;"
    report = run(body, numbers(), np.zeros(64, np.uint32), grid=(2, 1, 1), cluster=(2, 1, 1))
    assert kinds(report) == {"out-of-bounds"}
    assert "in another CTA" in report.findings[0].message


def test_bytes_that_nobody_expects_are_reported():
    report = run(expect(128) + f"@%p0 {LOAD} [%r1], [%d1], 256, [%r2];\n" + WAIT.format(0), numbers(), numbers())
    assert "mbarrier-tx-mismatch" in kinds(report)


def test_the_bytes_of_copies_are_counted():
    a, b = numbers(), np.zeros(64, np.uint32)
    body = expect() + f"@%p0 {LOAD} [%r1], [%d1], 256, [%r2];\n" + WAIT.format(0)
    counters = clean(body + f"@%p0 {STORE} [%d2], [%r1], 128;\n" + FINISH, a, b).counters
    assert counters.read["global", 16] == 256
    assert counters.written["shared", 16] == 256
    assert counters.read["shared", 16] == 128
    assert counters.written["global", 16] == 128
    assert [each.units for each in counters.sectors.values()] == [8, 4]


@pytest.mark.parametrize(
    "instruction",
    [
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%d1], 16, [%r2], %h2",
        f"{LOAD.replace('global', 'shared::cta')}.L2::cache_hint [%r1], [%r2], 16, [%r3], %d2",
        "cp.async.bulk.shared.global.mbarrier::complete_tx::bytes [%r1], [%d2], 16, [%r3]",
        "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%d1], [%r1], %r2, %h2",
        "cp.async.bulk.global.shared::cta [%d1], [%r1], 16",
        "cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], %d2, %d3",
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.s64 [%r1], [%r2], 16, [%r3]",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%d1], [%r2], 16",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.min.f32 [%d1], [%r2], 16",
        "cp.async.bulk.wait_group %r1",
        "cp.async.bulk.wait_group.write 1",
        "cp.async.bulk.commit_group 1",
    ],
)
def test_what_the_isa_does_not_have_is_refused(instruction):
    with pytest.raises(PtxError):
        load(kernel(instruction + "; ret;", PARAMETERS))
