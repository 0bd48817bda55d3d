"""The way of memory requests through an SM and out of it: banks, the port to L2, a share of L2 and of HBM.

In: requests and copies, in the order of their times, each with what its cluster has read before. Out: when their data
are there. Each unit is a queue: it takes a request as soon as it has done with the one before. Times are cycles of the
SM's clock, sizes bytes. Bulk copies take no cycles of the banks: nothing published says whether they do, and the
fastest published products would not be possible.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ptxsim.clock.devices import Device
from ptxsim.clock.memory.model import MemoryStep
from ptxsim.clock.recording.trace import MemoryRequest, TraceEvent
from ptxsim.clock.replay.load_store import OPERANDS_READ, LoadStoreUnit
from ptxsim.clock.replay.operations import COPY_IN, GLOBAL_LOAD, GLOBAL_STORE, SHARED_ACCESS, SassOperation
from ptxsim.memory.traffic import SECTOR_BYTES

#: What memory does for a cluster that has read so many bytes.
StepOf = Callable[[float], MemoryStep]


class AccessTimes(NamedTuple):
    """When the data of an access are there, when its operands have been read, and the bytes that it reads beyond L1."""

    ready: float
    operands_read: float
    read: int


class MemoryPath:
    """The units of one SM that memory requests go through; `busy` counts the cycles of each."""

    def __init__(self, device: Device, step_of: StepOf) -> None:
        self._device, self._step_of = device, step_of
        self.load_store = LoadStoreUnit(device)
        self._tma = self._port = self._l2 = self._hbm = self._out = 0.0
        self.busy: dict[str, float] = defaultdict(float)

    def access(
        self, op: SassOperation, events: Sequence[TraceEvent], part: int, time: float, read_before: float
    ) -> AccessTimes:
        """A request of a warp of a sub-partition that issues at `time`, whose CTA has read so many bytes before."""
        device = self._device
        start = self.load_store.take(part, time)
        self.busy["LSU"] += device.lsu_interval
        ready = start + op.latency
        passes, sectors = requested(events)
        if op.kind == SHARED_ACCESS and not passes:
            passes = 1
        if passes:
            begun = self.load_store.move(start, passes, op.kind == SHARED_ACCESS)
            self.busy["shared memory"] += passes
            ready = begun + passes - 1 + op.latency
        if sectors and op.kind in (GLOBAL_LOAD, COPY_IN):
            ready = max(ready, self.fetch(start, sectors * SECTOR_BYTES, read_before))
        elif op.kind == GLOBAL_LOAD and not sectors:
            ready = start + device.shared_latency  # constants and local memory
        if sectors and op.kind == GLOBAL_STORE:
            ready = self.put(start, sectors * SECTOR_BYTES, read_before)
        read = 0 if op.kind == GLOBAL_STORE else sectors * SECTOR_BYTES
        return AccessTimes(ready, start + OPERANDS_READ + passes, read)

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

    def fetch(self, start: float, size: float, read: float, amount: float | None = None) -> float:
        """When `size` bytes are in the SM that asks for them at `start`; L2 reads `amount` of them for it."""
        device, step, busy = self._device, self._step_of(read), self.busy
        amount = size if amount is None else amount
        at_port, at_l2 = size / device.l2_port_bytes_per_cycle, amount / step.l2_bytes_per_cycle
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


def requested(events: Sequence[TraceEvent]) -> tuple[int, int]:
    """Passes through the banks of shared memory and sectors of global memory that requests ask for."""
    passes = sectors = 0
    for event in events:
        if isinstance(event, MemoryRequest):
            if event.space == "shared":
                passes += event.units
            else:
                sectors += event.units
    return passes, sectors
