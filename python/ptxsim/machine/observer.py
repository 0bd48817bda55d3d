"""What checks can watch while a launch runs: every access, barrier, fence and copy, in the order in which they happen.

The race detector is an observer, and a launch has one. `Observer` does nothing; a check overrides what it needs. One
that is no check is given to `Module.launch_observed`.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from ptxsim.linking.code import Code
from ptxsim.memory.byte_array import ByteArray

_T = TypeVar("_T")


class Other(NamedTuple):
    """The other side of a finding: at instruction `at`, thread number `thread` of CTA number `cta` of the launch."""

    at: int
    cta: int
    thread: int


class ObservedLaunch(Protocol):
    """What an observer sees of a `Launch`: the code that its events name places of, its shape, its global memory."""

    code: Code
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    clusters: Sequence[int]
    shared_bytes: int
    memory: ByteArray


class ObservedCta(Protocol):
    """What an observer sees of a `Cta`: who it is, where it is, what is its own, and how a finding is reported.

    `index` is its place in the grid, `number` that among the CTAs that are run; `at` is the instruction that runs, or,
    between batches of its threads, the last one that ran.
    """

    index: tuple[int, int, int]
    number: int
    rank: int
    at: int
    warp_count: int
    exists: np.ndarray
    shared: ByteArray

    @property
    def peers(self) -> "Sequence[ObservedCta]":
        """The CTAs of its cluster, by rank."""
        ...

    def state_of(self, make: "Callable[[ObservedCta], _T]") -> _T:
        """What the observer keeps for this CTA: what `make` gave when it was first asked for."""
        ...

    def lanes_of(self, threads: np.ndarray | int) -> np.ndarray:
        """The lanes that are the threads of these numbers: [warps, 32]."""
        ...

    def kill(self) -> None:
        """End all threads, as if they had never waited or copied: from `Observer.ran` only, all of a cluster's CTAs."""
        ...

    def report(
        self,
        kind: str,
        message: str,
        at: int,
        lanes: np.ndarray,
        address: int | None = None,
        space: str = "shared",
        other: Other | None = None,
    ) -> None:
        """Record a finding; see `Cta.report`."""
        ...


class ObservedBatch(Protocol):
    """What an observer sees of a `Batch`: whose threads it is made of."""

    warps: np.ndarray
    mask: np.ndarray
    dense: bool

    @property
    def cta(self) -> ObservedCta:
        """The CTA of the threads."""
        ...

    @property
    def threads(self) -> np.ndarray:
        """The numbers in their CTA of all lanes of these warps: [n, 32]."""
        ...

    def in_cta(self, lanes: np.ndarray | None = None) -> np.ndarray:
        """`lanes: [n, 32]` (those that execute where None) as lanes of the CTA: [warps, 32]."""
        ...


@dataclass(frozen=True, eq=False)
class AccessFacts:
    """Accesses of one instruction: `count` words of `width` bytes (1, 2, 4, 8) for each lane, in `space`.

    `space` is one of the linker's, "generic" or "shared::cluster"; `number` is the instruction's, `kind` "load",
    "store" or "atomic". `order` is "weak", "relaxed", "acquire", "release", "acq_rel", "volatile" or "mmio", `scope`
    "cta", "cluster", "gpu" or "sys". `passes_on` says that undefined bytes (`undefined_memory`) may be read.
    """

    space: str
    width: int
    count: int
    number: int
    kind: str
    order: str = "weak"
    scope: str = "sys"
    passes_on: bool = False

    @property
    def size(self) -> int:
        """The bytes of one lane."""
        return self.width * self.count


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
        """The phase so many before this one."""
        return self._replace(number=self.number - count)


@dataclass(frozen=True, eq=False)
class Region:
    """Bytes of one memory: `size` bytes from each of `index: [k]` on, counted from the memory's first byte."""

    memory: ByteArray
    index: np.ndarray
    size: int


