"""Asynchronous copies against threads: what is read or overwritten too early, and what no proxy fence makes visible."""

import numpy as np
import pytest

from ptxsim_cases.bulk_text import LOAD, STORE, WAIT, WRITE_TILE, expect, numbers, run
from ptxsim_cases.kernel_text import kinds

#: A store of the tile that thread 0 has issued and committed.
_STORED = f"@%p0 {STORE} [%d2], [%r1], 256; @%p0 cp.async.bulk.commit_group;\n"
_MEET, _FENCE = "bar.sync 0;\n", "fence.proxy.async;\n"
#: %d6 and %r13 are this thread's word of the array b and of the tile.
_OWN = "shl.b32 %r10, %r0, 2; cvt.u64.u32 %d3, %r10; add.u64 %d6, %d2, %d3; add.u32 %r13, %r1, %r10;\n"
_READ_B, _READ_TILE, _WRITE_TILE = (
    "ld.global.u32 %r14, [%d6];",
    "ld.shared.u32 %r14, [%r13];",
    "st.shared.u32 [%r13], 1;",
)
_ALL, _READS = "@%p0 cp.async.bulk.wait_group 0;\n", "@%p0 cp.async.bulk.wait_group.read 0;\n"
_LOADED = expect() + f"@%p0 {LOAD} [%r1], [%d1], 256, [%r2];\n"


def found(body: str, **options) -> set[str]:
    return kinds(run(_OWN + body, numbers(), np.zeros(64, np.uint32), **options))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # what is stored in bulk is read when it is there, by those who know that it is
        (WRITE_TILE + _STORED + _ALL + _MEET + _READ_B, set()),
        (WRITE_TILE + _STORED + _READS + _MEET + _READ_B, {"async-in-flight"}),
        (WRITE_TILE + _STORED + _ALL + _READ_B, {"race"}),
        # its source is overwritten when it has been read
        (WRITE_TILE + _STORED + _READS + _MEET + _WRITE_TILE, set()),
        (WRITE_TILE + _STORED + _MEET + _WRITE_TILE + _READS, {"async-in-flight"}),
        (WRITE_TILE + _STORED + _READS + _WRITE_TILE, {"async-in-flight"}),
        # reading it meanwhile does no harm
        (WRITE_TILE + _STORED + _READ_TILE + _READS, set()),
        # the asynchronous proxy sees what threads wrote behind a proxy fence, of the writer or of the issuer
        (WRITE_TILE.replace("fence.proxy.async;", "") + _STORED + _READS, {"proxy-fence-missing"}),
        (
            WRITE_TILE.replace("fence.proxy.async; bar.sync 0;", "bar.sync 0; fence.proxy.async;") + _STORED + _READS,
            set(),
        ),
        (WRITE_TILE.replace("proxy.async", "proxy.async.global") + _STORED + _READS, {"proxy-fence-missing"}),
        (WRITE_TILE.replace("bar.sync 0;", "") + _STORED + _READS, {"race"}),
        # a load is read, or written over, when its mbarrier says so, and its target is free when others say so
        (_LOADED + WAIT.format(0) + _READ_TILE, set()),
        (_LOADED + "bar.sync 0;" + _WRITE_TILE + WAIT.format(0), {"async-in-flight"}),
        (_WRITE_TILE + _FENCE + _MEET + _LOADED + WAIT.format(0), set()),
        (_WRITE_TILE + _FENCE + _LOADED + WAIT.format(0), {"race"}),
        (_WRITE_TILE + _FENCE + _MEET + _READ_TILE + _LOADED + WAIT.format(0), {"race"}),
        (_WRITE_TILE + _MEET + _LOADED + WAIT.format(0), {"proxy-fence-missing"}),
        # one thread waits, and tells the others
        (_LOADED + "@!%p0 bra meet;" + WAIT.format(0) + "meet: bar.sync 0;" + _READ_TILE, set()),
        (_LOADED + "@!%p0 bra meet;" + WAIT.format(0) + "meet:" + _READ_TILE, {"async-in-flight", "uninitialized"}),
    ],
)
def test_copies_and_threads_are_ordered(body, expected):
    assert found(body) == expected


def test_a_copy_that_reads_what_a_copy_wrote_needs_no_proxy_fence():
    # tile → b → tile, all by the asynchronous proxy
    body = WRITE_TILE + _STORED + _ALL + expect() + f"@%p0 {LOAD} [%r1], [%d2], 256, [%r2];\n" + WAIT.format(0)
    assert found(body + _READ_TILE) == set()
    assert found(body.replace(_ALL, "") + _READS) == {"async-in-flight"}


