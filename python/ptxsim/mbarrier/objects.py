"""The mbarrier objects in the shared memory of one CTA: contents, phase number, and who waits for the phase's end.

In: operations on the object at a byte offset of that memory. Out: the next word in memory, released waiters, or
`Misuse`. The contents are `asynchronous.mbarrier.Barrier`; the engine counts phases without bound beside them, for the
names of phases, and keeps the object's word, so that an object over which a thread has stored is found out.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ptxsim.machine.cta import Cta, Wait
from ptxsim.machine.misuse import Misuse
from ptxsim.machine.observer import Phase
from ptxsim.mbarrier.barrier import SIZE, Barrier
from ptxsim.memory.byte_array import ALLOCATED, INITIALIZED
from ptxsim.memory.windows import SHARED_START


@dataclass(frozen=True, eq=False)
class Place:
    """Who executes an operation: `lanes: [warps, 32]` of `cta`, at instruction `at`."""

    cta: Cta
    at: int
    lanes: np.ndarray


@dataclass(eq=False)
class Waiter:
    """Lanes that a `try_wait` blocks until the current phase ends; `finish` writes its result, then they may run."""

    wait: Wait
    finish: Callable[[bool], None]
    told: bool
    relaxed: bool


@dataclass(eq=False)
class Mbarrier:
    """One valid object: contents, the full number of the current phase, who made it and who expects bytes of it."""

    barrier: Barrier
    number: int
    maker: Place
    expecting: Place | None = None
    waiters: list[Waiter] = field(default_factory=list)
    #: Instruction → lanes that have found the current phase incomplete there.
    testing: dict[int, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Awaited:
    """What a blocked lane waits for: the end of an object's current phase, described as it is when it is printed."""

    objects: "Mbarriers"
    offset: int

    def __str__(self) -> str:
        return f"the end of {self.objects.describe(self.offset)}"


