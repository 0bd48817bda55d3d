"""Offsets for buffers whose sizes are not known, as formulas that are right for all sizes.

Buffers are packed at sample sizes. Which of two that interfere lies below the other, that layout says; its numbers are
forgotten: each buffer lies on a height that no end of those below it is above. So buffers stay apart whatever the sizes
are; how tight they lie depends on how much is known of the sizes, and on the sample. Whether a number or a formula is
larger, nothing says: buffers of known sizes lie above all others that are alive with them, and the size of the arena is
the largest of several ends.
"""

import itertools
from collections.abc import Mapping, Sequence

from tinyc.analysis.arena.heights import Height, Heights, height_bytes, plus, value_at
from tinyc.analysis.arena.lifetimes import Request, interference, least_bytes, runs
from tinyc.analysis.arena.packing import Packing, packed
from tinyc.analysis.arena.proof import is_proved_apart
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.expr.maximum import MaximumDim, maximum, maximum_dims

#: The sizes at which buffers are packed: the first symbol has the first size of each row.
_SAMPLES = (
    (64, 64, 64, 64),
    (150, 130, 70, 33),
    (1024, 1024, 1024, 1024),
    (8192, 8192, 8192, 8192),
    (1, 2048, 16, 128),
)
#: Where the arena is no more than this often the least one at all samples, no other layout is tried;
#: nor is one for more buffers than these, since each takes a second for ten thousand.
_GOOD_ENOUGH, _MANY = 1.02, 2000
#: The ends that the size of the arena is the largest of, at the most.
_MOST_ENDS = 4


def stacked(requests: Sequence[Request]) -> tuple[list[Dim], MaximumDim]:
    """The offset of each buffer and the size of the arena: the layout of the sample that wastes least at all of them.

    One that `proof` follows comes before one that only its construction shows to be right.

    Raises:
        ExtentError: the size of the arena is beyond what an extent can say.
    """
    names = list(dict.fromkeys(name for request in requests for name in extents.symbols(request.size)))
    samples = [dict(zip(names, itertools.cycle(row), strict=False)) for row in _SAMPLES]
    neighbours = interference(requests) or []
    numbers = [each for each, request in enumerate(requests) if isinstance(request.size, int) and request.size]
    known = [(run, packed([requests[each] for each in run])) for run in runs(requests, numbers)]
    best: tuple[tuple[bool, float], list[Dim], MaximumDim] | None = None
    for values in samples if len(requests) <= _MANY else samples[:1]:
        order = _from_below(requests, known, neighbours, values)
        offsets, total = _stack(requests, order, known, neighbours, Heights(values))
        excess = max(_excess(total, requests, each) for each in samples)
        merit = not is_proved_apart(offsets, requests, total), excess
        if best is None or merit < best[0]:
            best = merit, offsets, total
        if best[0] <= (False, _GOOD_ENOUGH):
            break
    return best[1:] if best else ([], 0)


def _excess(total: MaximumDim, requests: Sequence[Request], values: Mapping[str, int]) -> float:
    """How often the least arena goes into this one, at some sizes."""
    return max(value_at(each, values) for each in maximum_dims(total)) / max(1, least_bytes(_sized(requests, values)))


def _sized(requests: Sequence[Request], values: Mapping[str, int]) -> list[Request]:
    return [Request(value_at(each.size, values), each.first, each.last) for each in requests]


def _from_below(
    requests: Sequence[Request],
    known: Sequence[tuple[Sequence[int], Packing]],
    neighbours: Sequence[Sequence[int]],
    values: Mapping[str, int],
) -> list[int]:
    """The buffers whose sizes are formulas, as they lie one above the other at some sizes."""
    formulas = [each for each, request in enumerate(requests) if not isinstance(request.size, int)]
    above = [0] * len(requests)
    for run, packing in known:
        for other in {other for each in run for other in neighbours[each]}:
            above[other] = max(above[other], packing.peak)
    sized = _sized([requests[each] for each in formulas], values)
    offsets = packed(sized, [above[each] for each in formulas]).offsets
    return [each for _, each in sorted(zip(offsets, formulas, strict=True))]


def _stack(
    requests: Sequence[Request],
    order: Sequence[int],
    known: Sequence[tuple[Sequence[int], Packing]],
    neighbours: Sequence[Sequence[int]],
    heights: Heights,
) -> tuple[list[Dim], MaximumDim]:
    """The offsets where each buffer lies on those before it in the order that it interferes with.

    Buffers of known sizes lie as they are packed, on the highest of the others that one of them interferes with.
    """
    starts: dict[int, Height] = {}
    ends: dict[int, Height] = {}
    for each in order:
        starts[each] = _highest(heights, [ends[other] for other in neighbours[each] if other in ends])
        ends[each] = plus(starts[each], heights.of_size(requests[each].size))
    tops = list(ends.values())
    for run, packing in known:
        floor = _highest(heights, [ends[other] for each in run for other in neighbours[each] if other in ends])
        starts |= {each: plus(floor, heights.of_size(at)) for each, at in zip(run, packing.offsets, strict=True)}
        tops.append(plus(floor, heights.of_size(packing.peak)))
    offsets = [height_bytes(starts.get(each, {})) for each in range(len(requests))]
    return offsets, maximum([height_bytes(each) for each in _highest_ends(heights, tops)])


def _highest(heights: Heights, ends: Sequence[Height]) -> Height:
    """A height that no end is above; the highest end where it is known which that is."""
    found: Height = {}
    for end in _from_above(ends):
        found = heights.join(found, end)
    return found


def _highest_ends(heights: Heights, ends: Sequence[Height]) -> Sequence[Height]:
    """A few heights, of which no end is above all: those that no other end is known to be above, and joins of them."""
    found: list[Height] = []
    for end in _from_above(ends):
        if not any(heights.covers(other, end) for other in found):
            found = [*(other for other in found if not heights.covers(end, other)), end]
    while len(found) > _MOST_ENDS:
        pairs = ((heights.join(*pair), pair) for pair in itertools.combinations(found, 2))
        join, pair = min(pairs, key=lambda each: heights.at_sample(each[0]))
        found = [*(other for other in found if other not in pair), join]
    return found or [{}]


def _from_above(ends: Sequence[Height]) -> Sequence[Height]:
    """Different ends, the highest ones probably first."""
    distinct = {frozenset(end.items()): end for end in ends}
    return sorted(distinct.values(), key=lambda each: -sum(each.values()))
