"""Arguments of kernels on the CPU: a frame has those of one run, and a later run at the same sizes takes it over.

In: a program at the sizes of a run. Out: calls of machine code, whose arguments are addresses in a frame. Each thread
of a team has addresses of its own, which differ in where its workspaces and its status slot are.
"""

import ctypes
import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tinyc.runtime.arrays import address_of
from tinyc.runtime.bound import BoundLaunch, BoundProgram
from tinyc.runtime.program import KernelLaunch
from tinyc.runtime.status import earliest_notes, fresh_status
from tinyc.runtime.threads import TeamCall, is_forked, team
from tinyc.vocabulary.alignment import aligned_size

#: Runs the turns of a kernel's loop from the first number on, below the second one.
RunTurns = Callable[[int, int], object]
#: `kernel.<name>(void** bufs, size_t* extents, size_t lo, size_t hi)`
_ARGUMENTS = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
_KERNEL_TYPE, _LOCKED_KERNEL_TYPE = ctypes.CFUNCTYPE(None, *_ARGUMENTS), ctypes.PYFUNCTYPE(None, *_ARGUMENTS)
_POINTER_BYTES = ctypes.sizeof(ctypes.c_void_p)
#: A launch that takes less in one thread is over before a team has come together, and left again.
_WORTH_A_TEAM_SECONDS = 20e-6
#: One that takes less in a team may have waited for the team more than it has worked: one thread is tried some times.
_WORTH_A_TRY_SECONDS, _TRIES = 1e-3, 3
#: One over buffers of so few bytes in all is tried so at first: the start of a team takes longer than most of these.
_FEW_BYTES = 1 << 14
#: Parts of the turns that each thread of a team takes, so that all have done about as much when none are left.
_PARTS = 4


@dataclass
class Pace:
    """How many turns of a kernel's loop one call may run, as far as earlier runs at the same sizes have told.

    `seconds` is how long the last run's turns took together, `alone_seconds` the least that they took in one thread, in
    which they may be tried so many times more; before the first run nothing is known, or that they are few.
    """

    turns: int = 1
    seconds: float = math.inf
    alone_seconds: float = math.inf
    tries: int = _TRIES

    @property
    def is_short(self) -> bool:
        """Whether one thread is known to be done so soon that nothing needs to come between its turns."""
        return self.alone_seconds < _WORTH_A_TEAM_SECONDS

    @property
    def wants_team(self) -> bool:
        """Whether the turns are worth a team: those that were done soon are tried without, and what they took tells."""
        return not self.is_short and (self.tries <= 0 or self.seconds >= _WORTH_A_TRY_SECONDS)


@dataclass(frozen=True)
class Kernels:
    """The addresses of kernels by symbol, that of what a thread of a team runs, and how many threads there are."""

    functions: Mapping[str, int]
    team_function: int | None
    threads: int

    @property
    def team(self) -> TeamCall | None:
        """What runs turns in several threads; None where there is one."""
        return team() if self.threads > 1 and self.team_function is not None else None


class Call(NamedTuple):
    """A kernel's launch: its function on a range of turns, how many there are, their pace, and what it is called.

    `at_once` runs all turns in the caller's thread, which keeps Python's lock: for a short launch, which would be over
    before another thread has it. Else so many `threads` share the turns, where they are worth it.
    """

    launch: BoundLaunch
    at_once: Callable[[], object]
    work: RunTurns
    turns: int
    pace: Pace
    title: str
    threads: int


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
            return self._free.pop()  # one step, whatever other threads do
        except IndexError:
            return CpuFrame(self._bound, self._kernels, self._paces, self._threads, self._scratch)

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
            function, bufs = self._kernels.functions[symbol], addresses + start * _POINTER_BYTES
            # Arguments that are of C's types already take half of the time that Python's numbers take.
            whole = [kind(value) for kind, value in zip(_ARGUMENTS, (bufs, extents, 0, turns), strict=True)]
            at_once = functools.partial(_LOCKED_KERNEL_TYPE(function), *whole)
            work: RunTurns = functools.partial(_KERNEL_TYPE(function), bufs, extents)
            threads = min(self._threads, turns)
            if threads > 1:
                work = TeamWork(self._kernels, work, (function, bufs, width * _POINTER_BYTES, extents), pace)
            calls.append(Call(launch, at_once, work, turns, pace, title, threads))
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


class TeamWork:
    """Turns of a kernel, which a team shares where they are worth it: `alone` runs them in the caller's thread."""

    def __init__(self, kernels: Kernels, alone: RunTurns, arguments: tuple[int, int, int, int], pace: Pace) -> None:
        self._alone, self._pace, self._threads = alone, pace, kernels.threads
        run, function = kernels.team, kernels.team_function
        assert run is not None  # there are several threads
        assert function is not None
        #: What `dialects.exec.to_llvm` says that a job has.
        self._job = (ctypes.c_size_t * 8)(*arguments)
        self._run = functools.partial(run, function, ctypes.addressof(self._job), kernels.threads)

    def __call__(self, low: int, high: int) -> None:
        """Run the turns from `low` on, below `high`."""
        if high - low < 2 or not self._pace.wants_team or is_forked():
            self._alone(low, high)
            return
        job = self._job
        job[4], job[5], job[6], job[7] = low, high, max(1, (high - low) // (self._threads * _PARTS)), 0
        self._run()


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
