"""Offsets for buffers whose sizes are numbers, with the peak, and what is known of the least one.

Places are tried in several orders until the peak meets the bound; where it does not, few buffers are searched for the
least peak.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tinyc.analysis.arena.exact import least_peak
from tinyc.analysis.arena.first_fit import placed_in_orders
from tinyc.analysis.arena.free_list import greedy_by_time
from tinyc.analysis.arena.lifetimes import Request, interference, least_bytes
from tinyc.vocabulary.alignment import ALIGNMENT_BYTES

#: Of fewer buffers than these the least peak is searched for.
EXACT_BELOW = 40
#: Pairs of buffers that interfere, beyond which places are only taken in the order of time.
_MAX_INTERFERENCES = 1_000_000


@dataclass(frozen=True)
class Packing:
    """The offset of each buffer, the size of the arena, what it is at the least, and whether no layout is smaller."""

    offsets: tuple[int, ...]
    peak: int
    lower_bound: int
    is_optimal: bool

    @property
    def waste(self) -> float:
        """The part of the arena that the bound does not account for."""
        return 1 - self.lower_bound / self.peak if self.peak else 0.0


def packed(requests: Sequence[Request]) -> Packing:
    """The best layout that is found for sizes that are numbers."""
    sizes = [-(-_number(request) // ALIGNMENT_BYTES) for request in requests]
    bound = least_bytes(requests) // ALIGNMENT_BYTES
    best, peak = [0] * len(sizes), None
    for starts in _tried(requests, sizes, bound):
        reached = _peak(starts, sizes)
        if peak is None or reached < peak:
            best, peak = starts, reached
        if peak == bound:
            break
    peak, is_optimal = peak or 0, peak in (None, bound)
    if not is_optimal and len(sizes) < EXACT_BELOW:
        best, is_optimal = _searched(requests, sizes, best, bound)
        peak = _peak(best, sizes)
    offsets = tuple(start * ALIGNMENT_BYTES for start in best)
    return Packing(offsets, peak * ALIGNMENT_BYTES, bound * ALIGNMENT_BYTES, is_optimal)


def _number(request: Request) -> int:
    if not isinstance(request.size, int):
        raise TypeError(f"a size is {request.size}, not a number")
    return request.size


def _peak(starts: Sequence[int], sizes: Sequence[int]) -> int:
    return max((start + size for start, size in zip(starts, sizes, strict=True)), default=0)


def _tried(requests: Sequence[Request], sizes: Sequence[int], bound: int) -> Iterator[list[int]]:
    """The starts of all buffers, one layout after the other."""
    backwards = [Request(each.size, -each.last, -each.first) for each in requests]
    yield greedy_by_time(requests, sizes, "best")
    yield greedy_by_time(requests, sizes, "first")
    yield greedy_by_time(backwards, sizes, "best")
    yield greedy_by_time(backwards, sizes, "first")
    neighbours = interference(requests, _MAX_INTERFERENCES)
    if neighbours is not None:
        yield from placed_in_orders(requests, sizes, neighbours, bound)


def _searched(
    requests: Sequence[Request], sizes: Sequence[int], starts: Sequence[int], bound: int
) -> tuple[list[int], bool]:
    """The starts with the least peak that is found, and whether it is proved to be that.

    Buffers that do not interfere, not even by way of others, are searched apart.
    """
    best, is_proved = list(starts), True
    for part in _parts(requests, sizes):
        inside = [requests[each] for each in part]
        held = [sizes[each] for each in part]
        peak = _peak([best[each] for each in part], held)
        if peak <= bound:
            continue
        found = least_peak(inside, held, interference(inside) or [], bound, peak)
        for each, start in zip(part, found.starts or (), strict=False):
            best[each] = start
        is_proved = is_proved and found.is_proved
    return best, is_proved


def _parts(requests: Sequence[Request], sizes: Sequence[int]) -> list[list[int]]:
    """The buffers that are not empty, by runs of generations that none outlives."""
    parts: list[list[int]] = []
    end = -1
    for each in sorted(range(len(requests)), key=lambda one: requests[one].first):
        if sizes[each]:
            if not parts or requests[each].first > end:
                parts.append([])
            parts[-1].append(each)
            end = max(end, requests[each].last)
    return parts
