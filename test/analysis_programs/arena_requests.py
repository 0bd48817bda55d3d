"""Random buffers with lifetimes, and what is true of any layout of them."""

import itertools

from tinyc.analysis.arena import Request
from tinyc.expr import extents
from tinyc.vocabulary.alignment import ALIGNMENT_BYTES


def random_requests(draw, count, sizes, length=3.0):
    """Return buffers that begin at random and live for about `length` generations."""
    firsts = [draw.randrange(max(1, count // 2)) for _ in range(count)]
    return [Request(draw.choice(sizes), first, first + int(draw.expovariate(1 / length))) for first in firsts]


def sized(requests, values):
    """Return the buffers with their sizes as numbers."""
    return [Request(extents.evaluate(each.size, values), each.first, each.last) for each in requests]


def faults(requests, offsets, total):
    """Return what is wrong with a layout whose sizes are numbers, by looking at every pair."""
    placed = [(start, start + each.size, each) for start, each in zip(offsets, requests, strict=True)]
    outside = [each for each in placed if each[0] < 0 or each[0] % ALIGNMENT_BYTES or each[1] > total]
    return outside + [
        (one, other)
        for one, other in itertools.combinations(placed, 2)
        if one[2].first <= other[2].last and other[2].first <= one[2].last
        and one[0] < other[1] and other[0] < one[1]
    ]  # fmt: skip
