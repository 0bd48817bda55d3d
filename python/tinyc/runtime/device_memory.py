"""Device memory of a GPU that is simulated: what a program's buffers are where its kernels run on this machine.

In: a run of a program. Out: the memory of each buffer. An input is exactly its bytes. A buffer that kernels
write is whole words, as it is on a GPU, where the atomics of narrow types compare and swap the word around an element.
What no kernel has written yet is poisoned.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from tinyc.runtime.arena import poisoned_arena
from tinyc.runtime.bound import BoundLaunch
from tinyc.runtime.executable import Run
from tinyc.runtime.program import Pointer, Status, TensorMapParameter

#: Bytes that an atomic of a narrower type reads and swaps.
_WORD_BYTES = 4


class BufferMemory(NamedTuple):
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


@dataclass(frozen=True, eq=False)
class PlacedTensorMap:
    """A tensor map of a run: `array` has the elements of its buffer, and the others are those of a `Tiling`."""

    array: np.ndarray
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int


#: What a kernel is called with for one parameter.
Argument: TypeAlias = np.ndarray | int | PlacedTensorMap


def device_memory(run: Run) -> dict[str, BufferMemory]:
    """The memory of each buffer, by its name; inputs are copied: a faulty kernel may write to them."""
    found = {
        f"input_{k}": BufferMemory(array.reshape(-1).view(np.uint8).copy(), array.nbytes)
        for k, array in enumerate(run.inputs)
    }
    found |= {f"output_{k}": BufferMemory(_poisoned(array.nbytes), array.nbytes) for k, array in enumerate(run.outputs)}
    bound, arena = run.bound, _poisoned(run.bound.arena_bytes)
    for name, start in bound.offsets.items():
        size = bound.sizes[name]
        found[name] = BufferMemory(arena[start : start + _whole_words(size)], size)
    for name, start in bound.pool_offsets.items():
        assert run.pool is not None  # there are buffers in it
        size = bound.sizes[name]
        found[name] = BufferMemory(run.pool.memory[start : start + _whole_words(size)], size)
    return found


def _poisoned(size_bytes: int) -> np.ndarray:
    return poisoned_arena(_whole_words(size_bytes))


def _whole_words(size_bytes: int) -> int:
    return -(-size_bytes // _WORD_BYTES) * _WORD_BYTES


def launch_arguments(
    launch: BoundLaunch, run: Run, status: np.ndarray, memory: Callable[[Pointer | TensorMapParameter], np.ndarray]
) -> list[Argument]:
    """What a kernel is called with in one run; `memory` is that of a pointer, or the elements that a tensor map is of.

    For a status slot it is the slot, for an extent its value.
    """
    arguments: list[Argument] = []
    values, maps = iter(launch.extents_with(run.key, run.bound.values)), iter(launch.tensor_maps)
    for parameter in launch.kernel.parameters:
        if isinstance(parameter, Pointer):
            arguments.append(memory(parameter))
        elif isinstance(parameter, Status):
            arguments.append(status[parameter.slot])
        elif isinstance(parameter, TensorMapParameter):
            placed = next(maps)
            arguments.append(
                PlacedTensorMap(memory(parameter), placed.dims, placed.strides, placed.box, placed.swizzle)
            )
        else:
            arguments.append(next(values))
    return arguments


def copy_outputs(run: Run, buffers: Mapping[str, BufferMemory]) -> None:
    """Fill the outputs of a run."""
    for position, array in enumerate(run.outputs):
        array.reshape(-1).view(np.uint8)[...] = buffers[f"output_{position}"].own
