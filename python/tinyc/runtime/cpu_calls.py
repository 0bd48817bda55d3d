"""Calls of kernels on the CPU: in the caller's thread, by a team that shares the turns of one, or those of several.

In: the arguments of launches, as addresses, and how long earlier runs have taken. Out: what a run calls. Kernels of one
generation are independent: where earlier runs tell that they are done sooner so, a team takes them together, and each
thread goes on to turns of the next kernel when none are left of one.
"""

import ctypes
import functools
import heapq
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tinyc.runtime.bound import BoundLaunch
from tinyc.runtime.threads import TeamCall, is_forked, team

#: Runs the turns of a kernel's loop from the first number on, below the second one.
RunTurns = Callable[[int, int], object]
#: `kernel.<name>(void** bufs, size_t* extents, size_t lo, size_t hi)`
_ARGUMENTS = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
_KERNEL_TYPE, _LOCKED_KERNEL_TYPE = ctypes.CFUNCTYPE(None, *_ARGUMENTS), ctypes.PYFUNCTYPE(None, *_ARGUMENTS)
#: A launch that takes less in one thread is over before a team has come together, and left again.
_WORTH_A_TEAM_SECONDS = 20e-6
#: What that says of a team: two threads, which take half of the time each, have to save so much.
_TEAM_SECONDS = _WORTH_A_TEAM_SECONDS / 2
#: One that takes less in a team may have waited for the team more than it has worked: one thread is tried some times.
_WORTH_A_TRY_SECONDS, _TRIES = 1e-3, 3
#: Parts of the turns that each thread of a team takes, so that all have done about as much when none are left.
_PARTS = 8


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
        """Whether one thread has been done so soon that nothing needs to come between its turns."""
        return self.alone_seconds < _WORTH_A_TEAM_SECONDS

    @property
    def is_known_short(self) -> bool:
        """The same, once it has been tried often enough to be no accident, nor the first time in cold caches."""
        return self.tries <= 0 and self.alone_seconds < _WORTH_A_TEAM_SECONDS

    @property
    def wants_team(self) -> bool:
        """Whether the turns are worth a team: those that were done soon are tried without, and what they took tells."""
        return not self.is_short and (self.tries <= 0 or self.seconds >= _WORTH_A_TRY_SECONDS)

    @property
    def is_known(self) -> bool:
        """Whether one thread need not be tried any more."""
        return self.tries <= 0 or _WORTH_A_TRY_SECONDS <= self.seconds < math.inf


class Kernels(NamedTuple):
    """The addresses of kernels by symbol, that of what a thread of a team runs, and how many threads there are."""

    functions: Mapping[str, int]
    team_function: int | None
    threads: int

    @property
    def team(self) -> TeamCall | None:
        """What runs turns in several threads; None where there is one."""
        return team() if self.threads > 1 and self.team_function is not None else None


class KernelArguments(NamedTuple):
    """Addresses: a kernel's function, the `bufs` of the first thread, how far apart those of two are, the `extents`."""

    function: int
    bufs: int
    apart_bytes: int
    extents: int


class Call(NamedTuple):
    """A kernel's launch: its arguments, a function on a range of turns, how many there are, their pace, and its title.

    `at_once` runs all turns in the caller's thread, which keeps Python's lock: for a short launch, which would be over
    before another thread has it. Else so many `threads` share the turns, where they are worth it. Of several kernels
    that are called `together` the launch and the arguments are those of the first one.
    """

    launch: BoundLaunch
    arguments: KernelArguments
    at_once: Callable[[], object]
    work: RunTurns
    turns: int
    pace: Pace
    title: str
    threads: int


def kernel_call(
    kernels: Kernels, launch: BoundLaunch, arguments: KernelArguments, turns: int, pace: Pace, title: str
) -> Call:
    """The call of one kernel, by no more threads than it has turns."""
    function, bufs, _, extents = arguments
    # Arguments that are of C's types already take half of the time that Python's numbers take.
    whole = [kind(value) for kind, value in zip(_ARGUMENTS, (bufs, extents, 0, turns), strict=True)]
    at_once = functools.partial(_LOCKED_KERNEL_TYPE(function), *whole)
    work: RunTurns = functools.partial(_KERNEL_TYPE(function), bufs, extents)
    threads = min(kernels.threads, turns) if kernels.team is not None else 1
    if threads > 1:
        work = TeamWork(kernels, work, [(arguments, turns)], pace)
    return Call(launch, arguments, at_once, work, turns, pace, title, threads)


