"""Global memory of one launch: the module's variables and every array argument, with gaps between them.

In: numpy arrays. Out: one `ByteArray` with the place of each; after the launch the arrays get their bytes back. Arrays
whose bytes overlap, as views of one buffer do, lie in one place of the buffer's bytes, each at its offset.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from ptxsim.errors import InputError
from ptxsim.memory.byte_array import ByteArray
from ptxsim.memory.windows import GLOBAL_ALIGNMENT, GLOBAL_START

#: Bytes between two arrays that are nobody's, at least: a large overrun, too, is one.
GAP_BYTES = 1 << 20
#: As much as is tried to show that views with strides have no element in common; numpy's types know 0 and -1 only.
_OVERLAP_WORK = cast("Any", 100_000)


@dataclass
class _Buffer:
    """Arrays that have bytes in common: they take the bytes of the process from `start` to `end`."""

    start: int
    end: int
    address: int | None = None


@dataclass
class GlobalMemory:
    """Places byte ranges one after the other; `memory` is made when all have theirs.

    Raises:
        InputError: arrays overlap, and one of them is not a row of bytes in its own order.
    """

    given: Iterable[np.ndarray]
    arrays: list[tuple[np.ndarray, int]] = field(default_factory=list)
    reserved: list[tuple[int, int]] = field(default_factory=list)
    _end: int = GAP_BYTES

    def __post_init__(self) -> None:
        different = list({id(array): array for array in self.given}.values())
        _check_views(different)
        self._buffers = _buffers([_range(array) for array in different if array.flags.c_contiguous])

    def reserve(self, size: int) -> int:
        """The address of `size` new bytes."""
        start = -(-self._end // GLOBAL_ALIGNMENT) * GLOBAL_ALIGNMENT
        self._end = start + size + GAP_BYTES
        self.reserved.append((start, size))
        return GLOBAL_START + start

    def add(self, array: np.ndarray) -> int:
        """The address of the bytes of one of the given arrays, in row-major order; one array has one place."""
        for known, address in self.arrays:
            if known is array:
                return address
        address = self._address(array)
        self.arrays.append((array, address))
        return address

    def _address(self, array: np.ndarray) -> int:
        start, end = _range(array)
        buffer = next((each for each in self._buffers if each.start <= start and end <= each.end), None)
        if buffer is None or not array.flags.c_contiguous or not array.nbytes:
            return self.reserve(array.nbytes)
        if buffer.address is None:
            buffer.address = self.reserve(buffer.end - buffer.start)
        return buffer.address + start - buffer.start

    def memory(self) -> ByteArray:
        """The memory with the arrays' bytes in it."""
        memory = ByteArray("global", GLOBAL_START, self._end)
        for start, size in self.reserved:
            memory.allocate(start, size, initialized=True)
        for array, address in self.arrays:
            start = address - GLOBAL_START
            memory.data[start : start + array.nbytes] = np.frombuffer(array.tobytes(), np.uint8)
        return memory

    def copy_back(self, memory: ByteArray) -> None:
        """Give every array that can be written the bytes that it has now."""
        for array, address in self.arrays:
            if array.flags.writeable:
                start = address - GLOBAL_START
                contents = memory.data[start : start + array.nbytes]
                array[...] = contents.view(array.dtype).reshape(array.shape) if array.size else array


def _range(array: np.ndarray) -> tuple[int, int]:
    """The addresses in the process of the bytes of a contiguous array."""
    start = array.__array_interface__["data"][0]
    return start, start + array.nbytes


def _buffers(ranges: list[tuple[int, int]]) -> list[_Buffer]:
    """Ranges that overlap as one; those that only touch stay apart."""
    buffers: list[_Buffer] = []
    for start, end in sorted(each for each in ranges if each[0] < each[1]):
        if buffers and start < buffers[-1].end:
            buffers[-1].end = max(buffers[-1].end, end)
        else:
            buffers.append(_Buffer(start, end))
    return buffers


def _check_views(arrays: list[np.ndarray]) -> None:
    """Check that arrays which the kernel gets as copies, since they have strides, share nothing with others."""
    for number, array in enumerate(arrays):
        for other in arrays[:number]:
            if array.flags.c_contiguous and other.flags.c_contiguous:
                continue
            if _overlap(array, other):
                shapes = f"{list(other.shape)} and {list(array.shape)}"
                message = f"array arguments of shapes {shapes} share memory, and one of them is not contiguous"
                raise InputError(f"{message}; give a copy of it (numpy.ascontiguousarray)")


def _overlap(array: np.ndarray, other: np.ndarray) -> bool:
    try:
        return bool(np.shares_memory(array, other, max_work=_OVERLAP_WORK))
    except np.exceptions.TooHardError:
        return True
