"""The least peak of a few buffers, by branch and bound over canonical layouts.

A layout can be pushed down until each buffer lies at 0 or on the end of another; placed from below, each buffer then
lies on the highest end of those before it that it interferes with. So a layout is an order, and the search goes over
orders in which starts do not fall. It ends after a number of steps, never by time: decisions are the same on every
machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tinyc.analysis.arena.lifetimes import Request

#: Orders that are begun, at the most.
_MAX_STEPS = 20_000


@dataclass(frozen=True)
class LeastPeak:
    """The starts of the best layout below the peak that was given, if there is one, and whether all orders are seen."""

    starts: list[int] | None
    is_proved: bool


class LeastPeakSearch:
    """The search for the layout of least peak, among those below `peak`.

    Sizes are positive, `reaches` are they and what is above each; `bound` is known to be no more than any peak.
    """

    def __init__(
        self,
        requests: Sequence[Request],
        sizes: Sequence[int],
        reaches: Sequence[int],
        neighbours: Sequence[Sequence[int]],
        bound: int,
        peak: int,
    ) -> None:
        self.sizes, self.reaches, self.neighbours, self.bound, self.peak = sizes, reaches, neighbours, bound, peak
        self.best: list[int] | None = None
        self.steps = 0
        self.starts: dict[int, int] = {}
        begins = sorted({request.first for request in requests})
        self.live_sets = [
            [each for each, request in enumerate(requests) if request.first <= begin <= request.last]
            for begin in begins
        ]
        self.twins = _twins(requests, sizes)

    def least_peak(self) -> LeastPeak:
        """The best layout, and whether there is no better one."""
        self.extend([0] * len(self.sizes), 0)
        return LeastPeak(self.best, self.steps <= _MAX_STEPS)

    def extend(self, floors: list[int], lowest: int) -> None:
        """Place one more buffer, in each way: at its floor, no lower than the last one that was placed."""
        waiting = [each for each in range(len(floors)) if each not in self.starts]
        if not waiting:
            self.best = [self.starts[each] for each in range(len(floors))]
            self.peak = max(start + self.reaches[each] for each, start in self.starts.items())
            return
        # What started higher would leave a gap below it for one that waits, which could as well lie there.
        lowest_end = min(floors[each] + self.sizes[each] for each in waiting)
        ways = [each for each in waiting if lowest <= floors[each] < lowest_end and self.twins[each] not in waiting]
        for each in sorted(ways, key=lambda one: (floors[one], -self.sizes[one], one)):
            self.steps += 1
            if self.steps > _MAX_STEPS or self.peak <= self.bound:
                return
            start = self.starts[each] = floors[each]
            raised = list(floors)
            for other in self.neighbours[each]:
                raised[other] = max(raised[other], start + self.sizes[each])
            if self._least_end(raised, start) < self.peak:
                self.extend(raised, start)
            del self.starts[each]

    def _least_end(self, floors: Sequence[int], lowest: int) -> int:
        """No peak that the placed buffers lead to is less: those of a live set that wait stand one on the other."""
        least = max(start + self.reaches[each] for each, start in self.starts.items())
        for live in self.live_sets:
            waiting = [each for each in live if each not in self.starts]
            if waiting:
                bottom = max(lowest, min(floors[each] for each in waiting))
                least_above = min(self.reaches[each] - self.sizes[each] for each in waiting)
                least = max(least, bottom + sum(self.sizes[each] for each in waiting) + least_above)
        return least


def _twins(requests: Sequence[Request], sizes: Sequence[int]) -> list[int]:
    """For each buffer the one before it with its size and lifetime, which goes first; -1 where there is none."""
    seen: dict[tuple[int, int, int], int] = {}
    found: list[int] = []
    for each, request in enumerate(requests):
        kind = sizes[each], request.first, request.last
        found.append(seen.get(kind, -1))
        seen[kind] = each
    return found