def test_a_global_array_that_threads_wrote_is_loaded_behind_a_proxy_fence():
    written = "st.global.u32 [%d6], 3; {} bar.sync 0;" + _LOADED.replace("[%d1]", "[%d2]") + WAIT.format(0)
    assert found(written.format("fence.proxy.async;")) == set()
    assert found(written.format("fence.proxy.async.global;")) == set()
    assert found(written.format("fence.proxy.async.shared::cta;")) == {"proxy-fence-missing"}
    assert found(written.format("")) == {"proxy-fence-missing"}


def test_reductions_of_two_ctas_into_one_array_are_no_race():
    reduce = "@%p0 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d2], [%r1], 256;"
    finish = "@%p0 cp.async.bulk.commit_group;" + _ALL
    a, b = numbers(), np.zeros(64, np.uint32)
    report = run(_OWN + WRITE_TILE + reduce + finish, a, b, grid=(2, 1, 1))
    assert report.ok, str(report)
    assert (b == a * np.uint32(2)).all()
    plain = reduce.replace("cp.reduce", "cp").replace(".add.u32", "")
    assert kinds(run(_OWN + WRITE_TILE + plain + finish, a, b, grid=(2, 1, 1))) == {"race"}


def test_what_one_cta_stores_in_bulk_another_is_told_of():
    # CTA 0 stores, waits and says so in word 63 of a; CTA 1 waits for that and reads
    tell = "@%p0 membar.gl; @%p0 st.volatile.global.u32 [%d1+252], 0;"
    hear = "again: ld.volatile.global.u32 %r15, [%d1+252]; setp.ne.u32 %p2, %r15, 0; @%p2 bra again; membar.gl;"
    body = f"mov.u32 %r16, %ctaid.x; setp.ne.u32 %p3, %r16, 0; @%p3 bra hear;\n{{}}\n{tell} ret;\nhear: {hear}{_READ_B}"
    write = WRITE_TILE.replace("ld.global.u32 %r12, [%d4];", "mov.u32 %r12, %r0;")
    assert found(body.format(write + _STORED + _ALL), grid=(2, 1, 1)) == set()
    assert found(body.format(write + _STORED + _READS), grid=(2, 1, 1)) == {"async-in-flight"}


def test_the_source_of_a_load_is_overwritten_by_who_knows_that_the_load_is_complete():
    overwrite = "add.u64 %d7, %d1, %d3; st.global.u32 [%d7], 1;"
    assert found(_LOADED + WAIT.format(0) + overwrite) == set()
    assert found(_LOADED + _MEET + overwrite + WAIT.format(0)) == {"async-in-flight"}


def test_a_load_that_nobody_waits_for_is_found_though_it_lands_in_time():
    wait_for_long = "mov.u32 %r15, 0; again: add.u32 %r15, %r15, 1; setp.lt.u32 %p2, %r15, 500; @%p2 bra again;"
    assert found(_LOADED + wait_for_long) == {"async-in-flight"}
    assert found(_LOADED + wait_for_long + WAIT.format(0)) == set()


#: CTA 0 writes the array b, and says so in word 63 of a; CTA 1 waits for that and loads b in bulk.
_STREAM = """mov.u32 %r16, %ctaid.x; setp.ne.u32 %p3, %r16, 0; @%p3 bra hear;
st.global.u32 [%d6], %r0; {writer} bar.sync 0; @%p0 membar.gl; @%p0 st.volatile.global.u32 [%d1+252], 0; ret;
hear: @!%p0 bra meet; again: ld.volatile.global.u32 %r15, [%d1+252]; setp.ne.u32 %p2, %r15, 0; @%p2 bra again;
membar.gl; {reader} meet: bar.sync 0; {load}
"""


@pytest.mark.parametrize(
    ("writer", "reader", "expected"),
    [
        ("fence.proxy.async;", "", set()),
        ("fence.proxy.async.global;", "", set()),
        ("", "fence.proxy.async;", set()),
        ("", "", {"proxy-fence-missing"}),
        ("fence.proxy.async.shared::cta;", "", {"proxy-fence-missing"}),
        ("", "fence.proxy.async.shared::cta;", {"proxy-fence-missing"}),
    ],
)
def test_what_another_cta_has_written_is_loaded_behind_a_proxy_fence(writer, reader, expected):
    load = _LOADED.replace("[%d1]", "[%d2]") + WAIT.format(0)
    assert found(_STREAM.format(writer=writer, reader=reader, load=load), grid=(2, 1, 1)) == expected
