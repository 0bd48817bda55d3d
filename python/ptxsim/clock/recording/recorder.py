"""Records a launch: an observer of the simulator that writes down what each warp of some clusters does.

In: what the engine tells. Out: a `Recording`. The order in which the simulator runs warps is not in it: each warp has
its own order, and what orders warps among each other are phases.
"""

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from ptxsim.clock.recording.trace import (
    Arrive,
    CopyFacts,
    CopyStart,
    Depart,
    MemoryRequest,
    PhaseKey,
    Recording,
    TraceEvent,
    WarpTrace,
)
from ptxsim.clock.recording.warp_record import FULL, WarpRecord
from ptxsim.machine.observer import (
    AccessFacts,
    AsyncOperation,
    ObservedBatch,
    ObservedCta,
    ObservedLaunch,
    Observer,
    Phase,
    Region,
)
from ptxsim.machine.warp import WARP
from ptxsim.memory.byte_array import ByteArray
from ptxsim.memory.traffic import SECTOR_BYTES, units

_SYNCHRONISATIONS = ("barrier", "cluster", "mbarrier")
#: Instructions that wait for phases.
_WAITS = frozenset({"bar", "barrier", "mbarrier"})
#: Instructions at which lanes wait for others of their warp.
_GATHERS = frozenset({"bar", "barrier", "elect", "match", "redux", "shfl", "vote"})


@dataclass(eq=False)
class _Copy:
    """A copy, the batch in which the CTA `issuer` has started it, and the phases that it completes, as they come."""

    operation: AsyncOperation
    batch: int
    issuer: int
    phases: list[PhaseKey] = field(default_factory=list)

    def __post_init__(self) -> None:
        reads, writes = self.operation.reads, self.operation.writes
        touched = next((regions for regions in (reads, writes) if _space(regions) == "global"), ())
        sectors = [_sectors_of(region.index, region.size) for region in touched]
        if len(sectors) > 1:
            sectors = [np.unique(np.concatenate(sectors))]
        self.sectors = sectors[0] if sectors else np.zeros(0, np.int64)

    @property
    def bytes_read(self) -> Hashable:
        """What copies have in common that bring the same bytes to several CTAs at once."""
        return self.operation.at, self.batch, self.issuer, self.sectors.tobytes()


