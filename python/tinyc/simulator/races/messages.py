"""Synchronisation through memory: what a release leaves at a place, and who picks it up there.

A release is a store or atomic with `.release`, or a strong one after a fence; an acquire one with `.acquire`, or a
strong read with a fence after it. Atomics continue the release sequence of the word that they update. A message is
received only by a thread that the scopes of both sides name. Source: PTX ISA, "Release and Acquire Patterns".
"""

from dataclasses import dataclass, field

import numpy as np

from tinyc.simulator.engine.access import Access
from tinyc.simulator.memory.byte_array import ByteArray
from tinyc.simulator.races.clocks import Clocks, Knowledge, Snapshot
from tinyc.simulator.races.stamp import scope_of

_RELEASES = frozenset({"release", "acq_rel"})
_ACQUIRES = frozenset({"acquire", "acq_rel"})
_CTA, _CLUSTER, _GPU = 1, 2, 3


@dataclass(frozen=True)
class Message:
    """What a thread (of CTA `cta` in cluster `cluster`) releases, in a scope."""

    cluster: int
    cta: int
    knowledge: Knowledge
    scope: int

    def reaches(self, cluster: int, cta: int, scope: int) -> bool:
        """Return whether a thread of a CTA that acquires in `scope` is in both scopes."""
        needed = _CTA if cta == self.cta else _CLUSTER if cluster == self.cluster else _GPU
        return min(scope, self.scope) >= needed


@dataclass(eq=False)
class Mind:
    """What fences have prepared in a cluster: what a thread's next strong write releases, and what it has seen."""

    #: Thread → (scope of its last fence, what it knew then).
    fenced: dict[int, tuple[int, Snapshot]] = field(default_factory=dict)
    #: Thread → messages seen by strong reads that no fence has followed yet (bit set).
    seen: dict[int, int] = field(default_factory=dict)


@dataclass(eq=False)
class Messages:
    """All messages of a launch by number, and those that a read at each place receives (bit sets)."""

    sent: list[Message] = field(default_factory=list)
    places: dict[tuple[ByteArray, int], int] = field(default_factory=dict)
    _of_cluster: dict[int, list[int]] = field(default_factory=dict)

    def synchronise(
        self,
        access: Access,
        clocks: Clocks,
        mind: Mind,
        memory: ByteArray,
        index: np.ndarray,
        threads: np.ndarray,
        now: int,
    ) -> None:
        """Let strong accesses of `threads: [k]` at `index: [k]` release and acquire."""
        may_release = access.kind != "load" and (access.order in _RELEASES or bool(mind.fenced))
        if not may_release and not self.places:
            return
        for place, thread in zip(index.tolist(), threads.tolist(), strict=True):
            key = (memory, place)
            found = self.places.get(key, 0)
            if found and access.kind != "store":
                self._read(access, clocks, mind, thread, found)
            if access.kind == "load":
                continue
            bit = self._send(access, clocks, mind, thread, now) if may_release else 0
            self.places[key] = bit | found if access.kind == "atomic" else bit

    def _read(self, access: Access, clocks: Clocks, mind: Mind, thread: int, found: int) -> None:
        if access.order in _ACQUIRES:
            self.receive(clocks, thread, found, scope_of(access.scope))
        else:
            mind.seen[thread] = mind.seen.get(thread, 0) | found

    def _send(self, access: Access, clocks: Clocks, mind: Mind, thread: int, now: int) -> int:
        if access.order in _RELEASES:
            scope, knowledge = scope_of(access.scope), clocks.release(np.array([thread]), now)
        elif thread in mind.fenced:
            scope, then = mind.fenced[thread]
            scope, knowledge = min(scope, scope_of(access.scope)), then.of(thread)
        else:
            return 0
        number = len(self.sent)
        cta = clocks.number * clocks.ctas + thread // clocks.per_cta
        self.sent.append(Message(clocks.number, cta, knowledge, scope))
        self._of_cluster.setdefault(clocks.number, []).append(number)
        return 1 << number

    def receive(self, clocks: Clocks, thread: int, bits: int, scope: int) -> None:
        """Let a thread know what the messages in `bits` say, those that it is in scope of, and those before them."""
        cta = clocks.number * clocks.ctas + thread // clocks.per_cta
        known = clocks.messages.get(thread, 0)
        fresh = bits & ~known
        while fresh:
            number = fresh.bit_length() - 1
            fresh &= ~(1 << number)
            message = self.sent[number]
            if message.reaches(clocks.number, cta, scope):
                known |= 1 << number
                fresh |= message.knowledge.messages & ~known
                if message.cluster == clocks.number:
                    clocks.acquire(np.array([thread]), Knowledge(message.knowledge.row))
        clocks.messages[thread] = known

    def known_elsewhere(self, clocks: Clocks, thread: int, cluster: int, other: int, time: int) -> bool:
        """Return whether a thread knows what thread `other` of another cluster did at a time."""
        known = clocks.messages.get(thread, 0)
        return any(
            known >> number & 1 and self.sent[number].knowledge.row[other] >= time
            for number in self._of_cluster.get(cluster, ())
        )

    def fence(self, clocks: Clocks, mind: Mind, threads: np.ndarray, scope: int, now: int) -> None:
        """Let a fence of `threads: [k]` acquire what they have seen, and note what their next strong writes release."""
        if mind.seen:
            for thread in threads.tolist():
                if thread in mind.seen:
                    self.receive(clocks, thread, mind.seen.pop(thread), scope)
        mind.fenced.update(dict.fromkeys(threads.tolist(), (scope, clocks.snapshot(threads, now))))
