"""Discrete events on the SMs of one cluster: warps issue their streams, and wait for what is busy or has not come.

In: streams of the warps that are resident, the operations of their kernel, a device, what memory gives. Out: cycles,
and what was waited for. An instruction issues when its warp's stall is over, its scoreboards are free, and the issue
port of its sub-partition and its pipe are. Of several warps the one that issued last goes on, unless its control code
says to switch, else the youngest does (Huerta et al., MICRO 2025: greedy, then youngest, guided by the compiler), so
that one CTA loads while another one multiplies. Memory, copies and phases say when their results come. Times are
cycles of the SM's clock. Deterministic.
"""

import heapq
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ptxsim.clock.devices import Device
from ptxsim.clock.recording.trace import Arrive, CopyFacts, CopyStart, Depart, MemoryRequest, PhaseKey, TraceEvent
from ptxsim.clock.replay.load_store import OPERANDS_READ, LoadStoreUnit
from ptxsim.clock.replay.operations import (
    BOARD_WAIT,
    COMMIT,
    COPY_IN,
    GLOBAL_LOAD,
    GLOBAL_STORE,
    GROUP_WAIT,
    PIPES,
    PLAIN,
    PRODUCT,
    SHARED_ACCESS,
    TENSOR,
    VARIABLE,
    SassOperation,
)
from ptxsim.clock.replay.stream import WarpStream
from ptxsim.clock.sass.control import SCOREBOARDS
from ptxsim.memory.traffic import SECTOR_BYTES

_SUBPARTITIONS = 4
#: Cycles by which each CTA of an SM begins behind the one before.
_BETWEEN_CTAS = 37.0
#: Cycles until the operands of what has a result at any time, such as a special function, have been read; and until the
#: state of an arrival is there. Assumed: no publication was found.
_VARIABLE_READ, _STATE_READ = 8, 10
#: Cycles of stores that may be under way before their warp waits.
_STORE_BACKLOG = 400


@dataclass
class MemoryShare:
    """What an SM gets of the chip's memory: bytes a cycle of L2 and of HBM, and the share of sectors that L2 has."""

    l2_bytes_per_cycle: float
    memory_bytes_per_cycle: float
    hit_share: float


@dataclass(eq=False)
class _Warp:
    """A resident warp: where it is in its stream, when it may issue, and when its scoreboards are free."""

    number: int
    identity: tuple[int, int, int]
    sm: int
    part: int
    stream: WarpStream
    place: int = 0
    time: float = 0.0
    boards: list[float] = field(default_factory=lambda: [0.0] * SCOREBOARDS)
    open_boards: list[deque[float]] = field(default_factory=lambda: [deque() for _ in range(SCOREBOARDS)])
    copies: float = 0.0
    group: float = 0.0
    groups: deque[float] = field(default_factory=deque)
    stored: float = 0.0
    due: float = -1.0
    end: float = -1.0


@dataclass(frozen=True)
class Replayed:
    """Cycles until the last warp ended, those that a sub-partition's tensor pipe was busy, and how many were issued.

    `waits` are the cycles of all warps by cause ("scoreboard", "product", "copies", "memory queue", or the kind of a
    phase) and PTX line (0 where it is not known); `deadlocked` counts warps that wait for what never comes.
    """

    cycles: float
    tensor_busy: float
    issued: int
    waits: Mapping[tuple[str, int], float]
    deadlocked: int


