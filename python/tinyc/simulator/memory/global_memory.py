"""Global memory of one launch: the module's variables and every array argument, with gaps between them.

In: numpy arrays. Out: one `ByteArray` with the place of each; after the launch the arrays get their bytes back.
"""

from dataclasses import dataclass, field

import numpy as np

from tinyc.simulator.memory.byte_array import ByteArray
from tinyc.simulator.memory.windows import GLOBAL_ALIGNMENT, GLOBAL_START

#: Bytes between two arrays that are nobody's, at least: a large overrun, too, is one.
_GAP_BYTES = 1 << 20


@dataclass
class GlobalMemory:
    """Places byte ranges one after the other; `memory` is made when all have theirs."""

    arrays: list[tuple[np.ndarray, int]] = field(default_factory=list)
    reserved: list[tuple[int, int]] = field(default_factory=list)
    _end: int = _GAP_BYTES

    def reserve(self, size: int) -> int:
        """Return the address of `size` new bytes."""
        start = -(-self._end // GLOBAL_ALIGNMENT) * GLOBAL_ALIGNMENT
        self._end = start + size + _GAP_BYTES
        self.reserved.append((start, size))
        return GLOBAL_START + start

    def add(self, array: np.ndarray) -> int:
        """Return the address of an array's bytes, in row-major order; one array has one place."""
        for known, address in self.arrays:
            if known is array:
                return address
        address = self.reserve(array.nbytes)
        self.arrays.append((array, address))
        return address

    def memory(self) -> ByteArray:
        """Return the memory with the arrays' bytes in it."""
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
