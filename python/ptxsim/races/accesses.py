"""Accesses under examination: who accesses what, and which of the accesses before them nothing orders with them.

In: stamps of earlier accesses, from a shadow. Out: masks, and findings that name the line of the other access.
"""

from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import numpy as np

from ptxsim.machine.observer import ObservedCta, Other
from ptxsim.memory.byte_array import ByteArray
from ptxsim.races import stamp
from ptxsim.races.clocks import Clocks
from ptxsim.races.messages import Messages
from ptxsim.races.observations import Observations
from ptxsim.races.shadow import Shadow

_CTA, _CLUSTER, _GPU = 1, 2, 3
_NO_VALUES = np.zeros((0, 0))
#: The end of the message of every race.
UNORDERED = "and nothing orders the two"


class Known(Protocol):
    """What the race detector knows that accesses, copies and fences are checked against."""

    per_cta: int
    messages: Messages

    def shadow(self, memory: ByteArray) -> Shadow:
        """The shadow of a memory."""
        ...

    def other(self, earlier: np.ndarray) -> Other:
        """Who left a stamp, `earlier: [1]`, and where."""
        ...


@dataclass(eq=False)
class Accesses:
    """Accesses of `size` bytes at `index: [k]` of a memory, by `threads: [k]` of the launch, all at instruction `at`.

    `action` is the verb of findings ("reads"), `strength` as in stamps; `values` are what each stores: [k, words].
    `observations` are those that order them with earlier strong writes, none for the asynchronous proxy.
    """

    cta: ObservedCta
    clocks: Clocks
    at: int
    memory: ByteArray
    index: np.ndarray
    size: int
    threads: np.ndarray
    strength: int
    action: str
    values: np.ndarray = field(default_factory=lambda: _NO_VALUES)
    observations: Observations | None = None

    def __post_init__(self) -> None:
        #: The number in the launch of the cluster's first thread, and the threads' numbers in the cluster: [k].
        self.base = self.clocks.number * self.clocks.count
        self.local = self.threads - self.base

    def unordered(self, messages: Messages, earlier: np.ndarray) -> np.ndarray | None:
        """The stamps that are of accesses which nothing orders with these: bool like them; None for none.

        Shapes: earlier: [k], with further axes for several granules and slots.
        """
        where = np.flatnonzero(earlier)
        stamps, rows = earlier.reshape(-1)[where], where * len(earlier) // earlier.size
        mine = self.threads.take(rows, mode="clip")
        foreign = stamp.threads_of(stamps) != mine
        chosen = np.flatnonzero(foreign | (stamps & stamp.OTHER != 0))
        if not chosen.size:
            return None
        if chosen.size < where.size:
            where, stamps, rows, mine, foreign = (each[chosen] for each in (where, stamps, rows, mine, foreign))
        left = foreign & self._unordered(messages, mine, stamps, rows)
        if np.count_nonzero(stamps & stamp.OTHER):
            others = stamp.of_other(stamps)
            further = (others != 0) & (stamp.threads_of(others) != mine) & ~left
            left[further] = self._unordered(messages, mine[further], others[further], rows[further])
        if not np.count_nonzero(left):
            return None
        result = np.zeros(earlier.size, bool)
        result[where[left]] = True
        return result.reshape(earlier.shape)

    def first_unordered(self, messages: Messages, earlier: np.ndarray, wrong: np.ndarray) -> np.ndarray:
        """The stamp of the first of the accesses that `unordered` gives, as the lane's that is unordered: [1]."""
        place = tuple(np.argwhere(wrong)[0])
        rows, found = np.array(place[:1]), earlier[place].reshape(1)
        mine = np.broadcast_to(self.threads, wrong.shape[:1])[rows]
        is_own = bool(stamp.threads_of(found)[0] == mine[0])
        if found[0] & stamp.OTHER and (is_own or not self._unordered(messages, mine, found, rows)[0]):
            return stamp.of_other(found)
        return found

    def strong_with(self, earlier: np.ndarray) -> np.ndarray:
        """Which of `earlier: [k]` are stamps of accesses that are strong, as these are, in scopes with both threads."""
        needed = self._needed(self.threads, stamp.threads_of(earlier))
        return np.minimum(earlier & stamp.STRENGTH, self.strength) >= needed

    def _needed(self, mine: np.ndarray, theirs: np.ndarray) -> np.ndarray:
        """The narrowest scope that has both of two threads."""
        clocks = self.clocks
        wide = np.where(theirs // clocks.count == clocks.number, _CLUSTER, _GPU)
        return np.where(theirs // clocks.per_cta == mine // clocks.per_cta, _CTA, wide)

    def _unordered(self, messages: Messages, mine: np.ndarray, earlier: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The same for pairs: [n] threads of the launch and [n] stamps of other threads, of accesses number `rows`."""
        clocks, times, theirs = self.clocks, stamp.times_of(earlier), stamp.threads_of(earlier)
        apart = np.ones(len(earlier), bool)
        if self.strength:
            apart = np.minimum(earlier & stamp.STRENGTH, self.strength) < self._needed(mine, theirs)
            if not np.count_nonzero(apart):
                return apart
        near = theirs // clocks.count == clocks.number
        open_ = apart & (~near | (times > clocks.known(mine - self.base, np.where(near, theirs - self.base, 0))))
        if clocks.heard:
            for number in np.flatnonzero(open_ & ~near).tolist():
                cluster, other = divmod(int(theirs[number]), clocks.count)
                thread = int(mine[number]) - self.base
                open_[number] = not messages.known_elsewhere(clocks, thread, cluster, other, int(times[number]))
        if self.observations is not None:
            for number in np.flatnonzero(open_ & (earlier & stamp.STRENGTH != 0)).tolist():
                thread, place = int(mine[number]) - self.base, int(self.index[rows[number]])
                write = int(times[number]), int(theirs[number])
                knows = partial(messages.knows, clocks, thread)
                open_[number] = not self.observations.observed(self.memory, place, self.size, *write, knows)
        return open_

    def unproxied(self, messages: Messages, earlier: np.ndarray) -> np.ndarray | None:
        """The stamps of writes without a proxy fence between them and these accesses; None for none."""
        where = np.flatnonzero((earlier != 0) & (earlier & stamp.ASYNCHRONOUS == 0))
        if not where.size:
            return None
        mine = np.broadcast_to(self.local.reshape(-1, *[1] * (earlier.ndim - 1)), earlier.shape).reshape(-1)[where]
        stamps = earlier.reshape(-1)[where]
        near = stamp.threads_of(stamps) // self.clocks.count == self.clocks.number
        theirs = np.where(near, stamp.threads_of(stamps) - self.base, 0)
        fenced = self.clocks.known_proxied(self.memory.space, mine, theirs)
        wrong = np.zeros(earlier.size, bool)
        open_ = stamp.times_of(stamps) > fenced
        for number in np.flatnonzero(~near).tolist():
            cluster, other = divmod(int(stamp.threads_of(stamps[number])), self.clocks.count)
            time, thread = int(stamp.times_of(stamps[number])), int(mine[number])
            open_[number] = not messages.known_proxied_elsewhere(self.clocks, thread, cluster, other, time)
        wrong[where] = open_
        return wrong.reshape(earlier.shape) if wrong.any() else None

    def report(self, kind: str, wrong: np.ndarray, text: str, other: Other | None = None) -> None:
        """Record a finding by the accesses of `wrong: [k, …]`; the text may leave open the line of `other`."""
        chosen = wrong.reshape(wrong.shape[0], -1).any(axis=1)
        mine = np.broadcast_to(self.threads, wrong.shape[:1])
        lanes = self.cta.lanes_of(mine[chosen] - self.cta.number * self.clocks.per_cta)
        address = int(self.index[chosen][0]) + self.memory.base
        message = f"{self.action} {self.size} bytes of {self.memory.space} memory {text}"
        self.cta.report(kind, message, self.at, lanes, address, self.memory.space, other)