@dataclass(eq=False)
class AsyncOperation:
    """An asynchronous operation under way: what it reads and writes, and the threads of `cta` that have issued it.

    `threads` are numbers of threads in the CTA: one, or, for copies of the generic proxy (`cp.async`), one for each
    index of the regions: [k]. `at` is the instruction. `reduces` says that what it writes is updated atomically;
    `tensor_map` is the map that it reads by the proxy of tensor maps, where that is in global memory; `signal` is the
    mbarrier that counts what it writes, where one does.
    """

    cta: ObservedCta
    at: int
    threads: np.ndarray
    reads: tuple[Region, ...] = ()
    writes: tuple[Region, ...] = ()
    proxy: str = "async"
    reduces: bool = False
    number: int = 0
    tensor_map: Region | None = None
    signal: Region | None = None


class Observer:
    """Told by the engine what happens; lanes are [warps of the CTA, 32] unless they are a batch's."""

    def began(self, launch: ObservedLaunch) -> None:
        """Note that a launch begins: what comes is of it."""

    def ran(self, cta: ObservedCta, warps: np.ndarray, start: int, end: int, mask: np.ndarray) -> None:
        """Note that warps have executed the instructions from `start` to `end` (exclusive) of the code, one by one.

        Events of these instructions, such as accesses and arrivals, come before, while `cta.at` is the instruction.
        What ends a straight run, a branch or a lane that has to wait, is the last one. Lanes that wait for others of
        their warp execute the instruction again when these come, and are told of again.

        Args:
            cta: the CTA.
            warps: their numbers in the CTA: [n].
            start: the first instruction.
            end: the one behind the last.
            mask: the lanes that came to the first, not to be changed: [n, 32]. Guards leave out some of them.
        """

    def accessed(
        self,
        access: AccessFacts,
        batch: ObservedBatch,
        memory: ByteArray,
        index: np.ndarray,
        usable: np.ndarray | None = None,
        values: np.ndarray | None = None,
    ) -> None:
        """Note an access by a thread itself, before any byte changes.

        Args:
            access: what the instruction does, `access.size` bytes for each lane.
            batch: the lanes.
            memory: the memory that they access.
            index: the first byte of each lane there: [n, 32] if `batch` is dense, or [k].
            usable: which of `index` are accesses in bounds; all where None.
            values: the words that are stored, in the shape of `index` (and a last axis for several words); for a
                compare-and-swap, which is told of behind its end, whether each lane has written: [k].
        """

    def arrived(self, cta: ObservedCta, phase: Phase, lanes: np.ndarray, relaxed: bool = False) -> None:
        """Note that lanes arrive (with release semantics, or `relaxed`) at a phase of a synchronisation."""

    def departed(self, cta: ObservedCta, phase: Phase, lanes: np.ndarray, relaxed: bool = False) -> None:
        """Note that lanes learn (with acquire semantics, or `relaxed`) that a phase is complete."""

    def converged(self, batch: ObservedBatch, members: np.ndarray) -> None:
        """Note that the lanes of each warp converged at `bar.warp.sync`; `members: [n, 32]`."""

    def fenced(self, batch: ObservedBatch, name: str) -> None:
        """Note that the lanes execute a fence, named by its opcode and modifiers."""

    def map_fenced(self, batch: ObservedBatch, name: str, maps: Region | None = None) -> None:
        """Note that the lanes execute a fence of the proxy of tensor maps: it releases, or acquires `maps: [k]`."""

    def ended(self, cta: ObservedCta) -> None:
        """Note that all threads of a CTA have exited: its shared memory is gone."""

    def started(self, operation: AsyncOperation) -> None:
        """Note that an asynchronous operation starts: from now on it may read and write at any time."""

    def settled(self, operation: AsyncOperation, chosen: np.ndarray) -> None:
        """Note that copies of the generic proxy have become writes of their threads; `chosen: [k]` bool."""

    def finished(self, operation: AsyncOperation, phase: Phase, reads_only: bool = False) -> None:
        """Note that an operation is complete (or has read all it reads); who departs from `phase` knows it."""
