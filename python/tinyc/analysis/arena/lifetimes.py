"""What a buffer asks of the arena, which buffers interfere, and the bound that no layout gets below."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.vocabulary.alignment import aligned_size


@dataclass(frozen=True)
class Request:
    """A buffer that needs a place: its size in bytes and the generations in which it is alive."""

    size: Dim
    first: int
    last: int


def interference(requests: Sequence[Request], limit: int | None = None) -> list[list[int]] | None:
    """For each buffer those that it interferes with: both are alive in some generation, so their places are apart.

    None where there are more pairs than `limit`.
    """
    found: list[list[int]] = [[] for _ in requests]
    alive: set[int] = set()
    leaving: list[tuple[int, int]] = []
    pairs = 0
    for position in sorted(range(len(requests)), key=lambda each: requests[each].first):
        while leaving and leaving[0][0] < requests[position].first:
            alive.remove(heapq.heappop(leaving)[1])
        pairs += len(alive)
        if limit is not None and pairs > limit:
            return None
        for other in alive:
            found[other].append(position)
        found[position].extend(sorted(alive))
        alive.add(position)
        heapq.heappush(leaving, (requests[position].last, position))
    return found


def runs(requests: Sequence[Request], chosen: Sequence[int]) -> list[list[int]]:
    """The buffers that are chosen, by runs of generations that none of them outlives."""
    found: list[list[int]] = []
    end = -1
    for each in sorted(chosen, key=lambda one: requests[one].first):
        if not found or requests[each].first > end:
            found.append([])
        found[-1].append(each)
        end = max(end, requests[each].last)
    return found


def least_bytes(requests: Sequence[Request]) -> int:
    """The bytes of the largest live set, sizes rounded to the alignment: no arena is smaller.

    All sizes are numbers.
    """
    changes: dict[int, int] = {}
    for request in requests:
        size = extents.evaluate(aligned_size(request.size), {})
        changes[request.first] = changes.get(request.first, 0) + size
        changes[request.last + 1] = changes.get(request.last + 1, 0) - size
    alive = most = 0
    for generation in sorted(changes):
        alive += changes[generation]
        most = max(most, alive)
    return most
