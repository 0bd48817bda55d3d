"""The state of one CTA: where each of its threads is, their registers, memory, and what they wait for."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np

from tinyc.simulator.engine.batch import Batch
from tinyc.simulator.engine.flights import Flights
from tinyc.simulator.memory.byte_array import ByteArray

if TYPE_CHECKING:
    from tinyc.simulator.engine.launch import Launch

T = TypeVar("T")

#: The type in which registers of each width (bits) are kept; 128 bits are two words in a last axis.
STORAGE = {1: np.bool_, 8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64, 128: np.uint64}


@dataclass(eq=False)
class Wait:
    """Threads that wait until someone calls `Cta.release`: `lanes: [warps, 32]`, at instruction `at`.

    `what` they wait for is printed when that is reported.
    """

    lanes: np.ndarray
    at: int
    what: object


@dataclass(eq=False)
class Cta:
    """One CTA of a launch.

    `index` is its place in the grid, `rank` its number in its cluster, `number` that in the launch (the CTAs of a
    cluster follow each other).

    Shapes: [warps, 32] for `exists` (there is such a thread), `alive` (it has not exited), `ready` (it waits for
    nothing), `pc`, `depth` and every register. While all living threads are at one instruction that is `uniform`, and
    `pc` is out of date; `at` is the instruction that runs. `carry` is the condition code of extended arithmetic.
    """

    launch: "Launch"
    index: tuple[int, int, int]
    rank: int
    number: int
    exists: np.ndarray
    registers: list[np.ndarray]
    shared: ByteArray
    local: ByteArray
    parameters: ByteArray
    peers: "list[Cta]" = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)
    #: Instruction → which lanes of its warp (bits) each lane waits for there; 0 for those that do not wait.
    gathering: dict[int, np.ndarray] = field(default_factory=dict)
    #: Aligned barriers that take parts of warps, since the rest cannot come; the finding is recorded.
    partial: set[int] = field(default_factory=set)
    #: Register slot → the lanes in which it was written, for the registers that need it.
    written: dict[int, np.ndarray] = field(default_factory=dict)
    #: Copies that its threads have issued and that have not landed.
    flights: Flights = field(default_factory=Flights)
    #: Call depth → where each lane goes on when it returns from there.
    stack: list[np.ndarray] = field(default_factory=list)
    _states: dict[object, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.warp_count = len(self.exists)
        self.alive = self.exists.copy()
        self.ready = self.exists.copy()
        self.pc = np.zeros(self.exists.shape, np.int64)
        self.depth = np.zeros(self.exists.shape, np.int64)
        self.last_turn = np.zeros(self.exists.shape, np.int64)
        self.carry = self.no_lanes()
        self.uniform: int | None = self.launch.program.entry
        self.at = 0
        self.turn = 0
        self.everyone: Batch = self._everyone()

    def _everyone(self) -> Batch:
        return Batch(self, np.arange(self.warp_count), self.alive.copy(), covers=True)

    @property
    def finished(self) -> bool:
        """Whether no thread lives."""
        return not self.alive.any()

    def state_of(self, make: Callable[["Cta"], T]) -> T:
        """Return what instructions of one family keep for this CTA: what `make` gave when it was first asked for."""
        if make not in self._states:
            self._states[make] = make(self)
        return cast("T", self._states[make])

    def diverge(self) -> None:
        """Keep a program counter for each thread from now on."""
        if self.uniform is not None:
            self.pc[...] = self.uniform
            self.uniform = None

    def exit(self, batch: Batch) -> None:
        """End the threads of `batch`; who waits for them in their warps looks again."""
        self.diverge()
        batch.update(self.alive, False)
        batch.update(self.ready, False)
        for at, members in list(self.gathering.items()):
            rows = batch.warps[members[batch.warps].any(axis=1)]
            self.ready[rows] |= members[rows] != 0
            members[rows] = 0
            if not members.any():
                del self.gathering[at]
        if not self.finished:
            self.everyone = self._everyone()

    def block(self, batch: Batch, following: int, wait: Wait) -> None:
        """Let the lanes of `batch` wait, and go on at `following` once `wait` is released."""
        self.diverge()
        batch.update(self.pc, following)
        batch.update(self.ready, False)
        wait.lanes |= batch.in_cta()
        if wait not in self.waits:
            self.waits.append(wait)

    def release(self, wait: Wait) -> None:
        """Let the lanes of `wait` run again."""
        self.ready |= wait.lanes & self.alive
        self.waits.remove(wait)

    def kill(self) -> None:
        """End all threads: the launch has gone wrong, and the finding is recorded."""
        self.alive[...] = False
        self.ready[...] = False
        self.waits.clear()
        self.gathering.clear()

    def no_lanes(self) -> np.ndarray:
        """Return an empty set of lanes: [warps, 32]."""
        return np.zeros(self.exists.shape, bool)

    def lanes_of(self, threads: "np.ndarray | int") -> np.ndarray:
        """Return the lanes that are the threads of these numbers: [warps, 32]."""
        lanes = self.no_lanes()
        lanes.flat[threads] = True
        return lanes

    def report(
        self,
        kind: str,
        message: str,
        at: int,
        lanes: np.ndarray,
        address: int | None = None,
        space: str = "shared",
        other_line: int | None = None,
    ) -> None:
        """Record a finding of kind `kind` at instruction `at`, by `lanes: [warps, 32]`.

        `address` is one of `space`; `other_line` is the line that the message leaves open (`findings.OTHER_LINES`).
        """
        self.launch.findings.add(kind, message, self, at, lanes, address, space, other_line)
