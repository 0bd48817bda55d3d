"""The memory of a GPU that is not there: what a program's buffers are where its kernels run on this machine.

In: a program and one run of it. Out: the memory of each buffer. An input is exactly its bytes. A buffer that kernels
write is whole words, as it is on a GPU, where the atomics of narrow types compare and swap the word around an element.
What no kernel has written yet is poisoned.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from tinyc.runtime import sizes
from tinyc.runtime.arena import allocate_arena
from tinyc.runtime.executable import Run
from tinyc.runtime.program import Grid, Program

#: What memory holds that nothing has written: NaN in every float type, and -1 in every integer.
_POISON = 0xFF
#: Bytes that an atomic of a narrower type reads and swaps.
_WORD_BYTES = 4


class Memory(NamedTuple):
    """The memory of a buffer: whole words, of which the last bytes may be `behind` its own."""

    words: np.ndarray
    size_bytes: int

    @property
    def own(self) -> np.ndarray:
        """The bytes of the buffer's elements."""
        return self.words[: self.size_bytes]

    @property
    def behind(self) -> np.ndarray:
        """The bytes behind them."""
        return self.words[self.size_bytes :]


def device_memory(program: Program, run: Run) -> dict[str, Memory]:
    """The memory of each buffer, by its name; inputs are copied: a faulty kernel may write to them."""
    found = {
        f"input_{k}": Memory(array.reshape(-1).view(np.uint8).copy(), array.nbytes)
        for k, array in enumerate(run.inputs)
    }
    found |= {f"output_{k}": Memory(_poisoned(array.nbytes), array.nbytes) for k, array in enumerate(run.outputs)}
    arena = _poisoned(sizes.extent_value(program.arena_bytes, run.values))
    for buffer in program.of_kind("arena"):
        start, size = sizes.extent_value(buffer.offset, run.values), sizes.extent_value(buffer.size, run.values)
        found[buffer.name] = Memory(arena[start : start + _whole_words(size)], size)
    return found


def _poisoned(size_bytes: int) -> np.ndarray:
    memory = allocate_arena(_whole_words(size_bytes))
    memory[...] = _POISON
    return memory


def _whole_words(size_bytes: int) -> int:
    return -(-size_bytes // _WORD_BYTES) * _WORD_BYTES


def grid_sizes(shape: Grid, values: Mapping[str, int]) -> tuple[int, int, int]:
    """A grid, CTA or cluster along x, y and z at the sizes of one run."""
    x, y, z = (sizes.extent_value(extent, values) for extent in shape)
    return x, y, z
