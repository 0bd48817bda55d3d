"""Clusters that drift apart: their delays, and the hits that they lose where L2 is full before another one comes by."""

import numpy as np
import pytest

from ptxsim.clock.memory.drift import delays_of, drifted_traffic
from ptxsim.clock.memory.l2 import L2Shape, L2State
from ptxsim.clock.memory.offsets import ClusterOffsets
from ptxsim.clock.memory.requests import ClusterRequests, StepRequests
from ptxsim.clock.memory.rounds import Round, array_places

_STEPS, _CHUNKS = 64, 512


def traffic_of(size_bytes, delays):
    """Two clusters read all of an array together, `_CHUNKS` in each step; the next round reads the other half of it."""
    parts = [(StepRequests(0, np.arange(_CHUNKS) + step * _CHUNKS, np.full(_CHUNKS, 2)),) for step in range(_STEPS)]
    requests = ClusterRequests(_CHUNKS * 64, tuple(parts), ((),) * _STEPS, _CHUNKS * 64 * _STEPS, 0)
    round_bytes = _STEPS * _CHUNKS * 64
    offsets = ClusterOffsets(((0, 2 * round_bytes),), np.arange(4), {0: np.array([0, 0, 1, 1]) * round_bytes}, 4)
    shape = L2Shape(size_bytes, 1, 4)
    state = L2State(shape, array_places(offsets)[1])

    def round_of(clusters, slots):
        return Round(shape, 2, 1, requests, offsets, clusters, slots)

    found = drifted_traffic(state, round_of, np.array(delays), _STEPS)
    requested, memory = (sum(getattr(each, name) for each in found) for name in ("requested", "memory"))
    assert requested == pytest.approx(2 * round_bytes)
    return memory / requested


#: An L2 of 16 steps of one of them.
_L2 = 16 * _CHUNKS * 64


def test_clusters_in_step_read_memory_once():
    assert traffic_of(_L2, [0, 0]) == pytest.approx(0.5, abs=0.02)


def test_who_comes_by_before_l2_is_full_still_hits():
    assert traffic_of(_L2, [0, 8]) == pytest.approx(0.5, abs=0.02)


def test_who_comes_by_later_reads_memory_again():
    assert traffic_of(_L2, [0, 24]) == pytest.approx(1, abs=0.02)
    assert traffic_of(2 * _L2, [0, 24]) == pytest.approx(0.5, abs=0.02)


def test_delays_grow_with_the_root_of_the_rounds_up_to_the_time_of_a_cluster():
    # of 5 rounds the second to the last are 1, √2, √3 and 2 deviations apart; an even spread is √12 deviations wide
    width = 0.01 * (1 + 2**0.5 + 3**0.5 + 2) / 4 * 12**0.5
    delays = delays_of(64, 10000, 5, drift=0.01)
    assert delays.min() == 0
    assert delays.max() == pytest.approx(width * 10000 * 15 / 16, abs=1)
    assert len(np.unique(delays)) == 16
    assert delays_of(64, 100, 10**6, drift=0.01).max() == round(100 * 15 / 16)
    assert not delays_of(64, 100, 5, drift=0).any()
