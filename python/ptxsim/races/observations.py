"""Observation order: which strong writes of a word a strong read of it has seen, itself or through atomics in between.

A write X is ordered before an access Y where a read Z observes X and Z is before Y: in Y's thread, or in one that Y's
thread knows. It orders X alone, not what X's thread did before it; that takes a release and an acquire. So the thread
whose atomic has counted the last of a ticket counter may reset it with a plain store, and no fence is needed for that.

By the ISA any such Z will do. But who comes first at a word is another one in another run, and then X may be behind Y.
Only a thread that looks at what Z has read can see to it that Y comes last: a Z whose value decides nothing, such as a
reduction's (`red`), does not count here.

In: strong accesses in the order of the launch. Out: an answer, worked out only once somebody asks. Source: PTX ISA,
"Observation Order", "Causality Order", 2.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ptxsim.machine.observer import AccessFacts
from ptxsim.memory.byte_array import ByteArray

_WORD = 4
#: Instructions that are kept; of those before, it is forgotten what they have observed.
_KEPT = 1 << 16


class _Step(NamedTuple):
    """A strong access of `size` bytes from `start` on; `linked`: what it reads is of the strong write before it."""

    start: int
    size: int
    time: int
    thread: int
    linked: bool
    tells: bool
    writes: bool
    atomic: bool


@dataclass(frozen=True, eq=False)
class StrongAccesses:
    """Strong accesses of one instruction: `index`, `threads` (of the launch) and `linked` are [k].

    `linked` says whose word was written last by a write such that both are strong in scopes that have both threads.
    """

    facts: AccessFacts
    memory: ByteArray
    index: np.ndarray
    time: int
    threads: np.ndarray
    linked: np.ndarray


@dataclass(eq=False)
class Observations:
    """The strong accesses of a launch, and by word in their order as far as that was asked for.

    `telling` gives the instructions whose value decides something.
    """

    _telling: Callable[[], frozenset[int]]
    _noted: list[StrongAccesses] = field(default_factory=list)
    _sorted: int = 0
    _steps: dict[tuple[ByteArray, int], list[_Step]] = field(default_factory=lambda: defaultdict(list))

    def note(self, accesses: StrongAccesses) -> None:
        """Note accesses; loads of what no strong write has left observe nothing."""
        if accesses.facts.kind == "load" and not accesses.linked.any():
            return
        if len(self._noted) == _KEPT:
            self._noted, self._sorted = self._noted[_KEPT // 2 :], 0
            self._steps.clear()
        self._noted.append(accesses)

    def observed(
        self, memory: ByteArray, place: int, size: int, time: int, thread: int, knows: Callable[[int, int], bool]
    ) -> bool:
        """Whether a strong write among `size` bytes, by `thread` at `time`, is observed by a read that somebody knows.

        `knows(thread, time)` says whether what a thread did at a time is before what is ordered here.
        """
        for word in range(place // _WORD, (place + size - 1) // _WORD + 1):
            steps = self._steps_of(memory, word)
            for at in reversed(range(len(steps))):
                if (steps[at].time, steps[at].thread, steps[at].writes) == (time, thread, True):
                    return _observed(steps[at], steps[at + 1 :], knows)
        return False

    def _steps_of(self, memory: ByteArray, word: int) -> list[_Step]:
        """The accesses of a word of a memory."""
        for each in self._noted[self._sorted :]:
            self._sort(each)
        self._sorted = len(self._noted)
        return self._steps[memory, word]

    def _sort(self, accesses: StrongAccesses) -> None:
        facts, size = accesses.facts, accesses.facts.size
        atomic, writes, tells = facts.kind == "atomic", facts.kind != "load", facts.number in self._telling()
        rows = zip(accesses.index.tolist(), accesses.threads.tolist(), accesses.linked.tolist(), strict=True)
        for start, thread, linked in rows:
            step = _Step(start, size, accesses.time, thread, linked, tells, writes, atomic)
            for word in range(start // _WORD, (start + size - 1) // _WORD + 1):
                steps = self._steps[accesses.memory, word]
                # Lanes of one atomic that hit one place go one after the other.
                turn = atomic and steps and (steps[-1].start, steps[-1].time) == (start, accesses.time)
                steps.append(step._replace(linked=True) if turn else step)


def _observed(write: _Step, behind: list[_Step], knows: Callable[[int, int], bool]) -> bool:
    """Whether one of the accesses behind a write observes it, and is known."""
    for step in behind:
        observes = step.linked and (step.start, step.size) == (write.start, write.size)
        if observes and step.tells and knows(step.thread, step.time):
            return True
        if step.writes and not (observes and step.atomic):
            return False
    return False
