"""Arguments of kernels on the CPU: a frame has those of one run, and a later run at the same sizes takes it over.

In: a program at the sizes of a run. Out: calls of machine code (`cpu_calls`), whose arguments are addresses in a frame.
Each thread of a team has addresses of its own, which differ in where its workspaces and its status slot are.
"""

import ctypes
import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from tinyc.runtime.arrays import address_of
from tinyc.runtime.bound import BoundLaunch, BoundProgram
from tinyc.runtime.cpu_calls import Call, KernelArguments, Kernels, Pace, kernel_call, together
from tinyc.runtime.program import KernelLaunch
from tinyc.runtime.status import earliest_notes, fresh_status
from tinyc.vocabulary.alignment import aligned_size

_POINTER_BYTES = ctypes.sizeof(ctypes.c_void_p)
#: A launch over buffers of so few bytes in all is tried in one thread at first: a team's start takes longer than most.
_FEW_BYTES = 1 << 14


class CpuFrames:
    """The frames for runs at some sizes that no run has at present: as many as runs have had at the same time."""

    def __init__(self, bound: BoundProgram, kernels: Kernels) -> None:
        self._bound, self._kernels = bound, kernels
        self._paces = [Pace(seconds=0.0 if _is_small(each, bound) else math.inf) for each in bound.launches]
        self._free: list[CpuFrame] = []
        self._threads = kernels.threads if kernels.team is not None else 1
        self._scratch = max((sum(_workspaces(each, bound).values()) for each in bound.launches), default=0)
        #: The arena of a run: the program's, and the workspaces of the threads beside the first one.
        self.arena_bytes = aligned_size(bound.arena_bytes) + (self._threads - 1) * self._scratch

    def take(self) -> "CpuFrame":
        """A frame that is this run's alone."""
        try:
            frame = self._free.pop()  # one step, whatever other threads do
        except IndexError:
            frame = CpuFrame(self._bound, self._kernels, self._paces, self._threads, self._scratch)
        if frame.unjoined:
            frame.join_calls()
        return frame

    def give_back(self, frame: "CpuFrame") -> None:
        """Keep a frame for a later run."""
        self._free.append(frame)


