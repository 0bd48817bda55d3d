"""Asynchronous operations of a launch by number: whether each is complete, and by which channel that is known.

In: numbers from a shadow and the threads that access those granules. Out: which of them cannot know that the operation
is complete, or has read what it reads.
"""

import numpy as np

from tinyc.simulator.engine.observer import Operation, Phase
from tinyc.simulator.races.clocks import Clocks

_NEVER = np.iinfo(np.int32).max
_ROOM = 256


class Operations:
    """The operations of a launch; number 0 is none."""

    def __init__(self) -> None:
        self.instructions = [-1]
        self._done = np.full(_ROOM, _NEVER, np.int32)
        self._read = np.full(_ROOM, _NEVER, np.int32)
        self._column = np.zeros(_ROOM, np.int32)
        self._reduces = np.zeros(_ROOM, bool)

    def add(self, operation: Operation) -> int:
        """Give an operation its number."""
        operation.number = len(self.instructions)
        self.instructions.append(operation.at)
        if operation.number >= len(self._done):
            self._done = np.pad(self._done, (0, len(self._done)), constant_values=_NEVER)
            self._read = np.pad(self._read, (0, len(self._read)), constant_values=_NEVER)
            self._column = np.pad(self._column, (0, len(self._column)))
            self._reduces = np.pad(self._reduces, (0, len(self._reduces)))
        self._reduces[operation.number] = operation.reduces
        return operation.number

    def finish(self, operation: Operation, clocks: Clocks, phase: Phase, now: int, reads_only: bool) -> int:
        """Note that an operation is complete; return the column that says so in the clocks of its cluster."""
        column = clocks.column(phase.channel)
        self._column[operation.number] = column
        self._read[operation.number] = min(now, self._read[operation.number])
        if not reads_only:
            self._done[operation.number] = now
        return column

    def that_store(self, numbers: np.ndarray) -> np.ndarray:
        """Return the numbers without those of reductions, which are atomic for each other."""
        return np.where(self._reduces[numbers], 0, numbers)

    def unknown(self, clocks: Clocks, numbers: np.ndarray, threads: np.ndarray, reads: bool) -> np.ndarray | None:
        """Return where `threads` cannot know the end of operations `numbers` (or of their reading); None: nowhere.

        Shapes: numbers, threads: broadcastable.
        """
        if not numbers.any():
            return None
        ends = (self._read if reads else self._done)[numbers]
        unknown = (numbers > 0) & (clocks.known_completion(threads, self._column[numbers]) < ends)
        return unknown if unknown.any() else None
