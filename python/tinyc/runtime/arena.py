"""Host memory for runs: arenas, of which each run takes one and gives it back, and fresh arrays for the outputs."""

import bisect
import functools
import math
import os
import threading
from typing import NamedTuple

import numpy as np

from tinyc.diagnostics import TinycError
from tinyc.vocabulary.alignment import ALIGNMENT_BYTES

#: What memory that nobody has written to is filled with, to be seen: NaN in every float type, -1 in every integer.
POISON = 0xFF


def allocate_arena(size_bytes: int) -> np.ndarray:
    """`size_bytes` bytes of uninitialised memory, aligned as every offset into it is.

    Raises:
        TinycError: `OutOfMemory`.
    """
    raw = allocate_array((size_bytes + ALIGNMENT_BYTES,), np.dtype(np.uint8), "the arena")
    start = -raw.ctypes.data % ALIGNMENT_BYTES
    return raw[start : start + size_bytes]


def poisoned_arena(size_bytes: int) -> np.ndarray:
    """An arena that nobody has written to, as can be seen.

    Raises:
        TinycError: `OutOfMemory`.
    """
    memory = allocate_arena(size_bytes)
    memory[...] = POISON
    return memory


def allocate_array(shape: tuple[int, ...], dtype: np.dtype, purpose: str) -> np.ndarray:
    """An uninitialised array.

    Raises:
        TinycError: `OutOfMemory`; `purpose` says for what.
    """
    try:
        if math.prod(shape) * dtype.itemsize > memory_bytes():
            raise MemoryError
        return np.empty(shape, dtype)
    except (MemoryError, ValueError, OverflowError):
        raise TinycError(
            "OutOfMemory",
            f"there is no memory for {purpose}, a {dtype} array of shape {list(shape)}; use smaller inputs",
        ) from None


@functools.cache
def memory_bytes() -> int:
    """The machine's memory: an allocation beyond it may succeed, and end the process when it is used."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


class Arena(NamedTuple):
    """Memory for one run: how many bytes, where they start, and what keeps them."""

    size_bytes: int
    address: int
    memory: np.ndarray


@functools.cache
def _empty_arena() -> Arena:
    """What all runs have that need none."""
    memory = allocate_arena(0)
    return Arena(0, memory.ctypes.data, memory)


class ArenaPool:
    """The arenas that no run has at present: as many at most as runs have had at the same time."""

    def __init__(self) -> None:
        self._free: list[Arena] = []  # the small ones first
        self._lock = threading.Lock()

    def take(self, size_bytes: int) -> Arena:
        """The smallest arena of at least `size_bytes`; where all are smaller, a new one in the place of the largest.

        Raises:
            TinycError: `OutOfMemory`.
        """
        if not size_bytes:
            return _empty_arena()
        with self._lock:
            for position, arena in enumerate(self._free):
                if arena.size_bytes >= size_bytes:
                    return self._free.pop(position)
            if self._free:
                self._free.pop()
        memory = allocate_arena(size_bytes)
        return Arena(size_bytes, memory.ctypes.data, memory)

    def give_back(self, arena: Arena) -> None:
        """Keep an arena for a later run."""
        if arena.size_bytes:
            with self._lock:
                bisect.insort(self._free, arena)
