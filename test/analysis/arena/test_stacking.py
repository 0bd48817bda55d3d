"""Sizes that are formulas: offsets are right for all sizes, proved to be, and as tight as sizes can be compared."""

import random

import pytest

from analysis_programs.arena_requests import faults, random_requests, sized
from tinyc.analysis.arena import Request, is_proved_apart, least_bytes, pack
from tinyc.expr import extents
from tinyc.expr.extents import parse_extent
from tinyc.expr.maximum import maximum_at
from tinyc.vocabulary.alignment import aligned_size

M = extents.symbol("M")
#: Sizes as programs have them, and the most that the arena of such may be of the bound at common sizes.
FAMILIES = {
    "multiples of the alignment": (("256*B", "512*B", "1024*B", "2560*B"), 1.0),
    "multiples of one extent": (("40*B", "100*B", "400*B", "128*B"), 1.25),
    "products of several": (("2*M*N", "4*M*N", "2*M*K", "4*M", "4*N", "1024"), 2.0),
    "windows": (("4*H*W", "4*(H - 2)*W", "4*((H - 1) floordiv 2 + 1)*W"), 1.6),
}
VALUES = ((64, 64, 64), (150, 130, 70), (1024, 1024, 1024), (3, 1, 2), (2, 0, 5))


def test_equal_formulas_share_a_place_and_others_do_not():
    requests = [Request(parse_extent(size), first, first + 1) for size, first in (("4*M", 0), ("4*N", 1), ("4*M", 2))]
    layout = pack(requests)
    assert layout.offsets[0] == layout.offsets[2]
    assert str(layout.total) == "256*((M - 1) floordiv 64) + 256*((N - 1) floordiv 64) + 512"


def test_small_buffers_stand_where_a_larger_one_was():
    requests = [Request(1024 * M, 0, 0), Request(512 * M, 1, 1), Request(512 * M, 1, 1)]
    layout = pack(requests)
    assert sorted(layout.offsets[1:], key=str) == [0, 512 * M]
    assert layout.total == 1024 * M


def test_a_smaller_buffer_fits_and_a_larger_one_grows_the_place():
    requests = [Request(4 * M, 0, 0), Request(8 * M + 4, 1, 1)]
    assert pack(requests).offsets == (0, 0)
    assert pack(requests).total == aligned_size(8 * M + 4)


@pytest.mark.parametrize("third", [3000, 2990])
def test_rounding_each_of_several_costs_an_alignment_and_no_more(third):
    layout = pack([Request(4000 * M, 0, 0), Request(1000 * M, 1, 1), Request(third * M, 1, 1)])
    for rows in (1, 7, 64, 1000):
        assert maximum_at(layout.total, {"M": rows}) <= aligned_size(4000 * rows) + 256


@pytest.mark.parametrize("family", FAMILIES)
def test_formulas_are_proved_and_right_at_every_size(family):
    sizes, most = FAMILIES[family]
    for seed in range(12):
        draw = random.Random(seed)
        requests = random_requests(draw, draw.choice([4, 12, 30]), [parse_extent(size) for size in sizes])
        layout = pack(requests)
        assert is_proved_apart(layout.offsets, requests, layout.total)
        names = list(dict.fromkeys(name for each in requests for name in extents.symbols(each.size)))
        for row in VALUES:
            values = dict(zip(names, row, strict=False))
            held = sized(requests, values)
            if all(each.size >= 0 for each in held):
                offsets = [extents.evaluate(offset, values) for offset in layout.offsets]
                total = maximum_at(layout.total, values)
                assert faults(held, offsets, total) == []
                if min(row) >= 64:
                    assert total <= most * least_bytes(held)


def test_the_larger_of_a_number_and_a_formula_counts_where_both_are_not_alive_together():
    """A workspace of 100000 bytes beside one row, and later two values of many rows."""
    requests = [Request(4 * M, 0, 2), Request(100_000, 0, 0), Request(400 * M, 1, 2), Request(1000, 1, 1)]
    layout = pack(requests)
    assert is_proved_apart(layout.offsets, requests, layout.total)
    for rows in (0, 1, 7, 64, 250, 1000, 4096):
        values = {"M": rows}
        assert maximum_at(layout.total, values) <= 1.02 * least_bytes(sized(requests, values))


def test_numbers_and_formulas_lie_in_one_arena():
    requests = [Request(1000, 0, 1), Request(4 * M, 1, 2), Request(300, 2, 2)]
    layout = pack(requests)
    assert is_proved_apart(layout.offsets, requests, layout.total)
    assert layout.total == 1024 + aligned_size(4 * M)
