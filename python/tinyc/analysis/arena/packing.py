"""Offsets for buffers whose sizes are numbers, with the peak, and what is known of the least one.

Places are tried in several orders until the peak meets the bound; where it does not, few buffers are searched for the
least peak.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tinyc.analysis.arena.exact import LeastPeakSearch
from tinyc.analysis.arena.first_fit import placed_in_orders
from tinyc.analysis.arena.free_list import greedy_by_time
from tinyc.analysis.arena.lifetimes import Request, interference, least_bytes, runs
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


def packed(requests: Sequence[Request], above: Sequence[int] | None = None) -> Packing:
    """The best layout that is found for sizes that are numbers; a buffer has as many bytes as `above` says above it.

    What is above it is others' place, but no less of the arena.
    """
    sizes = [-(-_number(request) // ALIGNMENT_BYTES) for request in requests]
    reaches = [size + room // ALIGNMENT_BYTES for size, room in zip(sizes, above or [0] * len(sizes), strict=True)]
    bound = least_bytes(requests) // ALIGNMENT_BYTES
    best, peak = [0] * len(sizes), None
    for starts in _tried(requests, sizes, reaches, bound):
        reached = _peak(starts, reaches)
        if peak is None or reached < peak:
            best, peak = starts, reached
        if peak == bound:
            break
    peak, is_optimal = peak or 0, peak in (None, bound)
    if not is_optimal and len(sizes) < EXACT_BELOW:
        best, is_optimal = _searched(requests, sizes, reaches, best, bound)
        peak = _peak(best, reaches)
    offsets = tuple(start * ALIGNMENT_BYTES for start in best)
    return Packing(offsets, peak * ALIGNMENT_BYTES, bound * ALIGNMENT_BYTES, is_optimal)


def _number(request: Request) -> int:
    if not isinstance(request.size, int):
        raise TypeError(f"a size is {request.size}, not a number")
    return request.size


def _peak(starts: Sequence[int], reaches: Sequence[int]) -> int:
    return max(map(sum, zip(starts, reaches, strict=True)), default=0)


def _tried(
    requests: Sequence[Request], sizes: Sequence[int], reaches: Sequence[int], bound: int
) -> Iterator[list[int]]:
    """The starts of all buffers, one layout after the other."""
    backwards = [Request(each.size, -each.last, -each.first) for each in requests]
    yield greedy_by_time(requests, sizes, "best")
    yield greedy_by_time(requests, sizes, "first")
    yield greedy_by_time(backwards, sizes, "best")
    yield greedy_by_time(backwards, sizes, "first")
    neighbours = interference(requests, _MAX_INTERFERENCES)
    if neighbours is not None:
        yield from placed_in_orders(requests, sizes, reaches, neighbours, bound)


def _searched(
    requests: Sequence[Request], sizes: Sequence[int], reaches: Sequence[int], starts: Sequence[int], bound: int
) -> tuple[list[int], bool]:
    """The starts with the least peak that is found, and whether it is proved to be that.

    Buffers that do not interfere, not even by way of others, are searched apart.
    """
    best, is_proved = list(starts), True
    for part in runs(requests, [each for each, size in enumerate(sizes) if size]):
        inside = [requests[each] for each in part]
        held, ends = ([units[each] for each in part] for units in (sizes, reaches))
        peak = _peak([best[each] for each in part], ends)
        if peak <= bound:
            continue
        found = LeastPeakSearch(inside, held, ends, interference(inside) or [], bound, peak).least_peak()
        for each, start in zip(part, found.starts or (), strict=False):
            best[each] = start
        is_proved = is_proved and found.is_proved
    return best, is_proved
