"""Sizes that are numbers: buffers lie apart, the peak is near its bound, and below 40 buffers it is the least."""

import itertools
import random

import pytest

from analysis_programs.arena_requests import faults, random_requests
from tinyc.analysis.arena import Request, least_bytes, packed
from tinyc.analysis.arena.exact import LeastPeakSearch
from tinyc.analysis.arena.first_fit import first_fit
from tinyc.analysis.arena.lifetimes import interference

SIZES = [256 * blocks for blocks in range(1, 60)]


def test_a_chain_needs_two_places():
    packing = packed([Request(100, step, step + 1) for step in range(10)])
    assert packing.offsets == (0, 256) * 5
    assert (packing.peak, packing.lower_bound, packing.waste, packing.is_optimal) == (512, 512, 0.0, True)


def test_a_place_is_free_only_after_the_last_readers_generation():
    assert packed([Request(64, 0, 3), Request(64, 3, 4), Request(64, 4, 5)]).offsets == (0, 256, 0)


def test_a_place_is_shared_by_several_that_come_later():
    packing = packed([Request(1024, 0, 0), Request(512, 1, 1), Request(512, 1, 1)])
    assert sorted(packing.offsets[1:]) == [0, 512]
    assert packing.peak == 1024


def test_buffers_without_bytes_take_no_place():
    packing = packed([Request(0, 0, 9), Request(256, 0, 9), Request(0, 3, 3)])
    assert (packing.peak, packing.is_optimal) == (256, True)
    assert packed([]).peak == 0


def test_the_bound_is_the_fullest_generation_with_sizes_rounded_up():
    assert least_bytes([Request(1, 0, 1), Request(257, 1, 2), Request(256, 2, 3)]) == 768


@pytest.mark.parametrize("count", [5, 39, 40, 400])
@pytest.mark.parametrize("length", [1.0, 4.0, 40.0])
def test_random_buffers_lie_apart_and_near_the_bound(count, length):
    for seed in range(5):
        requests = random_requests(random.Random(seed), count, [0, 3, *SIZES], length)
        packing = packed(requests)
        assert faults(requests, packing.offsets, packing.peak) == []
        assert packing.lower_bound == least_bytes(requests) <= packing.peak <= 1.1 * packing.lower_bound


def least_of_all_orders(requests, above=None):
    """The least peak, by trying every order: the lowest places in some order are a best layout."""
    sizes, near = [each.size for each in requests], interference(requests)
    layouts = (first_fit(order, sizes, near) for order in itertools.permutations(range(len(requests))))
    above = above or [0] * len(sizes)
    return min(max(map(sum, zip(starts, sizes, above, strict=True))) for starts in layouts)


@pytest.mark.parametrize("seed", range(25))
def test_the_peak_of_few_buffers_is_the_least_of_all(seed):
    requests = random_requests(random.Random(seed), 7, [256, 512, 768, 1280], 1.5)
    packing = packed(requests)
    assert packing.is_optimal
    assert packing.peak == least_of_all_orders(requests)


@pytest.mark.parametrize("seed", range(25))
def test_what_has_others_above_it_lies_low(seed):
    draw = random.Random(seed)
    requests = random_requests(draw, 6, [256, 512, 768, 1280], 1.5)
    above = [draw.choice([0, 256, 2560]) for _ in requests]
    packing = packed(requests, above)
    assert faults(requests, packing.offsets, packing.peak) == []
    assert packing.peak == least_of_all_orders(requests, above)


@pytest.mark.parametrize("seed", range(25))
def test_the_search_alone_finds_the_least_peak(seed):
    requests = random_requests(random.Random(seed), 6, [1, 2, 3, 5], 1.5)
    sizes, near = [each.size for each in requests], interference(requests)
    found = LeastPeakSearch(requests, sizes, sizes, near, 0, sum(sizes) + 1).least_peak()
    assert found.is_proved
    assert found.starts is not None
    assert max(map(sum, zip(found.starts, sizes, strict=True))) == least_of_all_orders(requests)
    assert LeastPeakSearch(requests, sizes, sizes, near, 0, least_of_all_orders(requests)).least_peak().starts is None


def test_layouts_are_the_same_each_time():
    requests = random_requests(random.Random(3), 300, SIZES)
    assert packed(requests) == packed(list(requests))


def test_a_layout_that_is_not_proved_the_least_says_so():
    packing = packed(random_requests(random.Random(1), 60, SIZES, 3.0))
    assert packing.is_optimal == (packing.peak == packing.lower_bound)
