"""What the threads of one cluster know of each other: the vector clocks of happens-before.

Thread t knows what thread s did up to time `known(t, s)`. Most synchronisation is a barrier of a whole CTA or a whole
warp, which one number says for all of its threads (a floor); a row for each thread is kept only once a kernel
synchronises less than that. Rows have further columns: what is known to be visible to the asynchronous proxy (by
memory), and, for every channel by which asynchronous operations complete, up to when.

Threads are numbered in the cluster: CTA after CTA, warps whole.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ptxsim.machine.warp import WARP

_COLUMNS_AT_ONCE = 8
#: Memories whose generic writes a proxy fence makes visible to the asynchronous proxy.
PROXIED = ("shared", "global")


class Heard(NamedTuple):
    """Messages through memory, as bit sets.

    Which a thread has received, which of those are behind a proxy fence since, and which it, or a thread before it, has
    read without acquiring them.
    """

    received: int = 0
    proxied: int = 0
    observed: int = 0

    def joined(self, other: "Heard") -> "Heard":
        """The fences that both have heard of."""
        return Heard(self.received | other.received, self.proxied | other.proxied, self.observed | other.observed)


_NOTHING = Heard()


@dataclass(frozen=True)
class Knowledge:
    """What a release hands on: a row of clocks, and what has been heard through memory."""

    row: np.ndarray
    heard: Heard = _NOTHING

    def joined(self, other: "Knowledge") -> "Knowledge":
        """The knowledge of both."""
        longer, shorter = (self.row, other.row) if len(self.row) >= len(other.row) else (other.row, self.row)
        row = longer.copy()
        np.maximum(row[: len(shorter)], shorter, out=row[: len(shorter)])
        return Knowledge(row, self.heard.joined(other.heard))


@dataclass(eq=False)
class Clocks:
    """The clocks of a cluster of `ctas` CTAs with `warps` warps each; `number` is the cluster's in the launch."""

    number: int
    ctas: int
    warps: int
    proxied: bool
    heard: dict[int, Heard] = field(default_factory=dict)
    _columns: dict[Hashable, int] = field(default_factory=dict)
    _rows: np.ndarray | None = None

    def __post_init__(self) -> None:
        self.per_cta = self.warps * WARP
        self.count = self.ctas * self.per_cta
        self.cta_floor = np.zeros(self.ctas, np.int64)
        self.warp_floor = np.zeros(self.ctas * self.warps, np.int64)
        self._fixed = self.count * (1 + self.proxied * len(PROXIED))

    @property
    def rows(self) -> np.ndarray:
        """The rows of the clocks, made when they are first needed: [threads, columns]."""
        if self._rows is None:
            self._rows = np.zeros((self.count, self._fixed + _COLUMNS_AT_ONCE), np.int32)
        return self._rows

    def known(self, threads: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Up to when `threads` know what `others` did; both [k] (or broadcastable)."""
        same_cta = threads // self.per_cta == others // self.per_cta
        same_warp = threads // WARP == others // WARP
        time = np.where(same_cta, self.cta_floor[threads // self.per_cta], 0)
        time = np.maximum(time, np.where(same_warp, self.warp_floor[threads // WARP], 0))
        return time if self._rows is None else np.maximum(time, self._rows[threads, others])

    def known_proxied(self, space: str, threads: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Up to when the writes of `others` are known by `threads` to be fenced for the asynchronous proxy."""
        if self._rows is None or not self.proxied:
            return np.zeros(np.broadcast(threads, others).shape, np.int64)
        return self._rows[threads, others + self.count * (1 + PROXIED.index(space))]

    def known_completion(self, threads: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Up to when `threads` know what has completed on channels: -1 where they know nothing."""
        return np.full(np.broadcast(threads, columns).shape, -1) if self._rows is None else self._rows[threads, columns]

    def column(self, channel: Hashable) -> int:
        """The column of a channel by which asynchronous operations complete."""
        if channel not in self._columns:
            column = self._columns[channel] = self._fixed + len(self._columns)
            if column >= self.rows.shape[1]:
                more = max(_COLUMNS_AT_ONCE, len(self._columns))
                self._rows = np.pad(self.rows, ((0, 0), (0, more)))
        return self._columns[channel]

    def release(self, threads: np.ndarray, now: int) -> Knowledge:
        """The knowledge of `threads: [k]` together, their own accesses up to now included."""
        if self._rows is None:
            row = np.zeros(self._fixed, np.int32)
        else:
            row = self._rows[threads[0]].copy() if len(threads) == 1 else self._rows[threads].max(axis=0)
        for cta in set((threads // self.per_cta).tolist()):
            own = row[cta * self.per_cta : (cta + 1) * self.per_cta]
            np.maximum(own, np.int32(self.cta_floor[cta]), out=own)
        for warp in set((threads // WARP).tolist()):
            own = row[warp * WARP : (warp + 1) * WARP]
            np.maximum(own, np.int32(self.warp_floor[warp]), out=own)
        row[threads] = now
        return Knowledge(row, self._heard_by(threads))

    def snapshot(self, threads: np.ndarray, now: int) -> "Snapshot":
        """The knowledge that `threads: [k]` would release now, each for itself, to be asked for later."""
        rows = None if self._rows is None else self._rows[threads]
        place = {thread: number for number, thread in enumerate(threads.tolist())}
        heard = {thread: self.heard[thread] for thread in place if thread in self.heard}
        return Snapshot(self, now, place, rows, self.cta_floor.copy(), self.warp_floor.copy(), heard)

    def acquire(self, threads: np.ndarray, knowledge: Knowledge) -> None:
        """Let `threads: [k]`, in order, know what a release has handed on."""
        width = len(knowledge.row)
        rows = self.rows
        if width > rows.shape[1]:
            rows = self._rows = np.pad(rows, ((0, 0), (0, width - rows.shape[1])))
        first, last = int(threads[0]), int(threads[-1]) + 1
        if last - first == len(threads):
            np.maximum(rows[first:last, :width], knowledge.row, out=rows[first:last, :width])
        else:
            rows[threads, :width] = np.maximum(rows[threads, :width], knowledge.row)
        if any(knowledge.heard):
            for thread in threads.tolist():
                self.hear(thread, knowledge.heard)

    def hear(self, thread: int, heard: Heard) -> None:
        """Let a thread have heard more through memory."""
        self.heard[thread] = self.heard.get(thread, _NOTHING).joined(heard)

    def meet_cta(self, cta: int, now: int) -> None:
        """Let all threads of a CTA know all that each of them knows, and did up to now."""
        self.cta_floor[cta] = now
        self._share(np.arange(cta * self.per_cta, (cta + 1) * self.per_cta))

    def meet_warp(self, warp: int, now: int) -> None:
        """Let all threads of a warp know all that each of them knows, and did up to now."""
        self.warp_floor[warp] = now
        self._share(np.arange(warp * WARP, (warp + 1) * WARP))

    def _share(self, threads: np.ndarray) -> None:
        if self._rows is not None:
            first, last = int(threads[0]), int(threads[-1]) + 1
            self._rows[first:last] = self._rows[first:last].max(axis=0)
        if self.heard:
            known = self._heard_by(threads)
            if any(known):
                self.heard.update(dict.fromkeys(threads.tolist(), known))

    def _heard_by(self, threads: np.ndarray) -> Heard:
        known = _NOTHING
        if self.heard:
            for each in {self.heard[thread] for thread in threads.tolist() if thread in self.heard}:
                known = known.joined(each)
        return known

    def fence_proxy(self, threads: np.ndarray, spaces: tuple[str, ...], now: int) -> None:
        """Make all that `threads: [k]` know of writes to `spaces` visible to the asynchronous proxy."""
        everyone = np.arange(self.count)
        known = self.known(threads[:, None], everyone[None, :])
        known[np.arange(len(threads)), threads] = now
        for space in spaces:
            start = self.count * (1 + PROXIED.index(space))
            self.rows[threads, start : start + self.count] = known
        if "global" in spaces:
            for thread in threads.tolist():
                self.hear(thread, Heard(proxied=self.heard.get(thread, _NOTHING).received))


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What threads knew at a time: `rows[place[thread]]` where rows were kept, and the floors."""

    clocks: Clocks
    time: int
    place: dict[int, int]
    rows: np.ndarray | None
    cta_floor: np.ndarray
    warp_floor: np.ndarray
    heard: dict[int, Heard]

    def of(self, thread: int) -> Knowledge:
        """The knowledge of one of the threads."""
        then = Clocks(self.clocks.number, self.clocks.ctas, self.clocks.warps, self.clocks.proxied, self.heard)
        then.cta_floor, then.warp_floor = self.cta_floor, self.warp_floor
        known = then.release(np.array([thread]), self.time)
        if self.rows is None:
            return known
        return known.joined(Knowledge(self.rows[self.place[thread]]))