class Mbarriers:
    """The objects of one CTA, by their byte offset in its shared memory (an index of `Cta.shared`).

    Every method raises Misuse ("uninitialized") where no valid object is at the offset, and what the operation of the
    model raises; the object is unchanged then.
    """

    def __init__(self, cta: Cta) -> None:
        self.cta = cta
        self.objects: dict[int, Mbarrier] = {}
        #: How many phases of all objects have ended.
        self.ended_phases = 0
        self._next_numbers: dict[int, int] = {}

    @property
    def has_waiters(self) -> bool:
        """Whether threads wait for the end of a phase."""
        return any(known.waiters for known in self.objects.values())

    def init(self, offset: int, count: int, maker: Place) -> None:
        """Make an object that expects `count` arrivals. Raises: Misuse where the old one is valid, or by `count`."""
        if offset in self.objects and self._word(offset) == self.objects[offset].barrier.word:
            message = f"mbarrier.init of {self.name_of(offset)}, which is a valid object: mbarrier.inval is missing"
            raise Misuse("barrier-divergence", message)
        self._forget(offset)
        known = Mbarrier(Barrier.initial(count), self._next_numbers.get(offset, 0), maker)
        self.objects[offset] = known
        self._write(offset, known.barrier.word)
        self.cta.launch.progress += not self.cta.launch.watched

    def invalidate(self, offset: int) -> None:
        """End an object. Raises: Misuse where threads wait for it."""
        if self.find(offset).waiters:
            raise Misuse("barrier-divergence", f"mbarrier.inval of {self.name_of(offset)}, for which threads wait")
        self._forget(offset)
        self._write(offset, 0)
        self.cta.launch.progress += not self.cta.launch.watched

    def find(self, offset: int) -> Mbarrier:
        """The valid object at `offset`."""
        known, word = self.objects.get(offset), self._word(offset)
        if known is None:
            raise Misuse("uninitialized", f"{self.name_of(offset)} is no valid object: mbarrier.init is missing")
        if word != known.barrier.word:
            message = f"{self.name_of(offset)} is no valid object any more: a thread or a copy has written over it"
            raise Misuse("uninitialized", message)
        return known

    def phase(self, offset: int, age: int = 0) -> Phase:
        """The name of the current, incomplete phase, or of the one `age` phases before it."""
        return Phase("mbarrier", self.cta.shared, offset, self.find(offset).number - age)

    def arrive(self, offset: int, count: int = 1, *, drop: bool = False, no_complete: bool = False) -> int:
        """Perform an arrive-on operation; return the object's word before it, which is the state of the phase."""
        known = self.find(offset)
        before = known.barrier
        arrive = before.arrive_drop if drop else before.arrive
        self._become(offset, known, arrive(count, no_complete))
        return before.word

    def add_pending(self, offset: int) -> None:
        """Count one more pending arrival in the current phase."""
        known = self.find(offset)
        self._become(offset, known, known.barrier.add_pending())

    def expect_tx(self, offset: int, count: int, place: Place) -> None:
        """Expect `count` more bytes in the current phase; `place` is reported if they do not come."""
        known = self.find(offset)
        after = known.barrier.expect_tx(count)
        known.expecting = place
        self._become(offset, known, after)

    def complete_tx(self, offset: int, count: int) -> None:
        """Count `count` bytes as arrived; whoever tells the observer names the phase before that may end it."""
        known = self.find(offset)
        self._become(offset, known, known.barrier.complete_tx(count))

    def block(self, offset: int, waiter: Waiter) -> None:
        """Let `waiter`, whose lanes the caller blocks, wait for the end of the current phase."""
        self.find(offset).waiters.append(waiter)

    def time_out(self) -> bool:
        """Let all lanes that wait go on without the phase's end; return whether there were any."""
        found = False
        for known in self.objects.values():
            waiters, known.waiters = known.waiters, []
            for waiter in waiters:
                found = True
                waiter.finish(False)
                self.cta.release(waiter.wait)
        return found

    def report_mismatches(self, at_end: bool = False) -> None:
        """Report the objects whose bytes do not add up; no copy is under way, and `at_end` the CTA has exited."""
        for offset, known in self.objects.items():
            what = known.barrier.mismatch(at_end) if self._word(offset) == known.barrier.word else None
            if what is not None:
                place = known.expecting or known.maker
                message = f"{what}, in phase {known.number} of {self.name_of(offset)}"
                place.cta.report("mbarrier-tx-mismatch", message, place.at, place.lanes, offset)

    def report_tests(self) -> np.ndarray:
        """Report the lanes that can run and have found a phase incomplete which never ends; return them."""
        named = self.cta.no_lanes()
        for offset, known in self.objects.items():
            for at, lanes in known.testing.items():
                polling = lanes & self.cta.ready
                if polling.any():
                    message = f"looks for the end of {self.describe(offset)}, which never comes"
                    self.cta.report("deadlock", message, at, polling)
                    named |= polling
        return named

    def describe(self, offset: int) -> str:
        """The current phase and what it still waits for, for a report."""
        known = self.objects[offset]
        barrier = known.barrier
        pending = f"{barrier.pending} of {barrier.expected} arrivals and {barrier.tx_count} bytes pending"
        return f"phase {known.number} (parity {barrier.parity}; {pending}) of {self.name_of(offset)}"

    def name_of(self, offset: int) -> str:
        """The name of the object: its shared variable, if there is one, and its address."""
        for location in self.cta.launch.code.shared_variables:
            first = offset - SHARED_START - location.offset
            if 0 <= first < location.variable.size:
                return f"the mbarrier {location.variable.name}{f'+{first}' if first else ''} ({offset:#x})"
        return f"the mbarrier at {offset:#x}"

    def _forget(self, offset: int) -> None:
        known = self.objects.pop(offset, None)
        if known is not None:
            # The next object's phases, and the one before its first, are none of this one's.
            self._next_numbers[offset] = known.number + 2

    def _become(self, offset: int, known: Mbarrier, after: Barrier) -> None:
        """Set the contents; where that ends the phase, wake who waits for it."""
        ended = after.phase != known.barrier.phase
        known.barrier = after
        self._write(offset, after.word)
        # A loop that goes on for ever may end a phase in every round.
        self.cta.launch.progress += not (ended and self.cta.launch.watched)
        if not ended:
            return
        name = self.phase(offset)
        known.number += 1
        self.ended_phases += 1
        known.expecting = None
        known.testing.clear()
        waiters, known.waiters = known.waiters, []
        for waiter in waiters:
            waiter.finish(True)
            if waiter.told:
                self.cta.launch.observer.departed(self.cta, name, waiter.wait.lanes, waiter.relaxed)
            self.cta.release(waiter.wait)

    def _word(self, offset: int) -> int:
        return int(self.cta.shared.data[offset : offset + SIZE].view(np.uint64)[0])

    def _write(self, offset: int, word: int) -> None:
        self.cta.shared.data[offset : offset + SIZE].view(np.uint64)[0] = word
        self.cta.shared.state[offset : offset + SIZE] = ALLOCATED | INITIALIZED


def mbarriers(cta: Cta) -> Mbarriers:
    """The mbarrier objects of a CTA."""
    return cta.state_of(Mbarriers)
