"""The L1 of an SM, by hand: hits, sectors on their way, capacity, what shared memory leaves of it."""

import numpy as np
import pytest

from ptxsim.clock.devices import device_of
from ptxsim.clock.replay.l1 import L1Cache, l1_capacity, lines_touched


class SlowMemory:
    """Sends bytes 100 cycles after `time`, and notes how many it was asked for."""

    def __init__(self):
        self.asked, self.time = [], 0.0

    def fetch(self, size):
        self.asked.append(size)
        return self.time + 100


def read(cache, memory, sectors, time, owner=0):
    memory.time = time
    return cache.read(owner, np.array(sectors), time, memory.fetch)


def test_what_was_read_once_is_there_and_what_is_on_its_way_is_waited_for():
    cache, memory = L1Cache(1024), SlowMemory()
    assert read(cache, memory, [0, 1, 2, 3], 0.0) == (100.0, 128)
    assert read(cache, memory, [1], 40.0) == (100.0, 0)  # asked for already
    assert read(cache, memory, [1], 250.0) == (250.0, 0)
    assert memory.asked == [128]


def test_of_a_line_only_the_sectors_that_are_asked_for_come():
    cache, memory = L1Cache(1024), SlowMemory()
    read(cache, memory, [0], 0.0)
    assert read(cache, memory, [0, 1], 200.0) == (300.0, 32)
    assert read(cache, memory, [0], 210.0) == (210.0, 0)  # not delayed by its neighbour


def test_the_line_that_was_not_read_for_longest_makes_place():
    cache, memory = L1Cache(2 * 128), SlowMemory()
    for time, sector in ((0.0, 0), (200.0, 4), (400.0, 0), (600.0, 8)):  # lines 0, 1, 0, 2: line 1 goes
        read(cache, memory, [sector], time)
    assert read(cache, memory, [0], 800.0) == (800.0, 0)
    assert read(cache, memory, [4], 900.0) == (1000.0, 32)


def test_a_request_of_more_lines_than_there_are_is_served():
    cache, memory = L1Cache(128), SlowMemory()
    assert read(cache, memory, [0, 4, 8], 0.0) == (100.0, 96)
    assert read(cache, memory, [8], 200.0) == (200.0, 0)


def test_two_owners_do_not_find_each_other_s_sectors():
    cache, memory = L1Cache(1024), SlowMemory()
    read(cache, memory, [0], 0.0, owner=1)
    assert read(cache, memory, [0], 200.0, owner=2) == (300.0, 32)


@pytest.mark.parametrize(("sectors", "lines"), [([0, 1, 2, 3], 1), ([3, 4], 2), (list(range(0, 4096 * 32, 4096)), 32)])
def test_lines_that_a_request_touches(sectors, lines):
    assert lines_touched(np.array(sectors)) == lines


@pytest.mark.parametrize(
    ("device", "shared", "kib"),
    [
        ("a6000", 0, 128),
        ("a6000", 1, 120),
        ("a6000", 33 * 1024, 64),
        ("a6000", 100 * 1024, 28),
        ("h100", 228 * 1024, 28),
    ],
)
def test_shared_memory_takes_the_smallest_of_its_sizes_that_is_enough(device, shared, kib):
    assert l1_capacity(device_of(device), shared) == kib * 1024