def together(kernels: Kernels, calls: Sequence[Call]) -> list[Call] | None:
    """The calls of one generation, of which several are one; None as long as it is not known how long each takes.

    They are one where that is sooner than each by itself. One that fills all threads for long stays by itself, in
    chunks of a pace of its own.
    """
    if not all(each.pace.is_known for each in calls):
        return None
    threads = kernels.threads
    apart = [each for each in calls if _fills_threads(each, threads)]
    joined = [each for each in calls if not _fills_threads(each, threads)]
    # The longest first: what is left at the end, when a thread may have nothing to do, is short.
    parts = sorted(joined, key=lambda each: -_one_thread_seconds(each))
    by_itself = sum(min(_one_thread_seconds(each), _team_seconds([each], threads)) for each in parts)
    if by_itself <= _team_seconds(parts, threads):
        return list(calls)
    pace, turns = Pace(tries=0), sum(each.turns for each in parts)
    work = TeamWork(kernels, _one_by_one(parts), [(each.arguments, each.turns) for each in parts], pace)
    first = joined[0]
    title = f"{len(joined)} kernels at once, from {first.title}"
    at_once = functools.partial(work, 0, turns)
    return [Call(first.launch, first.arguments, at_once, work, turns, pace, title, threads), *apart]


def _fills_threads(call: Call, threads: int) -> bool:
    """Whether a call takes long, and has so many turns that no thread waits for long at its end."""
    return call.turns >= threads * _PARTS and call.pace.seconds >= _WORTH_A_TRY_SECONDS


def _one_thread_seconds(call: Call) -> float:
    """How long a call takes in one thread, by what a team has taken where that was not tried."""
    alone = call.pace.alone_seconds
    return alone if alone < math.inf else call.pace.seconds * call.threads


def _team_seconds(calls: Sequence[Call], threads: int) -> float:
    """How long a team takes for calls in this order: a thread that is done takes the next part."""
    loads = [0.0] * threads
    for call in calls:
        parts = min(call.turns, threads * _PARTS)
        for _ in range(parts):
            heapq.heapreplace(loads, loads[0] + _one_thread_seconds(call) / parts)
    return _TEAM_SECONDS + max(loads)


def _one_by_one(calls: Sequence[Call]) -> RunTurns:
    """What runs a range of the turns of all calls, numbered one call after the other, without a team for all."""
    starts = [0, *itertools.accumulate(each.turns for each in calls)]

    def work(low: int, high: int) -> None:
        for start, call in zip(starts, calls, strict=False):
            first, end = max(low - start, 0), min(high - start, call.turns)
            if first < end:
                call.work(first, end)

    return work


class TeamWork:
    """Turns of kernels, which a team shares where they are worth it: `alone` runs them without.

    The turns of several kernels, each with its arguments, are numbered one kernel after the other.
    """

    def __init__(
        self, kernels: Kernels, alone: RunTurns, parts: Sequence[tuple[KernelArguments, int]], pace: Pace
    ) -> None:
        self._alone, self._pace, self._threads = alone, pace, kernels.threads
        run, function = kernels.team, kernels.team_function
        assert run is not None  # there are several threads
        assert function is not None
        self._part_turns = [turns for _, turns in parts]
        #: What `dialects.exec.to_llvm` says that a job has.
        words = [0, *itertools.chain.from_iterable((*arguments, 0, 0, 0) for arguments, _ in parts), 0]
        self._job = (ctypes.c_size_t * len(words))(*words)
        self._turns = sum(self._part_turns)
        self._ask_for(0, self._turns)
        self._bytes, self._all_turns = memoryview(self._job).cast("B"), bytes(self._job)
        self._run = functools.partial(run, function, ctypes.addressof(self._job), kernels.threads)

    def __call__(self, low: int, high: int) -> None:
        """Run the turns from `low` on, below `high`."""
        if high - low < 2 or not self._pace.wants_team or is_forked():
            self._alone(low, high)
            return
        if high - low == self._turns:
            self._bytes[:] = self._all_turns
        else:
            self._ask_for(low, high)
        self._run()

    def _ask_for(self, low: int, high: int) -> None:
        """Write a range of the turns into the job; of some kernels it may have none."""
        job, at = self._job, 1
        job[0] = 0
        for turns in self._part_turns:
            first, end = min(max(low, 0), turns), min(max(high, 0), turns)
            job[at + 4], job[at + 5], job[at + 6] = first, end, max(1, (end - first) // (self._threads * _PARTS))
            low, high, at = low - turns, high - turns, at + 7
