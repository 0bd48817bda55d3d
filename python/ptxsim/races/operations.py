"""Asynchronous operations of a launch by number: whether each is complete, and by which channel that is known.

In: numbers from a shadow and the threads that access those granules. Out: which of them cannot know that the operation
is complete, or has read what it reads.
"""

import numpy as np

from ptxsim.machine.observer import AsyncOperation, Phase
from ptxsim.races.clocks import Clocks
from ptxsim.races.messages import Messages

_NEVER = np.iinfo(np.int32).max
_ROOM = 256


class Operations:
    """The operations of a launch; number 0 is none."""

    def __init__(self) -> None:
        self._operations: list[AsyncOperation] = []
        self._done = np.full(_ROOM, _NEVER, np.int32)
        self._read = np.full(_ROOM, _NEVER, np.int32)
        self._column = np.zeros(_ROOM, np.int32)
        self._reduces = np.zeros(_ROOM, bool)
        self._cluster = np.zeros(_ROOM, np.int32)

    def add(self, operation: AsyncOperation, cluster: int) -> int:
        """Give an operation its number."""
        self._operations.append(operation)
        operation.number = len(self._operations)
        if operation.number >= len(self._done):
            self._done = np.pad(self._done, (0, len(self._done)), constant_values=_NEVER)
            self._read = np.pad(self._read, (0, len(self._read)), constant_values=_NEVER)
            self._column = np.pad(self._column, (0, len(self._column)))
            self._reduces = np.pad(self._reduces, (0, len(self._reduces)))
            self._cluster = np.pad(self._cluster, (0, len(self._cluster)))
        self._reduces[operation.number] = operation.reduces
        self._cluster[operation.number] = cluster
        return operation.number

    def of_number(self, number: int) -> AsyncOperation:
        """An operation."""
        return self._operations[number - 1]

    def finish(self, operation: AsyncOperation, clocks: Clocks, phase: Phase, now: int, reads_only: bool) -> int:
        """Note that an operation is complete; return the column that says so in the clocks of its cluster."""
        column = clocks.column(phase.channel)
        self._column[operation.number] = column
        self._read[operation.number] = min(now, self._read[operation.number])
        if not reads_only:
            self._done[operation.number] = now
        return column

    def that_store(self, numbers: np.ndarray) -> np.ndarray:
        """The numbers without those of reductions, which are atomic for each other."""
        return np.where(self._reduces[numbers], 0, numbers)

    def unknown(
        self, clocks: Clocks, messages: Messages, numbers: np.ndarray, threads: np.ndarray, reads: bool
    ) -> np.ndarray | None:
        """The places where `threads` cannot know the end of operations `numbers` (or of their reading); None: nowhere.

        Shapes: numbers, threads: broadcastable.
        """
        if not np.count_nonzero(numbers):
            return None
        first = numbers.reshape(-1)[:1].reshape([1] * numbers.ndim)
        if numbers.size > 1 and (numbers == first).all():
            found = self.unknown(clocks, messages, first, threads, reads)
            return None if found is None else np.broadcast_to(found, np.broadcast(found, numbers).shape)
        ends = (self._read if reads else self._done)[numbers]
        near = self._cluster[numbers] == clocks.number
        columns = np.where(near & (ends != _NEVER), self._column[numbers], 0)
        unknown = (numbers > 0) & (~near | (ends == _NEVER) | (clocks.known_completion(threads, columns) < ends))
        if not unknown.any():
            return None
        far = np.argwhere(unknown & ~near & (ends != _NEVER))
        for place in map(tuple, far):
            number, thread = numbers[place], int(np.broadcast_to(threads, unknown.shape)[place])
            cluster, column = int(self._cluster[number]), int(self._column[number])
            unknown[place] = not messages.known_elsewhere(clocks, thread, cluster, column, int(ends[place]))
        return unknown if unknown.any() else None
