"""What a recorded cluster reads and writes, cut into steps, counted by hand."""

import numpy as np

from ptxsim.clock.memory.requests import requests_of
from ptxsim.clock.recording.trace import CopyFacts, CopyStart, ExecutedRun, MemoryRequest, Recording, WarpTrace

#: Two arrays of 4096 bytes.
RANGES = ((0, 4096), (8192, 12288))


def load(*sectors):
    return MemoryRequest(0, "global", "load", 4, len(sectors), np.array(sectors))


def store(*sectors):
    return MemoryRequest(1, "global", "store", 4, len(sectors), np.array(sectors))


def recording_of_warps(*warps, copies=()):
    traces = tuple(WarpTrace(0, number, (ExecutedRun(0, 2, events),)) for number, events in enumerate(warps))
    return Recording((1, 1, 1), (32 * len(warps), 1, 1), (1, 1, 1), 0, {0: (0,)}, traces, tuple(copies))


def shown(steps):
    return [[(part.array, part.chunks.tolist(), part.sectors.tolist()) for part in step] for step in steps]


def test_sectors_become_chunks_of_arrays():
    requests = requests_of(recording_of_warps((load(0, 1, 2), load(256 + 7))), 0, RANGES, 1024)
    # sectors 0 and 1 are chunk 0; sector 7 of the second array is half of its chunk 3
    assert shown(requests.reads) == [[(0, [0, 1], [2, 1]), (1, [3], [1])]]
    assert requests.read_bytes == 4 * 32


def test_warps_go_through_the_steps_side_by_side():
    first, second = (load(0, 1), load(2, 3)), (load(8, 9), load(10, 11))
    requests = requests_of(recording_of_warps(first, second), 0, RANGES, 128)
    assert shown(requests.reads) == [[(0, [0, 4], [2, 2])], [(0, [1, 5], [2, 2])]]
    assert requests.step_bytes == 128


def test_what_a_warp_stores_behind_its_reads_comes_last_and_each_chunk_once():
    requests = requests_of(recording_of_warps((load(0, 1), load(2, 3), store(256), store(257))), 0, RANGES, 64)
    assert shown(requests.writes) == [[], [(1, [0], [1])]]
    assert requests.written_bytes == 64


def test_a_multicast_copy_is_read_once():
    facts = [CopyFacts(0, 0, 64, "global", "shared", cta, (), np.array([4, 5]), sharers=2) for cta in (0, 1)]
    events = (CopyStart(0, 0), CopyStart(0, 1))
    requests = requests_of(recording_of_warps(events, copies=facts), 0, RANGES, 64)
    assert shown(requests.reads) == [[(0, [2], [2])]]
    alone = [CopyFacts(0, 0, 64, "global", "shared", cta, (), np.array([4, 5])) for cta in (0, 1)]
    assert requests_of(recording_of_warps(events, copies=alone), 0, RANGES, 64).read_bytes == 128


def test_what_is_stored_from_shared_memory_by_a_copy_is_written():
    facts = [CopyFacts(0, 0, 64, "shared", "global", 0, (), np.array([4, 5]))]
    requests = requests_of(recording_of_warps((CopyStart(0, 0),), copies=facts), 0, RANGES, 64)
    assert (requests.read_bytes, requests.written_bytes) == (0, 64)


def test_shared_memory_is_not_asked_of_l2():
    inside = MemoryRequest(0, "shared", "load", 4, 1)
    assert requests_of(recording_of_warps((inside,)), 0, RANGES, 64).read_bytes == 0
