"""The way of memory requests through an SM and out of it: banks, L1, the port to L2, a share of L2 and of HBM.

In: requests and copies, in the order of their times, each with what its cluster has read before. Out: when their data
are there. Loads go through L1 (`l1`), whose tags are looked at line by line; it has local memory. Each unit is a queue:
it takes a request as soon as it has done with the one before. Times are cycles of the SM's clock, sizes bytes. Bulk
copies take no cycles of the banks: nothing published says whether they do, and the fastest published products would not
be possible. Source: forums.developer.nvidia.com, topic 77228: L1 and shared memory together give 128 bytes, one
register of a warp, in a cycle.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import numpy as np

from ptxsim.clock.devices import Device
from ptxsim.clock.memory.model import MemoryStep
from ptxsim.clock.recording.trace import MemoryRequest, TraceEvent
from ptxsim.clock.replay.l1 import L1_LINE_BYTES, L1Cache, l1_capacity, lines_touched
from ptxsim.clock.replay.load_store import OPERANDS_READ, LoadStoreUnit
from ptxsim.clock.replay.operations import COPY_IN, GLOBAL_LOAD, GLOBAL_STORE, SHARED_ACCESS, SassOperation
from ptxsim.machine.warp import WARP
from ptxsim.memory.traffic import SECTOR_BYTES

#: What memory does for a cluster that has read so many bytes.
StepOf = Callable[[float], MemoryStep]


class AccessTimes(NamedTuple):
    """When the data of an access are there, when its operands have been read, and the bytes that it reads beyond L1."""

    ready: float
    operands_read: float
    read: int


class Requested(NamedTuple):
    """What an access asks for: passes through the banks, sectors of global memory (also which, if it is known), lines.

    `lane_bytes` are those that a lane gets.
    """

    passes: int
    sectors: int
    lines: int
    touched: np.ndarray | None
    lane_bytes: int


class MemoryPath:
    """The units of one SM that memory requests go through; `busy` counts the cycles of each."""

    def __init__(self, device: Device, step_of: StepOf, shared_bytes: int = 0) -> None:
        self._device, self._step_of = device, step_of
        self.load_store = LoadStoreUnit(device)
        self._l1 = L1Cache(l1_capacity(device, shared_bytes))
        self._tags = self._loaded = self._tma = self._port = self._l2 = self._hbm = self._out = 0.0
        self.busy: dict[str, float] = defaultdict(float)

    def access(
        self,
        op: SassOperation,
        events: Sequence[TraceEvent],
        part: int,
        time: float,
        read_before: float,
        owner: Hashable = None,
    ) -> AccessTimes:
        """A request of a warp of a sub-partition that issues at `time`, whose cluster has read so many bytes before.

        `owner` is whose addresses they are: what one owner has read is in L1 for itself.
        """
        device = self._device
        start = self.load_store.take(part, time)
        self.busy["LSU"] += device.lsu_interval
        ready = start + op.latency
        asked = requested(events)
        passes, sectors, read, looked_up = asked.passes, asked.sectors, 0, start
        if op.kind == SHARED_ACCESS:
            passes = max(passes, op.fewest_passes, 1)
        if moved := passes + op.registers:
            begun = self.load_store.move(start, moved, op.kind == SHARED_ACCESS or not sectors)
            self.busy["shared memory"] += moved
            ready = begun + moved - 1 + op.latency
        if sectors:
            start, looked_up = self._look_up(start, asked.lines)
        if sectors and op.kind in (GLOBAL_LOAD, COPY_IN):
            come, read = self._load(op, owner, asked, start, read_before)
            if op.kind == GLOBAL_LOAD:
                self._loaded = max(self._loaded, start) + asked.lane_bytes * WARP / device.l1_bytes_per_cycle
                come = max(come, self._loaded + device.l1_latency)
            ready = max(ready, come, looked_up + device.l1_latency)
        if sectors and op.kind == GLOBAL_STORE:
            ready = self.put(start, sectors * SECTOR_BYTES, read_before)
        return AccessTimes(ready, start + OPERANDS_READ + passes, read)

    def _look_up(self, start: float, lines: int) -> tuple[float, float]:
        """When the tags of the first and of the last of so many lines are looked at."""
        interval = self._device.l1_tag_interval
        first = max(self._tags, start)
        self._tags = first + lines * interval
        self.busy["L1"] += lines * interval
        return first, self._tags - interval

    def _load(
        self, op: SassOperation, owner: Hashable, asked: Requested, start: float, read_before: float
    ) -> tuple[float, int]:
        """When sectors are there, and the bytes of them that come from beyond L1."""
        factor = self._device.l2_read_only_factor if op.read_only else 1.0
        if not op.is_cached or asked.touched is None:
            size = asked.sectors * SECTOR_BYTES
            return self.fetch(start, size, read_before, factor=factor), size
        return self._l1.read(
            owner, asked.touched, start, lambda size: self.fetch(start, size, read_before, factor=factor)
        )

    def start_copy(self, time: float) -> float:
        """When the copy engine takes a bulk copy that is issued at `time`."""
        interval = self._device.tma_issue_interval
        start = max(self._tma, time)
        self._tma = start + interval
        self.busy["TMA"] += interval
        return start

    def copy_in(self, start: float, size: float, read: float, sharers: int) -> float:
        """When a bulk copy that begins at `start` is in shared memory; L2 reads it once for `sharers` SMs."""
        return self.fetch(start, size, read, size / sharers) + self._device.tma_latency - self._device.l2_latency

    def copy_out(self, start: float, size: float, read: float) -> float:
        """When a bulk copy from shared memory that begins at `start` has been written."""
        return self.put(start, size, read) + self._device.l2_latency

    def fetch(self, start: float, size: float, read: float, amount: float | None = None, factor: float = 1.0) -> float:
        """When `size` bytes are in the SM that asks for them at `start`.

        L2 reads `amount` of them for it, `factor` times as fast as it gives what has to be coherent.
        """
        device, step, busy = self._device, self._step_of(read), self.busy
        amount = size if amount is None else amount
        at_port, at_l2 = size / device.l2_port_bytes_per_cycle, amount / step.l2_bytes_per_cycle / factor
        at_hbm = amount * step.hbm_share / step.hbm_bytes_per_cycle
        self._port = max(self._port, start) + at_port
        self._l2 = max(self._l2, start) + at_l2
        self._hbm = max(self._hbm, start) + at_hbm
        busy["L2 port"] += at_port
        busy["L2"] += at_l2
        busy["HBM"] += at_hbm
        latency = (
            step.near_share * device.l2_latency
            + step.far_share * device.l2_far_latency
            + step.memory_share * device.memory_latency
        )
        return max(self._port, self._l2, self._hbm) + latency

    def put(self, start: float, size: float, read: float) -> float:
        """When `size` bytes that the SM stores at `start` have left it."""
        out = size / self._device.l2_port_bytes_per_cycle
        at_hbm = size / self._step_of(read).hbm_bytes_per_cycle
        self._out = max(self._out, start) + out
        self._hbm = max(self._hbm, start) + at_hbm
        self.busy["stores"] += out
        self.busy["HBM"] += at_hbm
        return self._out


def requested(events: Sequence[TraceEvent]) -> Requested:
    """What the requests of one instruction ask for together; the same sector is asked for once."""
    requests = [event for event in events if isinstance(event, MemoryRequest)]
    passes = sum(event.units for event in requests if event.space == "shared")
    beyond = [event for event in requests if event.space != "shared"]
    lane_bytes = sum(event.lane_bytes for event in beyond)
    known = [event.sectors for event in beyond if event.sectors is not None]
    if not known:
        sectors = sum(event.units for event in beyond)
        return Requested(passes, sectors, -(-sectors * SECTOR_BYTES // L1_LINE_BYTES), None, lane_bytes)
    touched = known[0] if len(known) == 1 else np.unique(np.concatenate(known))
    return Requested(passes, len(touched), lines_touched(touched), touched, lane_bytes)
