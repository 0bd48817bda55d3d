"""What is recorded of a launch: runs, requests with their sectors and passes, phases, copies, some of the clusters."""

import numpy as np
import pytest

from ptxsim.clock.recording.trace import Arrive, CopyStart, Depart, MemoryRequest, PhaseKey
from ptxsim_cases.bulk_text import LOAD, PARAMETERS, SETUP, WAIT, expect
from ptxsim_cases.kernel_text import OWN_WORD, kernel
from ptxsim_cases.recordings import opcode_at, recording_of

#: Each thread stores a word to shared memory, all meet, each loads the first one.
MEETING = f""".shared .b32 tile[64]; {OWN_WORD}
mov.u32 %r1, tile; shl.b32 %r3, %r0, 2; add.u32 %r3, %r3, %r1; st.shared.u32 [%r3], %r0; bar.sync 0;
ld.shared.u32 %r5, [%r1]; st.global.u32 [%d0], %r5; ret;
"""


def words(count=64):
    return np.zeros(count, np.uint32)


def events_of(warp, kind):
    return [event for run in warp.runs for event in run.events if isinstance(event, kind)]


def test_a_warp_is_straight_runs_that_end_where_it_has_to_wait():
    text = kernel(MEETING)
    for warp in recording_of(text, [words()], 64).warps:
        (first, second) = warp.runs
        assert (first.start, first.end, second.start) == (0, second.start, first.end)
        assert opcode_at(text, first.end - 1) == "bar"
        assert opcode_at(text, second.end - 1) == "ret"
        assert warp.instructions == second.end


def test_lanes_arrive_and_depart_at_a_barrier_in_each_warp():
    recording = recording_of(kernel(MEETING), [words()], 64)
    phase = PhaseKey("barrier", 0, 0, 1)
    for warp in recording.warps:
        at = warp.runs[0].end - 1
        assert events_of(warp, (Arrive, Depart)) == [Arrive(at, phase, 32), Depart(at, phase)]


def test_a_request_has_its_sectors_of_global_memory_and_its_passes_through_the_banks():
    first, second = recording_of(kernel(MEETING), [words()], 64).warps
    store, load, out = events_of(first, MemoryRequest)
    assert [(each.space, each.kind, each.units) for each in (store, load, out)] == [
        ("shared", "store", 1),
        ("shared", "load", 1),
        ("global", "store", 4),
    ]
    others = events_of(second, MemoryRequest)[2]
    assert np.array_equal(others.sectors, out.sectors + 4)  # 32 words of 4 bytes behind


def test_lanes_that_share_a_bank_pass_one_by_one():
    body = f".shared .b32 tile[1024]; {OWN_WORD} mov.u32 %r1, tile; shl.b32 %r3, %r0, 7; add.u32 %r3, %r3, %r1;"
    (warp,) = recording_of(kernel(body + "st.shared.u32 [%r3], %r0; ret;"), [words()]).warps
    (store,) = events_of(warp, MemoryRequest)
    assert store.units == 32


def test_a_wait_at_an_mbarrier_that_blocks_departs_once_and_from_the_phase_that_was_arrived_at():
    body = f"""setp.lt.u32 %p2, %r0, 32; @%p2 bra wait_0; setp.eq.u32 %p3, %r0, 32;
    @%p3 mbarrier.arrive.shared.b64 _, [%r2]; bra done; {WAIT.format(0)} done: ret;"""
    text = kernel(SETUP + body, PARAMETERS)
    waiting, other = recording_of(text, [words(), words()], 64).warps
    (arrival,) = [each for each in events_of(other, Arrive) if each.phase.kind == "mbarrier"]
    (departure,) = [each for each in events_of(waiting, Depart) if each.phase.kind == "mbarrier"]
    assert arrival.phase == departure.phase
    assert arrival.lanes == 1
    assert opcode_at(text, departure.at) == "mbarrier"
    assert not [each for each in events_of(other, Depart) if each.phase.kind == "mbarrier"]


def test_a_copy_by_threads_reads_sectors_and_writes_through_the_banks():
    body = """.shared .align 16 .b8 tile[512]; ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 16;
    add.u64 %d0, %d0, %d1; shl.b32 %r1, %r0, 4; mov.u32 %r2, tile; add.u32 %r1, %r1, %r2;
    cp.async.cg.shared.global [%r1], [%d0], 16; cp.async.commit_group; cp.async.wait_group 0; ret;"""
    recording = recording_of(kernel(body), [words(128)])
    read, written = events_of(recording.warps[0], MemoryRequest)
    assert (read.space, read.units, len(read.sectors)) == ("global", 16, 16)  # 32 lanes, 16 bytes each
    assert (written.space, written.units) == ("shared", 4)  # 512 bytes, 128 in a pass
    assert read.at == written.at
    assert recording.copies == ()


def test_a_bulk_copy_has_its_bytes_its_sectors_and_the_phase_that_it_completes():
    body = f"{expect()} @%p0 {LOAD} [%r1], [%d1], 256, [%r2];\n{WAIT.format(0)} ret;"
    recording = recording_of(kernel(SETUP + body, PARAMETERS), [words(), words()], 64)
    (copy,) = recording.copies
    assert (copy.size, copy.source, copy.destination, copy.issuer, copy.cta) == (256, "global", "shared", 0, 0)
    assert np.array_equal(copy.sectors - copy.sectors[0], np.arange(8))
    assert copy.sharers == 1
    issuer, other = recording.warps
    assert [each.number for each in events_of(issuer, CopyStart)] == [0]
    assert events_of(other, CopyStart) == []
    for warp in recording.warps:  # both wait for it
        assert [each.phase for each in events_of(warp, Depart) if each.phase.kind == "mbarrier"] == list(copy.phases)


def test_a_multicast_is_a_copy_to_each_cta_and_says_that_they_share_what_is_read():
    body = f"""{expect()} barrier.cluster.arrive; barrier.cluster.wait; mov.b16 %h1, 3;
    setp.eq.and.u32 %p4, %r3, 0, %p0; @%p4 {LOAD}.multicast::cluster [%r1], [%d1], 256, [%r2], %h1;
    {WAIT.format(0)} barrier.cluster.arrive; barrier.cluster.wait; ret;"""
    text = kernel(SETUP + body, PARAMETERS)
    recording = recording_of(text, [words(), words()], 64, grid=(2, 1, 1), cluster=(2, 1, 1))
    assert [(each.issuer, each.cta, each.size, each.sharers) for each in recording.copies] == [
        (0, 0, 256, 2),
        (0, 1, 256, 2),
    ]
    assert [phase.cta for each in recording.copies for phase in each.phases] == [0, 1]


def test_the_clusters_that_run_are_recorded_and_the_launch_is_the_full_one():
    text = kernel(OWN_WORD + "ret;")
    options = {"grid": (6, 1, 1), "cluster": (2, 1, 1), "clusters": (0, 2), "dynamic_shared_bytes": 64}
    recording = recording_of(text, [words()], 32, **options)
    assert recording.cluster_ctas == {0: (0, 1), 1: (4, 5)}
    assert [each.cta for each in recording.warps_of(1)] == [4, 5]
    assert (recording.grid, recording.block, recording.cluster) == ((6, 1, 1), (32, 1, 1), (2, 1, 1))
    assert recording.shared_bytes == 64


@pytest.mark.parametrize("threads", [32, 64, 96])
def test_there_is_a_trace_of_each_warp(threads):
    recording = recording_of(kernel(OWN_WORD + "ret;"), [words(96)], threads)
    assert [each.warp for each in recording.warps] == list(range(threads // 32))
