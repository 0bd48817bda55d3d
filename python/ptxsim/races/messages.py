"""Synchronisation through memory: what a release leaves at a place, and who picks it up there.

A release is a store or atomic with `.release`, or a strong one after a fence; an acquire one with `.acquire`, or a
strong read with a fence after it. Atomics continue the release sequence of the word that they update, and so do later
strong stores of the thread that released. A message is received only by a thread that the scopes of both sides name.

A `fence.sc` receives, besides, what any thread before it has read behind another `fence.sc`: were the two in the other
order, a read would see a write that it happens before. Source: PTX ISA, "Release and Acquire Patterns", "Fence-SC".
"""

from dataclasses import dataclass, field

import numpy as np

from ptxsim.memory.byte_array import ByteArray
from ptxsim.races.clocks import PROXIED, Clocks, Heard, Knowledge
from ptxsim.races.release_state import Fence, ReleaseState
from ptxsim.races.stamp import scope_of

_RELEASES = frozenset({"release", "acq_rel"})
_ACQUIRES = frozenset({"acquire", "acq_rel"})
_CTA, _CLUSTER, _GPU = 1, 2, 3


@dataclass(frozen=True)
class Message:
    """What a thread (of CTA `cta` in cluster `cluster`) releases, in a scope; `sc`: behind a `fence.sc`."""

    cluster: int
    cta: int
    thread: int
    knowledge: Knowledge
    scope: int
    sc: bool

    def reaches(self, cluster: int, cta: int, scope: int) -> bool:
        """Whether a thread of a CTA that acquires in `scope` is in both scopes."""
        needed = _CTA if cta == self.cta else _CLUSTER if cluster == self.cluster else _GPU
        return min(scope, self.scope) >= needed


@dataclass(frozen=True)
class Strong:
    """Strong accesses of one instruction: `order` and `scope` are its modifiers.

    `reads` says that they return what they read; `writes: [k]` which of them write, None for all.
    """

    order: str
    scope: str
    reads: bool
    continues: bool
    writes: np.ndarray | None


