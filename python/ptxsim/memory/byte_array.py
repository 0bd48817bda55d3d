"""Bytes with a shadow byte for each, which says whether it is allocated, was written, and with a defined value.

Accesses are vectors of indices, all of one width, and take one gather each for the data and for the shadow: a word of
the shadow that is `ready` for its width needs no further look.
"""

import mmap
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

ALLOCATED = 1
INITIALIZED = 2
#: Beside INITIALIZED: what was written came from a register that nobody had written.
UNDEFINED = 4
READY = ALLOCATED | INITIALIZED

WORDS = {1: np.dtype(np.uint8), 2: np.dtype(np.uint16), 4: np.dtype(np.uint32), 8: np.dtype(np.uint64)}
#: Arrays of zeros from this size on (bytes) are pages of their own.
_PAGED = 1 << 18
#: Capacity is a multiple of the widest access (bytes), so that every view is whole.
_GRANULE = 64


def untouched(size: int, dtype: DTypeLike) -> np.ndarray:
    """An array of `size` zeros of which most are never touched: only pages that are written take memory and time."""
    bytes_ = size * np.dtype(dtype).itemsize
    return np.zeros(size, dtype) if bytes_ < _PAGED else np.frombuffer(mmap.mmap(-1, bytes_), dtype)


@dataclass(frozen=True)
class View:
    """A memory seen as rows of `count` words of `width` bytes: data, shadow, and the shadow of an initialised word."""

    data: np.ndarray
    state: np.ndarray
    ready: np.generic
    allocated: np.generic
    shift: int


class ByteArray:
    """Memory of one state space; index 0 is the address `base` of that space.

    The first bytes and the last are never allocated, so that an index that is clipped into range finds no memory.
    """

    def __init__(self, space: str, base: int, capacity: int) -> None:
        size = -(-(capacity + _GRANULE) // _GRANULE) * _GRANULE
        self.space = space
        self.base = base
        self.data = untouched(size, np.uint8)
        self.state = untouched(size, np.uint8)
        #: The bytes from and to which memory has been allocated.
        self.allocated: list[tuple[int, int]] = []
        self._views: dict[tuple[int, int], View] = {}

    def allocate(self, start: int, size: int, initialized: bool) -> None:
        """Make `size` bytes at index `start` memory of the kernel."""
        self.state[start : start + size] = READY if initialized else ALLOCATED
        self.allocated.append((start, start + size))

    def clear(self, initialized: bool = False) -> None:
        """Make the memory what it was after `allocate`, with bytes of zero."""
        self.data.fill(0)
        if not initialized:
            self.state &= ALLOCATED

    def view(self, width: int, count: int) -> View:
        """The memory as words of `width` bytes (1, 2, 4, 8), in rows of `count` where that is more than one."""
        key = (width, count)
        if key not in self._views:
            word = WORDS[width]
            data, state = self.data.view(word), self.state.view(word)
            if count > 1:
                data, state = data.reshape(-1, count), state.reshape(-1, count)
            shift = (width * count).bit_length() - 1
            repeated = int.from_bytes(bytes([1] * width), "little")
            ready, allocated = word.type(repeated * READY), word.type(repeated * ALLOCATED)
            self._views[key] = View(data, state, ready, allocated, shift)
        return self._views[key]

    def states(self, index: np.ndarray, size: int) -> np.ndarray:
        """The shadow of `size` bytes at each index, in a last axis; outside of the array it is 0."""
        places = index[..., None] + np.arange(size)
        return np.where((places >= 0) & (places < self.state.size), self.state.take(places, mode="clip"), 0)
