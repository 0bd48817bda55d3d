"""Offsets for buffers whose sizes are not known, as formulas that are right for all sizes.

Buffers are packed at sample sizes. Which of two that interfere lies below the other, that layout says; its numbers are
forgotten: each buffer lies on a height that no end of those below it is above. So buffers stay apart whatever the sizes
are; how tight they lie depends on how much is known of the sizes, and on the sample.
"""

import itertools
from collections.abc import Mapping, Sequence

from tinyc.analysis.arena.heights import Height, Heights, height_bytes, plus, value_at
from tinyc.analysis.arena.lifetimes import Request, interference, least_bytes
from tinyc.analysis.arena.packing import packed
from tinyc.analysis.arena.proof import is_proved_apart
from tinyc.expr import extents
from tinyc.expr.extents import Dim

#: The sizes at which buffers are packed: the first symbol has the first size of each row.
_SAMPLES = ((64, 64, 64, 64), (150, 130, 70, 33), (1024, 1024, 1024, 1024), (1, 2048, 16, 128))
#: Where the arena is no more than this often the least one at all samples, no other layout is tried;
#: nor is one for more buffers than these, since each takes a second for ten thousand.
_GOOD_ENOUGH, _MANY = 1.02, 2000


def stacked(requests: Sequence[Request]) -> tuple[list[Dim], Dim]:
    """The offset of each buffer and the size of the arena: the layout of the sample that wastes least at all of them.

    One that `proof` follows comes before one that only its construction shows to be right.

    Raises:
        ExtentError: the size of the arena is beyond what an extent can say.
    """
    names = list(dict.fromkeys(name for request in requests for name in extents.symbols(request.size)))
    samples = [dict(zip(names, itertools.cycle(row), strict=False)) for row in _SAMPLES]
    neighbours = interference(requests) or []
    best: tuple[tuple[bool, float], list[Dim], Dim] | None = None
    for values in samples if len(requests) <= _MANY else samples[:1]:
        offsets, total = _stack(requests, _from_below(requests, values), neighbours, Heights(values))
        excess = max(_excess(total, requests, each) for each in samples)
        merit = not is_proved_apart(offsets, requests, total), excess
        if best is None or merit < best[0]:
            best = merit, offsets, total
        if best[0] <= (False, _GOOD_ENOUGH):
            break
    return best[1:] if best else ([], 0)


def _excess(total: Dim, requests: Sequence[Request], values: Mapping[str, int]) -> float:
    """How often the least arena goes into this one, at some sizes."""
    return value_at(total, values) / max(1, least_bytes(_sized(requests, values)))


def _sized(requests: Sequence[Request], values: Mapping[str, int]) -> list[Request]:
    return [Request(value_at(each.size, values), each.first, each.last) for each in requests]


def _from_below(requests: Sequence[Request], values: Mapping[str, int]) -> list[int]:
    """The buffers as they lie one above the other at some sizes."""
    offsets = packed(_sized(requests, values)).offsets
    return sorted(range(len(offsets)), key=lambda each: (offsets[each], each))


def _stack(
    requests: Sequence[Request], order: Sequence[int], neighbours: Sequence[Sequence[int]], heights: Heights
) -> tuple[list[Dim], Dim]:
    """The offsets where each buffer lies on those before it in the order that it interferes with."""
    sizes = [heights.of_size(request.size) for request in requests]
    starts: dict[int, Height] = {}
    for each in order:
        below = (other for other in neighbours[each] if other in starts)
        starts[each] = _highest(heights, [plus(starts[other], sizes[other]) for other in below])
    tops = [plus(starts[each], sizes[each]) for each in order]
    return [height_bytes(starts[each]) for each in range(len(requests))], height_bytes(_highest(heights, tops))


def _highest(heights: Heights, ends: Sequence[Height]) -> Height:
    """A height that no end is above; the highest end where it is known which that is."""
    found: Height = {}
    distinct = {frozenset(end.items()): end for end in ends}
    for end in sorted(distinct.values(), key=lambda each: -sum(each.values())):
        found = heights.join(found, end)
    return found
