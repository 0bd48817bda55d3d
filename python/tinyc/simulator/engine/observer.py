"""What checks can watch while a launch runs: every access, barrier, fence and copy, in the order in which they happen.

The race detector is an observer. `Observer` does nothing; a check overrides what it needs.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tinyc.simulator.engine.batch import Batch
from tinyc.simulator.memory.byte_array import ByteArray

if TYPE_CHECKING:
    from tinyc.simulator.engine.access import Access, Part
    from tinyc.simulator.engine.cta import Cta


class Phase(NamedTuple):
    """One phase of a synchronisation, at which threads arrive and from which they depart.

    | kind | owner | place | number |
    |---|---|---|---|
    | "barrier" | the CTA | the barrier's number | the phase |
    | "cluster" | the cluster's first CTA | 0 | the phase |
    | "mbarrier" | the shared memory it lies in | its offset there | the phase |
    | "bulk" | the CTA | the thread | the group of copies that the thread has committed |
    | "wgmma" | the CTA | the warpgroup | the group of products that the warpgroup has committed |
    """

    kind: str
    owner: Hashable
    place: int
    number: int

    @property
    def channel(self) -> tuple[str, Hashable, int]:
        """What all phases of one synchronisation have in common."""
        return (self.kind, self.owner, self.place)

    def before(self, count: int) -> "Phase":
        """Return the phase so many before this one."""
        return self._replace(number=self.number - count)


@dataclass(frozen=True, eq=False)
class Region:
    """Bytes of one memory: `size` bytes from each of `index: [k]` on, counted from the memory's first byte."""

    memory: ByteArray
    index: np.ndarray
    size: int


@dataclass(eq=False)
class Operation:
    """An asynchronous operation under way: what it reads and writes, and the threads of `cta` that have issued it.

    `threads` are numbers of threads in the CTA: one, or, for copies of the generic proxy (`cp.async`), one for each
    index of the regions: [k]. `at` is the instruction. `reduces` says that what it writes is updated atomically.
    """

    cta: "Cta"
    at: int
    threads: np.ndarray
    reads: tuple[Region, ...] = ()
    writes: tuple[Region, ...] = ()
    proxy: str = "async"
    reduces: bool = False
    number: int = 0


class Observer:
    """Told by the engine what happens; lanes are [warps of the CTA, 32] unless they are a batch's."""

    def accessed(
        self, access: "Access", part: "Part", usable: np.ndarray | None, values: np.ndarray | None = None
    ) -> None:
        """Note an access by a thread itself, before any byte changes.

        Args:
            access: what the instruction does, `access.size` bytes for each lane.
            part: the lanes and the place of each.
            usable: which of `part.index` are accesses in bounds; all where None.
            values: the words that are stored, in the shape of `part.index` (and a last axis for several words); for a
                compare-and-swap, which is told of behind its end, whether each lane has written: [k].
        """

    def arrived(self, cta: "Cta", phase: Phase, lanes: np.ndarray, relaxed: bool = False) -> None:
        """Note that lanes arrive (with release semantics, or `relaxed`) at a phase of a synchronisation."""

    def departed(self, cta: "Cta", phase: Phase, lanes: np.ndarray, relaxed: bool = False) -> None:
        """Note that lanes learn (with acquire semantics, or `relaxed`) that a phase is complete."""

    def gathered(self, batch: Batch, members: np.ndarray) -> None:
        """Note that the lanes of each warp met at `bar.warp.sync`; `members: [n, 32]`."""

    def fenced(self, batch: Batch, name: str) -> None:
        """Note that the lanes execute a fence, named by its opcode and modifiers."""

    def ended(self, cta: "Cta") -> None:
        """Note that all threads of a CTA have exited: its shared memory is gone."""

    def started(self, operation: Operation) -> None:
        """Note that an asynchronous operation starts: from now on it may read and write at any time."""

    def settled(self, operation: Operation, chosen: np.ndarray) -> None:
        """Note that copies of the generic proxy have become writes of their threads; `chosen: [k]` bool."""

    def finished(self, operation: Operation, phase: Phase, reads_only: bool = False) -> None:
        """Note that an operation is complete (or has read all it reads); who departs from `phase` knows it."""
