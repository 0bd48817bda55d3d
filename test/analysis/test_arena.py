"""Places in the arena: no two buffers that are alive together share a byte, and places are used again."""

import random

import pytest

from tinyc.analysis.arena import ALIGNMENT_BYTES, Placed, Request, aligned_size, arena_offsets, in_slots, overlaps
from tinyc.expr import extents
from tinyc.expr.extents import parse_extent

M = extents.symbol("M")


def placed(requests: list[Request], values: dict[str, int]) -> list[Placed]:
    offsets, _ = arena_offsets(requests)
    return [
        Placed(str(number), extents.evaluate(offset, values), extents.evaluate(r.size, values), r.first, r.last)
        for number, (offset, r) in enumerate(zip(offsets, requests, strict=True))
    ]


def test_a_chain_needs_two_places():
    offsets, total = arena_offsets([Request(100, step, step + 1) for step in range(10)])
    assert offsets == [0, 256] * 5
    assert total == 512


def test_a_place_is_free_only_after_the_last_readers_generation():
    offsets, _ = arena_offsets([Request(64, 0, 3), Request(64, 3, 4), Request(64, 4, 5)])
    assert offsets == [0, 256, 0]


def test_equal_formulas_share_a_place_and_others_do_not():
    requests = [
        Request(parse_extent("4*M"), 0, 1),
        Request(parse_extent("4*N"), 2, 3),
        Request(parse_extent("4*M"), 4, 5),
    ]
    offsets, total = arena_offsets(requests)
    assert offsets[0] == offsets[2] == 0
    assert str(total) == "256*((M - 1) floordiv 64) + 256*((N - 1) floordiv 64) + 512"


def test_a_smaller_buffer_fits_and_a_larger_one_grows_the_place():
    assert arena_offsets([Request(256, 0, 0), Request(64, 1, 1)])[1] == 256
    assert arena_offsets([Request(parse_extent("4*M"), 0, 0), Request(parse_extent("8*M + 4"), 1, 1)])[0] == [0, 0]


@pytest.mark.parametrize("seed", range(5))
def test_random_lifetimes_never_overlap(seed):
    draw = random.Random(seed)
    sizes = [64, 100, 3, 0, parse_extent("4*M"), parse_extent("4*M + 4"), parse_extent("2*M*N")]
    requests = []
    for _ in range(200):
        first = draw.randrange(40)
        requests.append(Request(draw.choice(sizes), first, first + draw.randrange(6)))
    for values in ({"M": 1, "N": 1}, {"M": 33, "N": 7}):
        places = placed(requests, values)
        assert all(place.start % ALIGNMENT_BYTES == 0 for place in places)
        pairs = [
            (a, b)
            for number, a in enumerate(places)
            for b in places[:number]
            if a.size and b.size and a.start < b.start + b.size and b.start < a.start + a.size
        ]
        assert [pair for pair in pairs if pair[0].first <= pair[1].last and pair[1].first <= pair[0].last] == []
        assert overlaps(places) == []


def test_an_overlap_is_found():
    left, right, later = Placed("a", 0, 65, 0, 2), Placed("b", 64, 8, 2, 3), Placed("c", 0, 100, 4, 4)
    assert overlaps([left, right, later]) == [(left, right)]


def test_what_is_allocated_lies_in_slots():
    requests = [Request(4 * M, 0, 1), Request(8 * M, 1, 2), Request(4 * M - 16, 2, 3), Request(64, 0, 3)]
    starts, total = arena_offsets(requests)
    assert in_slots(starts, requests, total)


@pytest.mark.parametrize(
    ("starts", "lives", "total"),
    [
        ((0, 64), ((0, 1), (1, 2)), 8 * M + 64),  # the second starts before the first ends
        ((0, 0), ((0, 1), (1, 2)), aligned_size(4 * M)),  # both are alive in generation 1
        ((0, aligned_size(4 * M)), ((0, 1), (1, 2)), aligned_size(4 * M)),  # the second ends behind the arena
        ((32, aligned_size(4 * M)), ((0, 1), (1, 2)), 2 * aligned_size(4 * M)),  # the first is not at 0
    ],
)
def test_other_layouts_are_not_known_to_be_right(starts, lives, total):
    requests = [Request(4 * M, first, last) for first, last in lives]
    assert not in_slots(starts, requests, total)
