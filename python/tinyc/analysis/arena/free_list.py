"""Greedy allocation in the order in which lifetimes begin, as an allocator at run time would: about n log n."""

import bisect
import heapq
from collections.abc import Sequence
from typing import Literal

from tinyc.analysis.arena.lifetimes import Request

_Choice = Literal["first", "best"]


class _FreeList:
    """The gaps below `end`, each a start and an end, in order; behind `end` everything is free."""

    def __init__(self) -> None:
        self.gaps: list[tuple[int, int]] = []
        self.end = 0

    def take(self, size: int, choice: _Choice) -> int:
        """The start of the lowest gap that is large enough, or of the smallest such gap."""
        fitting = ((stop - start, start, number) for number, (start, stop) in enumerate(self.gaps))
        large = (each for each in fitting if each[0] >= size)
        found = next(large, None) if choice == "first" else min(large, default=None)
        if found is None:
            start = self.gaps.pop()[0] if self.gaps and self.gaps[-1][1] == self.end else self.end
            self.end = start + size
            return start
        length, start, number = found
        self.gaps[number : number + 1] = [(start + size, start + length)] if length > size else []
        return start

    def give_back(self, start: int, stop: int) -> None:
        """Make a gap, one with those that it touches."""
        number = bisect.bisect_left(self.gaps, (start, stop))
        low, high = number, number
        if low and self.gaps[low - 1][1] == start:
            low, start = low - 1, self.gaps[low - 1][0]
        if high < len(self.gaps) and self.gaps[high][0] == stop:
            high, stop = high + 1, self.gaps[high][1]
        self.gaps[low:high] = [(start, stop)]


def greedy_by_time(requests: Sequence[Request], sizes: Sequence[int], choice: _Choice) -> list[int]:
    """The start of each buffer; of those that begin together, the largest takes its place first."""
    free, starts = _FreeList(), [0] * len(requests)
    leaving: list[tuple[int, int]] = []
    for position in sorted(range(len(requests)), key=lambda each: (requests[each].first, -sizes[each], each)):
        while leaving and leaving[0][0] < requests[position].first:
            gone = heapq.heappop(leaving)[1]
            free.give_back(starts[gone], starts[gone] + sizes[gone])
        if sizes[position]:
            starts[position] = free.take(sizes[position], choice)
            heapq.heappush(leaving, (requests[position].last, position))
    return starts