class Recorder(Observer):
    """Watches one launch; `recording` is what it has seen."""

    def __init__(self) -> None:
        self._batches = 0
        self._warps: dict[int, list[WarpRecord]] = {}
        self._cta_of_memory: dict[int, int] = {}
        self._copies: list[_Copy] = []
        self._copy_of: dict[int, int] = {}
        self._clusters: dict[int, tuple[int, ...]] = {}
        #: Objects whose `id` is a key: they must not be collected.
        self._kept: list[object] = []

    # --- what the engine tells ----------------------------------------------------------------------------------------

    def began(self, launch: ObservedLaunch) -> None:
        """Note the launch."""
        self._launch = launch
        code = launch.code.instructions
        self._waits = frozenset(at for at, each in enumerate(code) if each.opcode in _WAITS)
        self._gathers = frozenset(at for at, each in enumerate(code) if each.opcode in _GATHERS)

    def ran(self, cta: ObservedCta, warps: np.ndarray, start: int, end: int, mask: np.ndarray) -> None:
        """Note the run of each warp."""
        records = self._warps[self._know(cta)]
        for warp, lanes in zip(warps.tolist(), _bits(mask), strict=True):
            records[warp].ran(start, end, lanes, self._batches)
        self._batches += 1

    def arrived(self, cta: ObservedCta, phase: Phase, lanes: np.ndarray, relaxed: bool = False) -> None:
        """Note how many lanes of each warp arrive."""
        if phase.kind not in _SYNCHRONISATIONS:
            return
        key = self._key(cta, phase)
        for warp, bits in enumerate(_bits(lanes)):
            if bits:
                self._add(cta, warp, Arrive(cta.at, key, bits.bit_count()), bits)

    def departed(self, cta: ObservedCta, phase: Phase, lanes: np.ndarray, relaxed: bool = False) -> None:
        """Note which warps learn that the phase is complete."""
        if phase.kind not in _SYNCHRONISATIONS:
            return
        key = self._key(cta, phase)
        for warp, bits in enumerate(_bits(lanes)):
            if bits:
                self._add(cta, warp, Depart(cta.at, key), bits)

    def accessed(
        self,
        access: AccessFacts,
        batch: ObservedBatch,
        memory: ByteArray,
        index: np.ndarray,
        usable: np.ndarray | None = None,
        values: np.ndarray | None = None,
    ) -> None:
        """Note what an access of each warp asks of the memory."""
        if memory.space not in ("global", "shared"):
            return
        places, mask = _by_lane(batch, index, usable)
        cta, size, everyone = batch.cta, access.size, bool(mask.all())
        records = self._warps[self._know(cta)]
        for row, warp in enumerate(batch.warps.tolist()):
            lanes = mask[row]
            if not everyone and not lanes.any():
                continue
            whole = everyone or bool(lanes.all())
            count, _ = units(memory.space, places[row : row + 1], mask[row : row + 1], whole, size)
            accessed = places[row] if whole else places[row][lanes]
            sectors = _sectors_of(accessed, size) if memory.space == "global" else None
            event = MemoryRequest(cta.at, memory.space, access.kind, size, count, sectors)
            records[warp].add(event, FULL, self._batches)

    def started(self, operation: AsyncOperation) -> None:
        """Note a copy at the warps of the threads that start it."""
        if self._launch.code.instructions[operation.at].opcode == "wgmma":
            return
        if operation.proxy != "async":  # each thread's own, which is told as an access where it reads
            self._stored(operation)
            return
        cta, number = operation.cta, len(self._copies)
        self._copy_of[id(operation)] = number
        self._copies.append(_Copy(operation, self._batches, self._know(cta)))
        for warp in sorted({int(thread) // WARP for thread in operation.threads}):
            self._add(cta, warp, CopyStart(operation.at, number))

    def _stored(self, operation: AsyncOperation) -> None:
        """Note what copies by threads write to shared memory."""
        warps = operation.threads // WARP
        for region in operation.writes:
            for warp in np.unique(warps).tolist():
                mine = warps == warp
                places, mask = np.zeros((1, WARP), np.int64), np.zeros((1, WARP), bool)
                lanes = operation.threads[mine] % WARP
                places[0, lanes], mask[0, lanes] = region.index[mine], True
                count, _ = units("shared", places, mask, bool(mask.all()), region.size)
                self._add(operation.cta, warp, MemoryRequest(operation.at, "shared", "store", region.size, count))

    def finished(self, operation: AsyncOperation, phase: Phase, reads_only: bool = False) -> None:
        """Note the phase that a copy completes."""
        number = self._copy_of.get(id(operation))
        if number is not None and phase.kind == "mbarrier":
            self._copies[number].phases.append(self._key(operation.cta, phase))

    # --- what comes of it ---------------------------------------------------------------------------------------------

    def recording(self) -> Recording:
        """What has been seen so far."""
        launch = self._launch
        sharing: dict[Hashable, set[int]] = defaultdict(set)
        for copy in self._copies:
            sharing[copy.bytes_read].add(self._destination(copy))
        copies = tuple(self._facts(copy, len(sharing[copy.bytes_read])) for copy in self._copies)
        warps = (
            WarpTrace(cta, warp, record.runs())
            for cta, records in sorted(self._warps.items())
            for warp, record in enumerate(records)
        )
        return Recording(
            launch.grid, launch.block, launch.cluster, launch.shared_bytes, self._clusters, tuple(warps), copies
        )

    def _destination(self, copy: "_Copy") -> int:
        """The CTA that a copy is for: whose shared memory it writes, else the one that has started it."""
        writes = copy.operation.writes
        return self._cta_of_memory.get(id(writes[0].memory), copy.issuer) if writes else copy.issuer

    def _facts(self, copy: "_Copy", sharers: int) -> CopyFacts:
        operation, cta = copy.operation, self._destination(copy)
        size = sum(each.size * len(each.index) for each in operation.writes)
        spaces = _space(operation.reads), _space(operation.writes)
        return CopyFacts(operation.at, copy.issuer, size, *spaces, cta, tuple(copy.phases), copy.sectors, sharers)

    def _know(self, cta: ObservedCta) -> int:
        """The number of a CTA in the grid, x fastest."""
        number = self._number(cta)
        if number not in self._warps:
            ctas = tuple(map(self._number, cta.peers))
            self._clusters[len(self._clusters)] = ctas
            for each, peer in zip(ctas, cta.peers, strict=True):
                self._warps[each] = [WarpRecord(self._waits, self._gathers) for _ in range(peer.warp_count)]
                self._cta_of_memory[id(peer.shared)] = each
                self._kept.append(peer.shared)
        return number

    def _number(self, cta: ObservedCta) -> int:
        (x, y, z), (width, height, _) = cta.index, self._launch.grid
        return x + width * (y + height * z)

    def _add(self, cta: ObservedCta, warp: int, event: TraceEvent, lanes: int = FULL) -> None:
        self._warps[self._know(cta)][warp].add(event, lanes, self._batches)

    def _key(self, cta: ObservedCta, phase: Phase) -> PhaseKey:
        self._know(cta)
        owner = phase.owner
        is_mbarrier = phase.kind == "mbarrier"
        number = self._cta_of_memory[id(owner)] if is_mbarrier else self._number(cast(ObservedCta, owner))
        return PhaseKey(phase.kind, number, phase.place, phase.number)


def _bits(lanes: np.ndarray) -> list[int]:
    """The lanes of each warp as bits: [n, 32] bool → n numbers."""
    return np.packbits(lanes, axis=1, bitorder="little").view(np.uint32)[:, 0].tolist()


def _by_lane(batch: ObservedBatch, index: np.ndarray, usable: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The places of all lanes and which of them access: [n, 32] each."""
    mask = np.ones((len(batch.warps), WARP), bool) if batch.dense else batch.mask.copy()
    if batch.dense and usable is None:
        return index.reshape(mask.shape), mask
    places = np.zeros(mask.shape, np.int64)
    places[mask] = index.reshape(-1)
    if usable is not None:
        mask[mask] = usable.reshape(-1)
    return places, mask


def _sectors_of(places: np.ndarray, size: int) -> np.ndarray:
    """The sectors that `size` bytes from each place on lie in."""
    first, last = places // SECTOR_BYTES, (places + size - 1) // SECTOR_BYTES
    if len(places) <= WARP and size <= SECTOR_BYTES:  # of few, a set is made quicker
        return np.array(sorted({*first.tolist(), *last.tolist()}), np.int64)
    most = int((last - first).max()) + 1 if len(places) else 0
    all_of = first[:, None] + np.arange(most)
    return np.unique(all_of[all_of <= last[:, None]])


def _space(regions: tuple[Region, ...]) -> str:
    return regions[0].memory.space if regions else ""
