"""Hits, misses, what comes from the other partition, and the fullest slice: by hand on an L2 of a few lines."""

import numpy as np
import pytest

from ptxsim.clock.devices import device_of
from ptxsim.clock.memory.l2 import L2Shape, L2State

#: 16 chunks of 64 bytes in each of two partitions, which have 4 slices each.
SMALL = L2Shape(2 * 16 * 64, 2, 8)
#: One partition.
WHOLE = L2Shape(16 * 64, 1, 4)


def read(state, chunks, *requests):
    return state.read(np.array(chunks), np.array(requests), np.full(len(chunks), 64))


def test_a_line_is_read_from_memory_once_and_is_near_then():
    state = L2State(WHOLE, 64)
    first, again = (read(state, [0, 1], [3, 1]) for _ in range(2))
    assert (first.requested, first.memory, first.far) == (4 * 64, 2 * 64, 0)
    assert (first.near, first.memory_waits) == (0, 4 * 64)  # whoever asks for it in the same step waits for it, too
    assert (again.near, again.memory) == (4 * 64, 0)


def test_each_partition_keeps_a_copy_and_memory_is_read_for_one():
    state = L2State(SMALL, 64)
    both = read(state, [0], [1], [1])
    assert (both.memory, both.far, both.missed) == (64, 64, 128)
    assert read(state, [0], [1], [1]).near == 128


def test_what_only_the_other_partition_has_is_far():
    state = L2State(L2Shape(2**20, 2, 8), 128)
    chunks = np.arange(128)
    read(state, chunks, np.ones(128), np.zeros(128))
    other = read(state, chunks, np.zeros(128), np.ones(128))
    # where the second partition is a line's home, the line came through it, and is there
    assert other.memory == 0
    assert other.far == other.far_waits
    assert 0 < other.far < 128 * 64
    assert other.near == 128 * 64 - other.far
    assert other.missed == other.far


def test_a_line_is_gone_when_as_much_as_l2_holds_has_come_in_since():
    state = L2State(WHOLE, 64)
    read(state, [0], [1])
    read(state, np.arange(1, 16), np.ones(15))
    assert read(state, [0], [1]).near == 64  # 15 others came: it is the oldest of 16, and is the youngest now
    read(state, np.arange(16, 32), np.ones(16))
    assert read(state, [0], [1]).near == 64
    read(state, np.arange(32, 49), np.ones(17))
    assert read(state, [0], [1]).memory == 64


def test_what_is_written_takes_the_place_of_lines():
    state = L2State(WHOLE, 64)
    read(state, [0], [1])
    state.occupy(17)
    assert read(state, [0], [1]).memory == 64


def test_what_was_held_from_the_beginning_is_near():
    state = L2State(SMALL, 64)
    state.hold(np.arange(8))
    assert read(state, np.arange(8), np.ones(8), np.ones(8)).near == 16 * 64


def test_lines_that_follow_each_other_load_all_slices_alike_and_a_hot_one_loads_its_own():
    state = L2State(WHOLE, 64)
    assert read(state, np.arange(8), np.ones(8)).imbalance == 1.0  # 4 lines
    assert read(state, [0, 1], [5, 5]).imbalance == 4.0
    # lines of 10, 2, 2 and 2 requests: the fullest slice has 10 of a mean of 4
    assert read(state, [0, 2, 4, 6], [10, 2, 2, 2]).imbalance == pytest.approx(2.5)


@pytest.mark.parametrize(("name", "slices"), [("a100", 80), ("h100", 96)])
def test_the_sms_of_both_partitions_are_everywhere(name, slices):
    shape = L2Shape.of(device_of(name))
    assert (shape.partitions, shape.slices) == (2, slices)
    of_sm = [shape.partition_of(sm) for sm in range(128)]
    assert sum(of_sm) == 64
    for rule in (2, 4, 8, 16):  # no remainder of its number tells the partition
        assert all(0 < sum(of_sm[first::rule]) < len(of_sm[first::rule]) for first in range(rule))