@dataclass(eq=False)
class Messages:
    """All messages of a launch by number, and those that a read at each place receives (bit sets)."""

    sent: list[Message] = field(default_factory=list)
    places: dict[tuple[ByteArray, int], int] = field(default_factory=dict)
    _of_cluster: dict[int, list[int]] = field(default_factory=dict)
    #: Those behind a `fence.sc` (a bit set).
    _sc: int = 0

    def synchronise(
        self,
        access: Strong,
        clocks: Clocks,
        release_state: ReleaseState,
        memory: ByteArray,
        index: np.ndarray,
        threads: np.ndarray,
        now: int,
    ) -> None:
        """Let strong accesses of `threads: [k]` at `index: [k]` release and acquire."""
        may_release = access.order in _RELEASES or bool(release_state.fenced)
        if not self.places and (not may_release or (access.writes is not None and not access.writes.any())):
            return
        writes = np.ones(len(index), bool) if access.writes is None else access.writes
        for place, thread, stores in zip(index.tolist(), threads.tolist(), writes.tolist(), strict=True):
            key = (memory, place)
            found = self.places.get(key, 0)
            if found and access.reads:
                self._read(access, clocks, release_state, thread, found)
            if stores:
                sent = self._send(access, clocks, release_state, thread, now) if may_release else 0
                self.places[key] = sent | (found if access.continues else self._own(clocks, thread, found))

    def _own(self, clocks: Clocks, thread: int, bits: int) -> int:
        """Those messages in `bits` that the thread has sent itself."""
        own = 0
        for number in numbers_of(bits):
            message = self.sent[number]
            own |= (message.cluster == clocks.number and message.thread == thread) << number
        return own

    def _read(self, access: Strong, clocks: Clocks, release_state: ReleaseState, thread: int, found: int) -> None:
        if access.order in _ACQUIRES:
            self.receive(clocks, thread, found, scope_of(access.scope))
            return
        release_state.seen[thread] = release_state.seen.get(thread, 0) | found
        if found & self._sc:
            clocks.hear(thread, Heard(observed=found & self._sc))

    def _send(self, access: Strong, clocks: Clocks, release_state: ReleaseState, thread: int, now: int) -> int:
        """The messages that a strong write leaves behind: its own, and those of the fences before it."""
        bits = 0
        if access.order in _RELEASES:
            known = clocks.release(np.array([thread]), now)
            bits = self._add(clocks, thread, known, scope_of(access.scope), sc=False)
        for fence in release_state.fenced.get(thread, ()):
            if access.order in _RELEASES and not fence.sc:
                continue
            bits |= self._add(clocks, thread, fence.then.of(thread), min(fence.scope, scope_of(access.scope)), fence.sc)
        return bits

    def _add(self, clocks: Clocks, thread: int, knowledge: Knowledge, scope: int, sc: bool) -> int:
        number = len(self.sent)
        cta = clocks.number * clocks.ctas + thread // clocks.per_cta
        self.sent.append(Message(clocks.number, cta, thread, knowledge, scope, sc))
        self._sc |= sc << number
        self._of_cluster.setdefault(clocks.number, []).append(number)
        return 1 << number

    def receive(self, clocks: Clocks, thread: int, bits: int, scope: int) -> int:
        """Let a thread know what the messages in `bits` say, those that it is in scope of, and those before them.

        Returns: the messages that it is not in scope of.
        """
        cta = clocks.number * clocks.ctas + thread // clocks.per_cta
        heard, missed = clocks.heard.get(thread, Heard()), 0
        known, fresh = heard.received, bits & ~heard.received
        for number in numbers_of(fresh):
            if not self.sent[number].reaches(clocks.number, cta, scope):
                missed |= 1 << number
        fresh &= ~missed
        learnt = Knowledge(np.zeros(0, np.int32))
        while fresh:
            number = fresh.bit_length() - 1
            message = self.sent[number]
            known |= 1 << number
            heard = heard.joined(message.knowledge.heard)
            fresh = (fresh | message.knowledge.heard.received) & ~known
            if message.cluster == clocks.number:
                learnt = learnt.joined(Knowledge(message.knowledge.row))
        if learnt.row.size:
            clocks.acquire(np.array([thread]), learnt)
        clocks.heard[thread] = heard._replace(received=known)
        return missed

    def overwritten(self, memory: ByteArray, index: np.ndarray, size: int) -> None:
        """Forget what a read of bytes receives: a weak write of `size` bytes at `index: [k]` hands on nothing."""
        for start in index.tolist() if self.places else ():
            for place in range(start, start + size):
                self.places.pop((memory, place), None)

    def knows(self, clocks: Clocks, thread: int, other: int, time: int) -> bool:
        """Whether a thread (its number in the cluster) knows what `other` (that in the launch) did at a time."""
        cluster, column = divmod(other, clocks.count)
        if cluster != clocks.number:
            return bool(clocks.heard) and self.known_elsewhere(clocks, thread, cluster, column, time)
        return column == thread or int(clocks.known(np.array([thread]), np.array([column]))[0]) >= time

    def known_elsewhere(
        self, clocks: Clocks, thread: int, cluster: int, column: int, time: int, proxied: bool = False
    ) -> bool:
        """Whether a thread knows what a column of another cluster's clocks said at a time.

        `proxied`: whether it knows that behind a proxy fence of its own, or of a thread before it.
        """
        heard = clocks.heard.get(thread, Heard())
        known = heard.proxied if proxied else heard.received
        return any(
            known >> number & 1
            and column < len(self.sent[number].knowledge.row)
            and self.sent[number].knowledge.row[column] >= time
            for number in self._of_cluster.get(cluster, ())
        )

    def known_proxied_elsewhere(self, clocks: Clocks, thread: int, cluster: int, other: int, time: int) -> bool:
        """Whether a thread knows that a proxy fence is behind a global write of another cluster."""
        fenced = other + clocks.count * (1 + PROXIED.index("global"))
        return self.known_elsewhere(clocks, thread, cluster, other, time, proxied=True) or (
            clocks.proxied and self.known_elsewhere(clocks, thread, cluster, fenced, time)
        )

    def fence(self, clocks: Clocks, release_state: ReleaseState, threads: np.ndarray, fence: Fence) -> None:
        """Let a fence of `threads: [k]` acquire what they have seen, and note what their next strong writes release."""
        if fence.acquires and (release_state.seen or release_state.told or clocks.heard):
            for thread in threads.tolist():
                self._acquire(clocks, release_state, thread, fence)
        if fence.releases:
            release_state.fence(threads, fence)

    def _acquire(self, clocks: Clocks, release_state: ReleaseState, thread: int, fence: Fence) -> None:
        seen = release_state.seen.pop(thread, 0)
        if fence.sc and thread in clocks.heard:
            seen |= clocks.heard[thread].observed
        if seen:
            missed = self.receive(clocks, thread, seen, fence.scope)
            if missed:
                release_state.seen[thread] = missed
        if thread in release_state.told:
            clocks.acquire(np.array([thread]), release_state.told.pop(thread))


def numbers_of(bits: int) -> list[int]:
    """The numbers of the messages in a bit set, the last first."""
    numbers = []
    while bits:
        numbers.append(bits.bit_length() - 1)
        bits &= ~(1 << numbers[-1])
    return numbers
