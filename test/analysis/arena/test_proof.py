"""What is proved of a layout is true, and what is wrong with one is found."""

import random

import pytest

from analysis_programs.arena_requests import faults, random_requests, sized
from tinyc.analysis.arena import Placed, Request, is_proved_apart, overlaps, pack
from tinyc.expr import extents
from tinyc.expr.extents import parse_extent
from tinyc.expr.maximum import maximum_at
from tinyc.vocabulary.alignment import aligned_size

M = extents.symbol("M")
PLACE = aligned_size(4 * M)


@pytest.mark.parametrize(
    ("starts", "total"),
    [
        ((0, PLACE), 2 * PLACE),
        ((PLACE, 0), 2 * PLACE),
        ((256, 256 + PLACE), 2 * PLACE + 512),
        ((0, 4 * PLACE), 8 * PLACE),
        ((0, 1024 * M + PLACE), 1024 * M + 2 * PLACE),
    ],
)
def test_any_layout_in_which_one_is_behind_the_other_is_proved(starts, total):
    assert is_proved_apart(starts, [Request(4 * M, 0, 1), Request(4 * M, 1, 2)], total)


@pytest.mark.parametrize(
    ("starts", "lives", "total"),
    [
        ((0, 64), ((0, 1), (1, 2)), 8 * M + 256),  # the second starts before the first ends
        ((0, 0), ((0, 1), (1, 2)), PLACE),  # both are alive in generation 1
        ((0, PLACE), ((0, 1), (1, 2)), PLACE),  # the second ends behind the arena
        ((32, 32 + PLACE), ((0, 1), (1, 2)), 3 * PLACE),  # neither is at a multiple of the alignment
        ((-256, PLACE), ((0, 1), (1, 2)), 2 * PLACE),  # the first is before the arena
        ((0, 256 * M), ((0, 1), (1, 2)), 512 * M + 256),  # without elements they touch, and with 65 they do not
    ],
)
def test_other_layouts_are_not_proved(starts, lives, total):
    requests = [Request(4 * M if total != 512 * M + 256 else 300 * M, first, last) for first, last in lives]
    assert not is_proved_apart(starts, requests, total)


@pytest.mark.parametrize("seed", range(20))
def test_a_corrupted_layout_is_proved_only_if_it_is_right(seed):
    draw = random.Random(seed)
    sizes = [parse_extent(size) for size in ("4*M", "8*M", "512*N", "4*M*N", "300")]
    requests = random_requests(draw, 12, sizes)
    layout = pack(requests)
    offsets, changed = list(layout.offsets), draw.randrange(12)
    offsets[changed] = draw.choice([0, *layout.offsets, offsets[changed] + 256, offsets[changed] - 256])
    wrong = False
    for values in ({"M": 64, "N": 64}, {"M": 150, "N": 3}, {"M": 1, "N": 40}):
        numbers = [extents.evaluate(offset, values) for offset in offsets]
        wrong = wrong or bool(faults(sized(requests, values), numbers, maximum_at(layout.total, values)))
    assert not (wrong and is_proved_apart(offsets, requests, layout.total))


def test_an_overlap_is_found():
    left, right, later = Placed("a", 0, 65, 0, 2), Placed("b", 64, 8, 2, 3), Placed("c", 0, 100, 4, 4)
    assert overlaps([left, right, later]) == [(left, right)]