class CpuFrame:
    """The arguments of all launches of one run: addresses, extents and status slots, each in one array."""

    def __init__(
        self, bound: BoundProgram, kernels: Kernels, paces: Sequence[Pace], threads: int, scratch_bytes: int
    ) -> None:
        self._bound, self._kernels, self._threads = bound, kernels, threads
        launches = [launch.kernel for launch in bound.launches]
        self._widths = [len(each.pointers) + (each.status is not None) for each in launches]
        self._starts = [0, *itertools.accumulate(width * threads for width in self._widths)]
        self._addresses = (ctypes.c_void_p * self._starts[-1])()
        extents = [value for launch in bound.launches for value in launch.extents]
        self._extents = (ctypes.c_size_t * len(extents))(*extents)
        self._arena: int | None = None
        self._pool: int | None = None
        self._status = np.stack([fresh_status(bound.program)] * threads)
        #: Where the address of each buffer stands, and of a thread's workspaces, which have these offsets.
        self._places: dict[str, list[int]] = {buffer.name: [] for buffer in bound.program.buffers}
        self._own_places: list[tuple[int, int]] = []
        for launch, start, width in zip(bound.launches, self._starts, self._widths, strict=False):
            own = _offsets(_workspaces(launch, bound))
            for thread in range(threads):
                first = start + thread * width
                before = aligned_size(bound.arena_bytes) + (thread - 1) * scratch_bytes
                for place, pointer in enumerate(launch.kernel.pointers, first):
                    if thread and pointer.buffer in own:
                        self._own_places.append((place, before + own[pointer.buffer]))
                    else:
                        self._places[pointer.buffer].append(place)
                if launch.kernel.status is not None:
                    slot = self._status[thread, launch.kernel.status.slot]
                    self._addresses[first + width - 1] = address_of(slot)
        kinds = (("input", bound.program.inputs), ("output", bound.program.outputs))
        self._boundary = [self._places[f"{kind}_{at}"] for kind, names in kinds for at in range(len(names))]
        #: The calls of a run that prepares what is kept, and of one that does not.
        self.every_call = self._calls(paces)
        self.calls = [each for each in self.every_call if not each.launch.kernel.prepare]
        by_generation = itertools.groupby(self.calls, lambda each: each.launch.kernel.generation)
        self._generations = [[each for each in calls if each.turns] for _, calls in by_generation]
        #: Those of several calls, as long as it is not known whether they are sooner together.
        self.unjoined = [number for number, each in enumerate(self._generations) if threads > 1 and len(each) > 1]
        #: The calls that have something to do, several kernels of a generation together where that is sooner.
        self.joined_calls = [*itertools.chain.from_iterable(self._generations)]
        self._keyed = any(launch.keyed for launch in bound.launches)

    @property
    def status(self) -> np.ndarray:
        """What kernels have noted, in one slot each."""
        is_one = self._threads == 1 or not self._status.size or not self._status.any()
        return self._status[0] if is_one else earliest_notes(self._status)

    def _calls(self, paces: Sequence[Pace]) -> list[Call]:
        launches, addresses = self._bound.launches, ctypes.addressof(self._addresses)
        extents, calls = ctypes.addressof(self._extents), list[Call]()
        for number, (launch, start, width, pace) in enumerate(
            zip(launches, self._starts, self._widths, paces, strict=False)
        ):
            symbol, turns = launch.kernel.symbol, _turns(launch, self._bound)
            title = f"kernel '{symbol}' ({number + 1} of {len(launches)}), turn"
            bufs = addresses + start * _POINTER_BYTES
            arguments = KernelArguments(self._kernels.functions[symbol], bufs, width * _POINTER_BYTES, extents)
            calls.append(kernel_call(self._kernels, launch, arguments, turns, pace, title))
            extents += len(launch.extents) * ctypes.sizeof(ctypes.c_size_t)
        return calls

    def join_calls(self) -> None:
        """Call kernels of a generation together, once earlier runs have told that they are sooner so."""
        for number in tuple(self.unjoined):
            calls = together(self._kernels, self._generations[number])
            if calls is not None:
                self.unjoined.remove(number)
                self._generations[number] = calls
                self.joined_calls = [*itertools.chain.from_iterable(self._generations)]

    def fill(self, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], arena: int, key: int) -> None:
        """Write what is the run's own: where its arrays and its arena are, and the key of its random numbers."""
        for places, array in zip(self._boundary, (*inputs, *outputs), strict=True):
            address = address_of(array)
            for place in places:
                self._addresses[place] = address
        if arena != self._arena:
            self._arena = None  # an interrupt may leave addresses of both
            self._point(self._bound.offsets, arena)
            for place, offset in self._own_places:
                self._addresses[place] = arena + offset
            self._arena = arena
        if self._keyed:
            values = [each for launch in self._bound.launches for each in launch.extents_with(key, self._bound.values)]
            self._extents[:] = values
        if self._status.size:
            self._status[...] = 0

    def fill_pool(self, pool: int) -> None:
        """Write where the ConstPool is."""
        if pool != self._pool:
            self._point(self._bound.pool_offsets, pool)
            self._pool = pool

    def fill_constants(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Write where constants are that are not in the ConstPool."""
        for name, array in arrays.items():
            self._point({name: 0}, address_of(array))

    def _point(self, offsets: Mapping[str, int], base: int) -> None:
        for name, offset in offsets.items():
            for place in self._places[name]:
                self._addresses[place] = base + offset

    def contents(self, buffer: str, size_bytes: int) -> np.ndarray:
        """The bytes of a buffer that a kernel has a pointer to, where they are."""
        address = self._addresses[self._places[buffer][0]]
        return np.ctypeslib.as_array((ctypes.c_uint8 * size_bytes).from_address(address))


def _workspaces(launch: BoundLaunch, bound: BoundProgram) -> dict[str, int]:
    """The bytes of each workspace of a launch, as far apart as they are in the arena."""
    own = bound.program.workspaces_of(launch.kernel)
    return {
        each.buffer: aligned_size(bound.sizes[each.buffer]) for each in launch.kernel.pointers if each.buffer in own
    }


def _is_small(launch: BoundLaunch, bound: BoundProgram) -> bool:
    return sum(bound.sizes[each.buffer] for each in launch.kernel.pointers) <= _FEW_BYTES


def _offsets(sizes: Mapping[str, int]) -> dict[str, int]:
    return dict(zip(sizes, itertools.accumulate(sizes.values(), initial=0), strict=False))


def _turns(launch: BoundLaunch, bound: BoundProgram) -> int:
    """How often the parallel loop runs: never where all that is written is empty, however long the loop is.

    A kernel that checks indices runs all the same: it may have something to report.
    """
    kernel: KernelLaunch = launch.kernel
    if kernel.status is None and not any(bound.sizes[name] for name in kernel.writes):
        return 0
    return math.prod(launch.grid)