class Replay:
    """One run of the model; `streams` of each resident CTA, with the SM that it is on."""

    def __init__(
        self,
        operations: Sequence[SassOperation],
        copies: Sequence[CopyFacts],
        residents: Sequence[tuple[int, Sequence[WarpStream]]],
        device: Device,
        memory: MemoryShare,
    ) -> None:
        self.operations, self.copies, self.device, self.memory = operations, copies, device, memory
        sms = 1 + max(sm for sm, _ in residents)
        self.warps: list[_Warp] = []
        self.sm_of: dict[tuple[int, int], int] = {}
        self.pending: dict[tuple[int, PhaseKey], int] = defaultdict(int)
        instance_of: dict[int, int] = defaultdict(int)
        for sm, streams in residents:
            instance = instance_of[streams[0].cta]
            instance_of[streams[0].cta] += 1
            for stream in streams:
                self.sm_of[instance, stream.cta] = sm
                identity, part = (instance, stream.cta, stream.warp), stream.warp % _SUBPARTITIONS
                self.warps.append(_Warp(len(self.warps), identity, sm, part, stream, time=_BETWEEN_CTAS * instance))
                self._expect(instance, stream)
        self.done: dict[tuple[int, PhaseKey], float] = {}
        self.waiting: dict[tuple[int, PhaseKey], list[_Warp]] = defaultdict(list)
        self.port = [[0.0] * _SUBPARTITIONS for _ in range(sms)]
        self.pipes = [[[0.0] * len(PIPES) for _ in range(_SUBPARTITIONS)] for _ in range(sms)]
        self.lsu, self.tma = [LoadStoreUnit(device) for _ in range(sms)], [0.0] * sms
        self.l2_port, self.l2, self.hbm, self.out = [0.0] * sms, [0.0] * sms, [0.0] * sms, [0.0] * sms
        self.busy = [0.0] * sms
        self.waits: dict[tuple[str, int], float] = defaultdict(float)
        self.heap: list[tuple[float, int, _Warp]] = []
        self.last: list[list[_Warp | None]] = [[None] * _SUBPARTITIONS for _ in range(sms)]
        self.issued = 0

    def _expect(self, instance: int, stream: WarpStream) -> None:
        for events in stream.events.values():
            for event in events:
                if isinstance(event, Arrive):
                    self.pending[instance, event.phase] += 1
                elif isinstance(event, CopyStart):
                    for phase in self.copies[event.number].phases:
                        self.pending[instance, phase] += 1

    def run(self) -> Replayed:
        """Let all warps come to their ends."""
        for warp in self.warps:
            self._queue(warp, warp.time)
        heap = self.heap
        while heap:
            time, _, warp = heapq.heappop(heap)
            if warp.due != time:  # it has been first at this time
                continue
            last = self.last[warp.sm][warp.part]
            if last is not None and last is not warp and last.due == time:
                heapq.heappush(heap, (time, -warp.number, warp))
                warp = last
            warp.due = -1.0
            while time is not None:
                time = self._step(warp, time)
                if time is not None and heap and time >= heap[0][0]:  # also those that this step has woken
                    self._queue(warp, time)
                    break
        ends = [warp.end for warp in self.warps]
        return Replayed(max(ends), max(self.busy), self.issued, dict(self.waits), sum(end < 0 for end in ends))

    def _queue(self, warp: _Warp, time: float) -> None:
        """Let a warp try at `time`: the youngest first."""
        warp.due = time
        heapq.heappush(self.heap, (time, -warp.number, warp))

    def _step(self, warp: _Warp, time: float) -> float | None:
        """Issue the next instruction of a warp at `time` or say when that can be; None when others must come first."""
        stream = warp.stream
        if warp.place >= len(stream.instructions):
            warp.end = max(time, warp.stored)
            return None
        op = self.operations[stream.instructions[warp.place]]
        if op.waits:
            free = max(warp.boards[board] for board in op.waits)
            if free > time:
                self.waits["scoreboard", op.line] += free - time
                return free  # others may come first
        sm, part = warp.sm, warp.part
        port, pipes = self.port[sm], self.pipes[sm][part]
        holds_pipe = op.pipe >= 0 and op.kind != PRODUCT  # a warpgroup's product waits in the pipe, not its warp
        start = max(time, port[part], pipes[op.pipe]) if holds_pipe else max(time, port[part])
        if start > time:
            return start
        if GLOBAL_LOAD <= op.kind <= COPY_IN:
            start = self.lsu[sm].room(part, time)
            if start > time:
                self.waits["memory queue", op.line] += start - time
                return start
        port[part] = time + 1
        if holds_pipe:
            pipes[op.pipe] = time + op.interval
            if op.pipe == TENSOR:
                self.busy[sm] += op.interval / _SUBPARTITIONS
        self.issued += 1
        self.last[sm][part] = None if op.switches else warp
        place, on = warp.place, time + op.stall
        warp.place += 1
        return on if op.kind == PLAIN else self._act(warp, op, stream.events.get(place, ()), time, on)

    def _open_until(self, warp: _Warp, board: int, time: float) -> None:
        left = warp.open_boards[board]
        while left and left[0] <= time:
            left.popleft()

    def _mark(self, warp: _Warp, board: int, ready: float) -> None:
        """Count a scoreboard down at `ready`."""
        if board >= 0:
            warp.boards[board] = max(warp.boards[board], ready)
            warp.open_boards[board].append(ready)

    def _act(
        self, warp: _Warp, op: SassOperation, events: Sequence[TraceEvent], time: float, on: float
    ) -> float | None:
        """Do what an instruction does beside issuing; returns when the warp goes on, None if others must come first."""
        kind = op.kind
        if kind == PRODUCT:
            return self._product(warp, op, time, on)
        if kind == GROUP_WAIT:
            while len(warp.groups) > op.count:
                ready = warp.groups.popleft()
                if ready > on:
                    self.waits["product", op.line] += ready - on
                    on = ready
            return on
        if kind == BOARD_WAIT:
            return self._wait_for_board(warp, op, on)
        if kind == VARIABLE:
            self._mark(warp, op.write, time + op.latency)
            self._mark(warp, op.read, time + _VARIABLE_READ)
            return on
        if kind == COMMIT:
            self._mark(warp, op.write, max(time, warp.copies))
            return on
        if kind in (GLOBAL_LOAD, SHARED_ACCESS, GLOBAL_STORE, COPY_IN):
            return self._access(warp, op, events, time, on)
        return self._synchronise(warp, op, events, time, on)

    def _product(self, warp: _Warp, op: SassOperation, time: float, on: float) -> float:
        pipes = self.pipes[warp.sm][warp.part]
        start = max(time, pipes[TENSOR])
        pipes[TENSOR] = start + op.interval
        self.busy[warp.sm] += op.interval / _SUBPARTITIONS
        warp.group = start + op.interval + self.device.wgmma_tail
        if op.ends_group:
            warp.groups.append(warp.group)
        return on

    def _wait_for_board(self, warp: _Warp, op: SassOperation, on: float) -> float:
        if op.board < 0:
            return on
        left = warp.open_boards[op.board]
        self._open_until(warp, op.board, on)
        while len(left) > op.count:
            ready = left.popleft()
            if ready > on:
                self.waits["copies", op.line] += ready - on
                on = ready
        return on

    def _access(self, warp: _Warp, op: SassOperation, events: Sequence[TraceEvent], time: float, on: float) -> float:
        sm, device = warp.sm, self.device
        lsu = self.lsu[sm]
        start = lsu.take(warp.part, time)
        ready = start + op.latency
        passes = sectors = 0
        for event in events:
            if isinstance(event, MemoryRequest):
                if event.space == "shared":
                    passes += event.units
                else:
                    sectors += event.units
        if op.kind == SHARED_ACCESS and not passes:
            passes = 1
        if passes:
            begun = lsu.move(start, passes, op.kind == SHARED_ACCESS)
            ready = begun + passes - 1 + op.latency
        if sectors and op.kind in (GLOBAL_LOAD, COPY_IN):
            ready = max(ready, self._fetch(sm, start, sectors * SECTOR_BYTES))
        elif op.kind == GLOBAL_LOAD and not sectors:
            ready = start + device.shared_latency  # constants and local memory
        if sectors and op.kind == GLOBAL_STORE:
            ready = self._put(sm, start, sectors * SECTOR_BYTES)
            warp.stored = max(warp.stored, ready)
            backlog = ready - time - _STORE_BACKLOG
            on = max(on, on + backlog)
        if op.kind == COPY_IN:
            warp.copies = max(warp.copies, ready)
        self._mark(warp, op.write, ready)
        self._mark(warp, op.read, start + OPERANDS_READ + passes)
        return on

    def _fetch(self, sm: int, start: float, size: int, amount: float | None = None) -> float:
        """When `size` bytes are in an SM that asks for them at `start`; L2 reads `amount` of them for it."""
        device, share = self.device, self.memory
        amount = size if amount is None else amount
        port = self.l2_port[sm] = max(self.l2_port[sm], start) + size / device.l2_port_bytes_per_cycle
        l2 = self.l2[sm] = max(self.l2[sm], start) + amount / share.l2_bytes_per_cycle
        missed = amount * (1 - share.hit_share)
        hbm = self.hbm[sm] = max(self.hbm[sm], start) + missed / share.memory_bytes_per_cycle
        latency = device.l2_latency + (device.memory_latency - device.l2_latency) * (1 - share.hit_share)
        return max(port, l2, hbm) + latency

    def _put(self, sm: int, start: float, size: int) -> float:
        """When `size` bytes that an SM stores at `start` have left it."""
        self.out[sm] = max(self.out[sm], start) + size / self.device.l2_port_bytes_per_cycle
        self.hbm[sm] = max(self.hbm[sm], start) + size / self.memory.memory_bytes_per_cycle
        return self.out[sm]

    def _synchronise(
        self, warp: _Warp, op: SassOperation, events: Sequence[TraceEvent], time: float, on: float
    ) -> float | None:
        device, instance = self.device, warp.identity[0]
        for event in events:
            if isinstance(event, Arrive):
                key = event.phase
                latency = {"barrier": device.barrier_latency, "cluster": device.cluster_barrier}.get(
                    key.kind, device.mbarrier_arrive if key.cta == warp.identity[1] else device.remote_arrive
                )
                self._complete(instance, key, time + latency)
            elif isinstance(event, CopyStart):
                self._copy(warp, self.copies[event.number], on)
        for event in events:
            if isinstance(event, Depart):
                key = (instance, event.phase)
                if event.phase.kind == "mbarrier":
                    on += device.mbarrier_try
                if self.pending.get(key, 0) > 0:
                    warp.time = on
                    self.waiting[key].append(warp)
                    return None
                done = self.done.get(key, 0.0)
                if done > on:
                    self.waits[event.phase.kind, op.line] += done - on
                    on = done
        if op.write >= 0:
            self._mark(warp, op.write, on + _STATE_READ)
        return on

    def _copy(self, warp: _Warp, copy: CopyFacts, time: float) -> None:
        """Issue a bulk copy."""
        device, sm = self.device, warp.sm
        start = max(self.tma[sm], time)
        self.tma[sm] = start + device.tma_issue_interval
        instance = warp.identity[0]
        if copy.destination == "shared" and copy.source == "global":
            target = self.sm_of.get((instance, copy.cta), sm)
            ready = self._fetch(target, start, copy.size, copy.size / copy.sharers)
            ready += device.tma_latency - device.l2_latency
            for phase in copy.phases:
                self._complete(instance, phase, ready)
        elif copy.destination == "global":
            warp.stored = max(warp.stored, self._put(sm, start, copy.size) + device.l2_latency)
        else:
            for phase in copy.phases:
                self._complete(instance, phase, start + device.remote_arrive)

    def _complete(self, instance: int, phase: PhaseKey, time: float) -> None:
        """Count one arrival or copy of a phase, which is there at `time`."""
        key = (instance, phase)
        self.done[key] = done = max(self.done.get(key, 0.0), time)
        self.pending[key] -= 1
        if self.pending[key] == 0:
            wake = self.device.mbarrier_wake if phase.kind == "mbarrier" else 0.0
            for warp in self.waiting.pop(key, ()):
                on = warp.time if done <= warp.time else done + wake  # it asks later than that: it never slept
                self.waits[phase.kind, 0] += on - warp.time
                self._queue(warp, on)
