"""What is read and written of each array in global memory.

In: the byte indices of accesses. Out: tallies by the ranges that are allocated; what lies in none of them is nobody's.
"""

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np

from ptxsim.memory import traffic
from ptxsim.memory.traffic import Tally


class ArrayTraffic:
    """Accesses to the `ranges` of a memory, which ascend and are apart.

    `tallies` are by the number of a range and "load", "store" or "atomic"; each lane is a byte there.
    """

    def __init__(self, ranges: Sequence[tuple[int, int]]) -> None:
        self.tallies: dict[tuple[int, str], Tally] = {}
        self._starts, self._ends = [start for start, _ in ranges], [end for _, end in ranges]

    def range_at(self, place: int) -> int:
        """The number of the range with a place, or that before it; -1 where there is none."""
        return bisect_right(self._starts, place) - 1

    def add(self, kind: str, first: int, end: int, byte_count: int, sectors: int) -> bool:
        """Count an access of `byte_count` bytes from `first` to `end`, if these are in one range; whether they are."""
        number = self.range_at(first)
        if number < 0 or end > self._ends[number]:
            return False
        tally = self.tallies.get((number, kind))
        if tally is None:
            tally = self.tallies[number, kind] = Tally()
        tally.add(byte_count, 1, sectors)
        return True

    def add_lanes(self, kind: str, size: int, index: np.ndarray, mask: np.ndarray, sectors: int) -> None:
        """Count accesses of `size` bytes at `index: [n, 32]` where `mask` is set, which take so many sectors."""
        taken = index if mask.all() else index[mask]
        if not taken.size or self.add(kind, int(taken.min()), int(taken.max()) + size, taken.size * size, sectors):
            return
        numbers = np.searchsorted(self._starts, index, "right") - 1
        numbers[~mask | (index + size > np.array([*self._ends, 0])[numbers])] = -1
        for number in np.unique(numbers[numbers >= 0]).tolist():
            rows = (numbers == number).any(axis=1)
            places, lanes = index[rows], numbers[rows] == number
            self.add_lanes(kind, size, places, lanes, traffic.units("global", places, lanes, False, size)[0])
