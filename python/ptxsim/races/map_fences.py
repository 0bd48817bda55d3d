"""Which writes of a tensor map in global memory copies see: the fences of the proxy of tensor maps.

A copy reads its map by that proxy. It sees a write by the generic proxy where a release of the proxy follows the write,
an acquire of this map follows the release, and the copy follows the acquire, all in causality order and in scopes that
have both threads. A map that nobody has written since the launch began needs the acquire alone: "the tensormap-proxy is
not acquired from generic-proxy at CUDA Kernel start".

One thing is let pass that the ISA does not promise: a release by a thread of another cluster than the writer's.
Source: PTX ISA, `fence.proxy`, `tensormap.cp_fenceproxy`, "API synchronization", "Causality order".
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ptxsim.machine.findings import OTHER_LINES
from ptxsim.races import stamp
from ptxsim.races.accesses import Accesses
from ptxsim.races.clocks import Snapshot
from ptxsim.races.history import History

_KEPT_RELEASES = 16


@dataclass(frozen=True, eq=False)
class _Release:
    """A release of the proxy by `thread`: its stamp, with the scope as strength, and what its threads knew then."""

    thread: int
    stamp: int
    snapshot: Snapshot

    def covers(self, write: np.ndarray) -> bool:
        """Whether the thread knew of the write with this stamp."""
        clocks = self.snapshot.clocks
        cluster, writer = divmod(int(stamp.threads_of(write)), clocks.count)
        if cluster != clocks.number:
            return True
        known = self.snapshot.of(self.thread - clocks.number * clocks.count)
        return bool(known.row[writer] >= stamp.times_of(write))


class MapFences:
    """The fences of one launch."""

    def __init__(self, history: History) -> None:
        self._history = history
        #: Cluster → thread → its last releases.
        self._releases: dict[int, dict[int, deque[_Release]]] = {}
        #: First byte of a map → stamp of a write → thread → the stamp of its first acquire that lets copies see it.
        self._acquires: dict[int, dict[int, dict[int, int]]] = {}

    def release(self, threads: np.ndarray, scope: int, snapshot: Snapshot) -> None:
        """Note that `threads: [k]` of the launch release what they know."""
        stamps = stamp.stamps(snapshot.time, threads, scope)
        known = self._releases.setdefault(snapshot.clocks.number, {})
        for thread, each in zip(threads.tolist(), stamps.tolist(), strict=True):
            known.setdefault(thread, deque(maxlen=_KEPT_RELEASES)).append(_Release(thread, each, snapshot))

    def acquire(self, look: Accesses, now: int) -> None:
        """Note that threads acquire the maps at `look.index`; the strength of `look` is the scope."""
        shadow = self._history.shadow(look.memory, look.size)
        for first in np.unique(look.index).tolist():
            mine = look.index == first
            own = replace(look, index=look.index[mine], threads=look.threads[mine])
            written = np.unique(shadow.written[shadow.places(np.array([first]), look.size)]).tolist()
            before = self._acquires.get(first, {})
            self._acquires[first] = {write: before.get(write, {}) for write in written}
            for write, acquires in self._acquires[first].items():
                threads = own.threads[self._released(own, write)]
                for thread, each in zip(threads.tolist(), stamp.stamps(now, threads, 0).tolist(), strict=True):
                    acquires.setdefault(thread, each)

    def _released(self, look: Accesses, write: int) -> np.ndarray:
        """The threads of `look` that know of a release of a write: [k] bool."""
        found = np.full(len(look.threads), write == 0)
        weak = replace(look, strength=0)
        for release in self._releases_near(int(stamp.threads_of(np.array(write))), look.clocks.count):
            if found.all():
                break
            if release.covers(np.array(write)):
                stamps = np.full(len(look.threads), release.stamp)
                unordered = weak.unordered(self._history.messages, stamps)
                found |= look.strong_with(stamps) & (True if unordered is None else ~unordered)
        return found

    def _releases_near(self, writer: int, count: int) -> Iterator[_Release]:
        """The releases, those of the writer and of its cluster, of `count` threads, first."""
        near = self._releases.get(writer // count, {})
        yield from reversed(near.get(writer, ()))
        for cluster in (near, *(each for each in self._releases.values() if each is not near)):
            for thread, releases in cluster.items():
                if thread != writer:
                    yield from reversed(releases)

    def check(self, look: Accesses, written: np.ndarray) -> None:
        """Report the writes of a map, `written: [1, granules]`, that the copy does not see, races aside."""
        unordered = look.unordered(self._history.messages, written)
        ordered = written if unordered is None else written[~unordered]
        acquires = self._acquires.get(int(look.index[0]), {})
        for write in np.unique(ordered).tolist():
            known = acquires.get(write, {})
            if int(look.threads[0]) in known:
                continue
            stamps = np.array([list(known.values())], np.int64)
            later = look.unordered(self._history.messages, stamps) if known else None
            if not known or (later is not None and later.all()):
                self._report(look, written, write)
                return

    def _report(self, look: Accesses, written: np.ndarray, write: int) -> None:
        fence = "fence.proxy.tensormap::generic"
        if write == 0:
            text = f"as a tensor map, without {fence}.acquire since the launch began"
            look.report("proxy-fence-missing", written == write, text)
            return
        text = f"as a tensor map that a thread writes at {OTHER_LINES}, without {fence}.release there"
        other = self._history.other(np.array([write]))
        look.report("proxy-fence-missing", written == write, f"{text} and .acquire of the map here between", other)
