"""What warps did in a recorded launch: straight runs of instructions, and what happened at them.

Data only. An instruction is its index in the kernel's flat code (`linking.code.Code`). Times are not here: the replay
gives every event its own.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np


class PhaseKey(NamedTuple):
    """One phase of a synchronisation: `kind` is "barrier", "cluster" or "mbarrier".

    `cta` is the number of the CTA that it lies in (of a cluster's first one for "cluster"), `place` the barrier's
    number or the mbarrier's offset in shared memory, `number` counts the phases of that place.
    """

    kind: str
    cta: int
    place: int
    number: int


class Arrive(NamedTuple):
    """Lanes of the warp arrived at a phase by instruction `at`."""

    at: int
    phase: PhaseKey
    lanes: int


class Depart(NamedTuple):
    """The warp learned at instruction `at` that a phase is complete: it cannot have gone on before."""

    at: int
    phase: PhaseKey


class MemoryRequest(NamedTuple):
    """Instruction `at` accessed memory: `units` are sectors of global memory, or passes through the banks of shared.

    `sectors` are the addresses of global memory that were touched, in units of 32 bytes.
    """

    at: int
    space: str
    kind: str
    lane_bytes: int
    units: int
    sectors: np.ndarray | None = None


class CopyStart(NamedTuple):
    """Instruction `at` started the asynchronous copy of this number; it is in `Recording.copies`."""

    at: int
    number: int


TraceEvent = Arrive | Depart | MemoryRequest | CopyStart


class ExecutedRun(NamedTuple):
    """The instructions from `start` to `end`, exclusive, executed one after the other, and what happened at them."""

    start: int
    end: int
    events: tuple[TraceEvent, ...]


@dataclass(frozen=True)
class CopyFacts:
    """An asynchronous copy: `size` bytes from one space to another, `cta` the one whose shared memory gets them.

    `phases` are those of mbarriers that it completes; `sectors` what it touches of global memory, in units of 32 bytes.
    `sharers` counts the CTAs that the same bytes go to at once (multicast), which L2 reads once for all of them.
    """

    at: int
    issuer: int
    size: int
    source: str
    destination: str
    cta: int
    phases: tuple[PhaseKey, ...]
    sectors: np.ndarray
    sharers: int = 1


@dataclass(frozen=True)
class WarpTrace:
    """What one warp did, from its first instruction to its end."""

    cta: int
    warp: int
    runs: tuple[ExecutedRun, ...]

    @property
    def instructions(self) -> int:
        """How many instructions it executed."""
        return sum(run.end - run.start for run in self.runs)


@dataclass(frozen=True)
class Recording:
    """Some clusters of a launch: the traces of their warps, by cluster, and the copies that these started.

    `cluster_ctas` are the numbers of the CTAs of each cluster; `grid`, `block`, `cluster` and the bytes of shared
    memory of a CTA are the full launch's.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    shared_bytes: int
    cluster_ctas: dict[int, tuple[int, ...]]
    warps: tuple[WarpTrace, ...]
    copies: tuple[CopyFacts, ...] = field(default=())

    def warps_of(self, cluster: int) -> tuple[WarpTrace, ...]:
        """The traces of a cluster's warps."""
        ctas = self.cluster_ctas[cluster]
        return tuple(each for each in self.warps if each.cta in ctas)
