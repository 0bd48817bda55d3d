"""What was done to a memory: for every granule the last write, the last reads, and the asynchronous operations on it.

A granule is as wide as the first access, 16 bytes at most, and less once there are accesses of less. Reads, and strong
writes, are kept by slots, so that those of different warps stand beside each other: all warps of the cluster for shared
memory; for global memory the last one and the last one of another warp, so that a read may be forgotten and a race with
a later write be missed.
"""

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from ptxsim.machine.warp import WARP
from ptxsim.memory.byte_array import untouched
from ptxsim.races.stamp import STRENGTH, threads_of, with_other

#: The widest granule, and the widest access of a thread (bytes).
GRANULE = 16


@dataclass(eq=False)
class Shadow:
    """The shadow of a memory of `bytes` bytes, of which those of `allocated` (from, to) are the kernel's.

    Shapes: `written: [g]` and `read: [g, slots]` are stamps; `landing: [g]` and those in `reading` operations.

    `updated` is like `read` for strong writes. `hidden` are the weak writes behind a strong last one: other strong
    accesses may be ordered with neither.
    `read`, `updated`, `hidden` and `landing` are None until there is any.
    `landing` is the number of the last asynchronous operation that writes a granule, `reading[agent]` that of the last
    one of that agent (a warp, a warpgroup) that reads it; 0 is none.
    """

    bytes: int
    allocated: list[tuple[int, int]]
    slots: int
    by_warp: bool
    granule: int
    read: np.ndarray | None = None
    updated: np.ndarray | None = None
    hidden: np.ndarray | None = None
    landing: np.ndarray | None = None
    reading: dict[int, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.written = untouched(self.size, np.int64)

    @property
    def size(self) -> int:
        """How many granules there are."""
        return self.bytes // self.granule

    def places(self, index: np.ndarray, size: int) -> np.ndarray:
        """The granules of accesses of `size` bytes at `index: [k]`: [k], or [k, granules] of several."""
        if size < self.granule:
            self._refine(size)
        first = index // self.granule
        return first if size <= self.granule else first[:, None] + np.arange(size // self.granule)

    def _refine(self, granule: int) -> None:
        """Make granules smaller: each of the new ones has the history of the old."""
        before, self.granule = self.granule, granule
        finer = partial(self._finer, before)
        self.written = finer(self.written)
        self.read = None if self.read is None else finer(self.read, self.slots)
        self.updated = None if self.updated is None else finer(self.updated, self.slots)
        self.hidden = None if self.hidden is None else finer(self.hidden)
        self.landing = None if self.landing is None else finer(self.landing)
        self.reading = {agent: finer(numbers) for agent, numbers in self.reading.items()}

    def _finer(self, before: int, kept: np.ndarray, slots: int = 1) -> np.ndarray:
        """What is kept of granules of `before` bytes, for those of now."""
        found = untouched(self.size * slots, kept.dtype)
        ratio, old, new = before // self.granule, kept.reshape(-1, slots), found.reshape(-1, slots)
        for start, end in self.allocated:
            first, last = start // before, -(-end // before)
            new[first * ratio : last * ratio] = old[first:last].repeat(ratio, axis=0)
        return found

    def reads_at(self, places: np.ndarray) -> np.ndarray | None:
        """The last reads of granules, where there are any: a last axis of slots."""
        return None if self.read is None else self._at(self.read, places)

    def updates_at(self, places: np.ndarray, written: np.ndarray) -> np.ndarray | None:
        """The last strong writes of granules whose last write, `written`, is one: a last axis of slots."""
        if self.updated is None:
            return None
        strong = (written & STRENGTH) != 0
        return np.where(strong[..., None], self._at(self.updated, places), 0) if strong.any() else None

    def _at(self, kept: np.ndarray, places: np.ndarray) -> np.ndarray:
        rows = kept.reshape(-1, self.slots)
        where = _as_slice(places) if len(places) == 1 else places
        return rows[where].reshape(*places.shape, self.slots)

    def note_read(self, places: np.ndarray, warps: np.ndarray, stamps: np.ndarray) -> None:
        """Record reads by `warps` of the cluster; these and `stamps` in the shape of `places`, or broadcastable."""
        if self.read is None:
            self.read = untouched(self.size * self.slots, np.int64)
        self._note(self.read, places, warps, stamps)

    def _note(self, kept: np.ndarray, places: np.ndarray, warps: np.ndarray, stamps: np.ndarray) -> None:
        if self.by_warp:
            _note_lanes(kept, places * self.slots + warps, stamps)
            return
        first = places * self.slots
        before = kept[first]
        if np.count_nonzero(before):
            moved = (before != 0) & (_warps_of(before) != _warps_of(stamps))
            kept[first[moved] + 1] = before[moved]
        lost = _note_lanes(kept, first, stamps)
        if lost is not None:
            mine = np.broadcast_to(stamps, first.shape)[lost]
            apart = _warps_of(mine) != _warps_of(kept[first[lost]])
            kept[first[lost][apart] + 1] = mine[apart]

    def note_write(self, places: np.ndarray, warps: np.ndarray, stamps: np.ndarray, strong: bool) -> None:
        """Record writes; `warps` and `stamps` in the shape of `places`, or broadcastable."""
        if strong:
            if self.updated is None:
                self.updated = untouched(self.size * self.slots, np.int64)
            self._note(self.updated, places, warps, stamps)
            before = self.written[places]
            weak = (before != 0) & (before & STRENGTH == 0)
            if np.count_nonzero(weak):
                if self.hidden is None:
                    self.hidden = untouched(self.size, np.int64)
                self.hidden[places[weak]] = before[weak]
        elif self.hidden is not None:
            self.hidden[places] = 0
        self.written[places] = stamps

    def note_landing(self, places: np.ndarray, number: int) -> None:
        """Record that operation `number` writes granules: what was done to them before is history."""
        if self.landing is None:
            self.landing = untouched(self.size, np.int32)
        where = _as_slice(places)
        self.landing[where] = number
        self.written[where] = 0
        if self.hidden is not None:
            self.hidden[where] = 0
        for kept in (self.read, self.updated):
            rows = None if kept is None else kept.reshape(-1, self.slots)
            if rows is not None and np.count_nonzero(rows[where]):
                rows[where] = 0

    def landing_at(self, places: np.ndarray) -> np.ndarray:
        """The operations that write granules, in the shape of `places`."""
        return np.zeros(places.shape, np.int32) if self.landing is None else self.landing[places]

    def note_landed(self, places: np.ndarray) -> None:
        """Record that no operation writes granules any more."""
        if self.landing is not None:
            self.landing[places] = 0

    def note_reading(self, places: np.ndarray, agent: int, number: int) -> None:
        """Record that operation `number` of an agent reads granules."""
        if agent not in self.reading:
            self.reading[agent] = untouched(self.size, np.int32)
        self.reading[agent][_as_slice(places)] = number


def _as_slice(places: np.ndarray) -> "np.ndarray | slice":
    """Distinct places as a slice, where they are neighbours."""
    first, last = int(places.min()), int(places.max())
    return slice(first, last + 1) if last - first + 1 == places.size else places


def _note_lanes(kept: np.ndarray, where: np.ndarray, stamps: np.ndarray) -> np.ndarray | None:
    """Set stamps; of the lanes of a warp that have a place in common the first is named beside the last.

    Returns: whose stamps were lost to others of the same place, bool like `where`; None where none was.
    """
    kept[where] = stamps
    lost = kept[where] != stamps
    if not np.count_nonzero(lost):
        return None
    there, mine = where[lost][::-1], np.broadcast_to(stamps, where.shape)[lost][::-1]
    last = kept[there]
    near = _warps_of(mine) == _warps_of(last)
    kept[there[near]] = with_other(last[near], mine[near])
    return lost


def _warps_of(stamps: np.ndarray) -> np.ndarray:
    return threads_of(stamps) // WARP
