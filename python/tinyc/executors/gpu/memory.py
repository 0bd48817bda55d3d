"""Memory of a kernel: a row of elements that knows who has accessed what since the last barrier."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

#: The number of no thread.
_NOBODY = -1
_LAST = 2**62


class KernelFault(Exception):
    """A thread does what no kernel may: the text says what."""


class CheckedMemory:
    """A row of elements, and for each the threads that have accessed it since the last barrier.

    Of an element's readers the first and the last are enough to know whether anyone but one thread has read it.
    """

    def __init__(self, array: Array, written: bool = True) -> None:
        self.array, self.written = array, np.full(array.size, written)
        self.forget()

    def forget(self) -> None:
        """Begin anew: what was accessed before a barrier is no race with what is accessed after it."""
        self.writer = np.full(self.array.size, _NOBODY)
        self.first_reader, self.last_reader = np.full(self.array.size, _LAST), np.full(self.array.size, _NOBODY)

    def read(self, at: Array, threads: Array) -> Array:
        """The elements `at` positions, each read by its thread.

        Raises:
            KernelFault.
        """
        self.check_bounds(at)
        _require(self.written[at], "memory is read before it is written")
        self._require_own(at, threads, "race: a read beside a write")
        np.minimum.at(self.first_reader, at, threads)
        np.maximum.at(self.last_reader, at, threads)
        return self.array[at]

    def write(self, at: Array, threads: Array, values: Array) -> None:
        """Write the elements `at` positions, each by its thread.

        Raises:
            KernelFault.
        """
        self.check_bounds(at)
        if np.unique(at).size != at.size:
            raise KernelFault("race: two writes")
        self._require_own(at, threads, "race: two writes")
        unread = self.last_reader[at] == _NOBODY
        own = (self.first_reader[at] == threads) & (self.last_reader[at] == threads)
        _require(unread | own, "race: a write beside a read")
        self.array[at], self.writer[at], self.written[at] = values, threads, True

    def check_bounds(self, at: Array) -> None:
        """Check positions.

        Raises:
            KernelFault.
        """
        _require((at >= 0) & (at < self.array.size), "an access is out of bounds")

    def _require_own(self, at: Array, threads: Array, what: str) -> None:
        _require((self.writer[at] == _NOBODY) | (self.writer[at] == threads), what)


def _require(holds: Array, what: str) -> None:
    if not np.all(holds):
        raise KernelFault(what)
