"""Arguments of kernels on the CPU: a frame has those of one run, and a later run at the same sizes takes it over.

In: a program at the sizes of a run. Out: calls of machine code, whose arguments are addresses in a frame.
"""

import ctypes
import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tinyc.runtime.arrays import address_of
from tinyc.runtime.bound import BoundLaunch, BoundProgram
from tinyc.runtime.program import KernelLaunch
from tinyc.runtime.status import fresh_status

#: `kernel.<name>(void** bufs, size_t* extents, size_t lo, size_t hi)`
KernelFunction = Callable[[int, int, int, int], Any]


@dataclass
class Pace:
    """How many turns of a kernel's loop one call may run, as far as earlier runs at the same sizes have told."""

    turns: int = 1


class Call(NamedTuple):
    """A kernel's launch: its function on a range of turns, how many there are, their pace, and what it is called."""

    launch: BoundLaunch
    work: Callable[[int, int], object]
    turns: int
    pace: Pace
    title: str


class CpuFrames:
    """The frames for runs at some sizes that no run has at present: as many as runs have had at the same time."""

    def __init__(self, bound: BoundProgram, functions: Mapping[str, KernelFunction]) -> None:
        self._bound, self._functions = bound, functions
        self._paces = [Pace() for _ in bound.launches]
        self._free: list[CpuFrame] = []

    def take(self) -> "CpuFrame":
        """A frame that is this run's alone."""
        try:
            return self._free.pop()  # one step, whatever other threads do
        except IndexError:
            return CpuFrame(self._bound, self._functions, self._paces)

    def give_back(self, frame: "CpuFrame") -> None:
        """Keep a frame for a later run."""
        self._free.append(frame)


class CpuFrame:
    """The arguments of all launches of one run: addresses, extents and status slots, each in one array."""

    def __init__(self, bound: BoundProgram, functions: Mapping[str, KernelFunction], paces: Sequence[Pace]) -> None:
        self._bound, kernels = bound, [launch.kernel for launch in bound.launches]
        self._starts = [0, *itertools.accumulate(len(each.pointers) + (each.status is not None) for each in kernels)]
        self._addresses = (ctypes.c_void_p * self._starts[-1])()
        extents = [value for launch in bound.launches for value in launch.extents]
        self._extents = (ctypes.c_size_t * len(extents))(*extents)
        self._arena: int | None = None
        self._pool: int | None = None
        self.status = fresh_status(bound.program)
        #: Where the address of each buffer stands.
        self._places: dict[str, list[int]] = {buffer.name: [] for buffer in bound.program.buffers}
        for kernel, start in zip(kernels, self._starts, strict=False):
            for place, pointer in enumerate(kernel.pointers, start):
                self._places[pointer.buffer].append(place)
            if kernel.status is not None:
                self._addresses[start + len(kernel.pointers)] = self.status[kernel.status.slot].ctypes.data
        kinds = (("input", bound.program.inputs), ("output", bound.program.outputs))
        self._boundary = [self._places[f"{kind}_{at}"] for kind, names in kinds for at in range(len(names))]
        #: The calls of a run that prepares what is kept, and of one that does not.
        self.every_call = self._calls(functions, paces)
        self.calls = [each for each in self.every_call if not each.launch.kernel.prepare]
        self._keyed = any(launch.keyed for launch in bound.launches)

    def _calls(self, functions: Mapping[str, KernelFunction], paces: Sequence[Pace]) -> list[Call]:
        launches, addresses = self._bound.launches, ctypes.addressof(self._addresses)
        extents, calls = ctypes.addressof(self._extents), list[Call]()
        for number, (launch, start, pace) in enumerate(zip(launches, self._starts, paces, strict=False)):
            symbol = launch.kernel.symbol
            title = f"kernel '{symbol}' ({number + 1} of {len(launches)}), turn"
            work = functools.partial(functions[symbol], addresses + start * ctypes.sizeof(ctypes.c_void_p), extents)
            calls.append(Call(launch, work, _turns(launch, self._bound), pace, title))
            extents += len(launch.extents) * ctypes.sizeof(ctypes.c_size_t)
        return calls

    def fill(self, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], arena: int, key: int) -> None:
        """Write what is the run's own: where its arrays and its arena are, and the key of its random numbers."""
        for places, array in zip(self._boundary, (*inputs, *outputs), strict=True):
            address = address_of(array)
            for place in places:
                self._addresses[place] = address
        if arena != self._arena:
            self._arena = None  # an interrupt may leave addresses of both
            self._point(self._bound.offsets, arena)
            self._arena = arena
        if self._keyed:
            values = [each for launch in self._bound.launches for each in launch.extents_with(key, self._bound.values)]
            self._extents[:] = values
        if len(self.status):
            self.status[...] = 0

    def fill_pool(self, pool: int) -> None:
        """Write where the ConstPool is."""
        if pool != self._pool:
            self._point(self._bound.pool_offsets, pool)
            self._pool = pool

    def _point(self, offsets: Mapping[str, int], base: int) -> None:
        for name, offset in offsets.items():
            for place in self._places[name]:
                self._addresses[place] = base + offset

    def contents(self, buffer: str, size_bytes: int) -> np.ndarray:
        """The bytes of a buffer that a kernel has a pointer to, where they are."""
        address = self._addresses[self._places[buffer][0]]
        return np.ctypeslib.as_array((ctypes.c_uint8 * size_bytes).from_address(address))


def _turns(launch: BoundLaunch, bound: BoundProgram) -> int:
    """How often the parallel loop runs: never where all that is written is empty, however long the loop is.

    A kernel that checks indices runs all the same: it may have something to report.
    """
    kernel: KernelLaunch = launch.kernel
    if kernel.status is None and not any(bound.sizes[name] for name in kernel.writes):
        return 0
    return math.prod(launch.grid)
