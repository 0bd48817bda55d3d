"""Discrete events on the SMs of one cluster: warps issue their streams, and wait for what is busy or has not come.

In: streams of the clusters that these SMs get one after the other, how many are resident at once, the operations of
their kernel, a device, what memory gives. Out: cycles, and what was waited for. An instruction issues when its warp's
stall is over, its scoreboards are free, and the issue port of its sub-partition and its pipe are. Of several warps the
one that issued last goes on, unless its control code says to switch, else the youngest does (Huerta et al., MICRO 2025:
greedy, then youngest, guided by the compiler), so that one CTA loads while another one multiplies. Memory, copies and
phases say when their results come. A cluster starts as soon as another one has ended. Times are cycles of the SM's
clock. Deterministic.
"""

import heapq
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ptxsim.clock.devices import Device
from ptxsim.clock.recording.trace import Arrive, CopyFacts, CopyStart, Depart, PhaseKey, TraceEvent
from ptxsim.clock.replay.memory_path import MemoryPath, StepOf
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
from ptxsim.clock.replay.phases import Phases
from ptxsim.clock.replay.residency import ClusterStreams, ResidentCluster, ResidentCta, ResidentWarp
from ptxsim.clock.replay.timeline import Timeline, Track

#: Cycles within which an instruction has to read its registers. Source: Huerta et al., MICRO 2025.
_READ_WINDOW = 3
#: Cycles by which each CTA of an SM begins behind the one before.
_BETWEEN_CTAS = 37.0
#: Cycles until the operands of what has a result at any time, such as a special function, have been read; and until the
#: state of an arrival is there. Assumed: no publication was found.
_VARIABLE_READ, _STATE_READ = 8, 10
#: Cycles of stores that may be under way before their warp waits.
_STORE_BACKLOG = 400


@dataclass(frozen=True)
class Replayed:
    """Cycles until each cluster ended, in order; cycles that each unit of an SM was busy, and how many were issued.

    `busy` is that of the SM whose tensor pipes were busy longest; of what each sub-partition has, it is their mean.
    `waits` are the cycles of all warps by cause ("scoreboard", "product", "copies", "memory queue", the kind of a
    phase, "issue", or a pipe) and PTX line, of `warp_cycles` for which they are resident; `deadlocked` counts those
    that wait for ever.
    """

    ends: tuple[float, ...]
    busy: Mapping[str, float]
    issued: int
    waits: Mapping[tuple[str, int], float]
    warp_cycles: float
    deadlocked: int

    @property
    def cycles(self) -> float:
        """Cycles until the last cluster ended."""
        return max(self.ends, default=0.0)


class _Sm:
    """The units of one SM: issue ports and pipes of its sub-partitions, the way to memory, the unit of mbarriers."""

    def __init__(self, device: Device, step_of: StepOf, shared_bytes: int) -> None:
        self.parts = parts = int(device.subpartitions)
        self.port = [0.0] * parts
        self.banks = [(0.0, 0.0)] * parts
        self.pipes = [[0.0] * len(PIPES) for _ in range(parts)]
        self.pipe_busy = [0.0] * len(PIPES)
        self.last: list[ResidentWarp | None] = [None] * parts
        self.memory = MemoryPath(device, step_of, shared_bytes)
        self.arrivals = 0.0
        self.issued = 0

    @property
    def busy(self) -> dict[str, float]:
        """The cycles of each unit; of pipes and issue ports the mean of the sub-partitions."""
        pipes = {pipe.value: cycles / self.parts for pipe, cycles in zip(PIPES, self.pipe_busy, strict=True)}
        return {"issue": self.issued / self.parts, **pipes, **self.memory.busy}


class Replay:
    """One run of the model: `queue` are the clusters that the SMs get, `resident` of them are there at once.

    `shared_bytes` are those that the resident CTAs of an SM have, which L1 does not.
    """

    def __init__(
        self,
        operations: Sequence[SassOperation],
        copies: Sequence[CopyFacts],
        queue: Sequence[ClusterStreams],
        resident: int,
        device: Device,
        step_of: StepOf,
        timeline: Timeline | None = None,
        shared_bytes: int = 0,
    ) -> None:
        self._operations, self._copies, self._device = operations, copies, device
        self._queue, self._resident, self._timeline = queue, resident, timeline
        self._sms = [_Sm(device, step_of, shared_bytes) for _ in range(max(len(each.ctas) for each in queue))]
        self._phases: Phases[ResidentWarp] = Phases()
        self._waits: dict[tuple[str, int], float] = defaultdict(float)
        self._heap: list[tuple[float, int, ResidentWarp]] = []
        self._started = self._warps = self._ended = 0
        self._ends: list[float] = []
        self._lived = 0.0

    def run(self) -> Replayed:
        """Let all warps of all clusters come to their ends."""
        for place in range(min(self._resident, len(self._queue))):
            self._start(_BETWEEN_CTAS * place)
        heap = self._heap
        while heap:
            time, _, warp = heapq.heappop(heap)
            if warp.due != time:  # it has been first at this time
                continue
            last = self._sms[warp.cta.sm].last[warp.part]
            if last is not None and last is not warp and last.due == time:
                heapq.heappush(heap, (time, -warp.number, warp))
                warp = last
            warp.due = -1.0
            while time is not None:
                time = self._step(warp, time)
                if time is not None and heap and time >= heap[0][0]:  # also those that this step has woken
                    self._try(warp, time)
                    break
        busiest = max((each.busy for each in self._sms), key=lambda busy: (busy["tensor"], busy["issue"]))
        issued = sum(each.issued for each in self._sms)
        deadlocked = self._warps - self._ended
        return Replayed(tuple(self._ends), busiest, issued, dict(self._waits), self._lived, deadlocked)

    def _start(self, time: float) -> None:
        """Start the next cluster of the queue."""
        streams = self._queue[self._started]
        sm_of = {warps[0].cta: sm for sm, warps in enumerate(streams.ctas)}
        cluster = ResidentCluster(self._started, sum(map(len, streams.ctas)), sm_of)
        self._started += 1
        self._phases.begin(cluster.instance, streams.expected)
        for sm, warps in enumerate(streams.ctas):
            cta = ResidentCta(cluster, warps[0].cta, sm, time, len(warps))
            for stream in warps:
                warp = ResidentWarp(self._warps, cta, stream.warp % self._sms[sm].parts, stream, time=time)
                self._warps += 1
                self._try(warp, time)

    def _try(self, warp: ResidentWarp, time: float) -> None:
        """Let a warp try to issue at `time`: of all the youngest first."""
        warp.due = time
        heapq.heappush(self._heap, (time, -warp.number, warp))

    def _end(self, warp: ResidentWarp, time: float) -> None:
        """End a warp; the last one of its cluster makes place for the next one."""
        cta, cluster = warp.cta, warp.cta.cluster
        self._ended += 1
        self._lived += time - cta.since
        cta.left -= 1
        cluster.left -= 1
        if self._timeline and not cta.left:
            track = Track("CTA", cta.sm, cluster.instance, cta.number)
            self._timeline.add(track, f"CTA {cta.number}", 0, cta.since, time)
        if not cluster.left:
            self._phases.end(cluster.instance)
            self._ends.append(time)
            if self._started < len(self._queue):
                self._start(time + self._device.cta_replace)

    def _wait(self, warp: ResidentWarp, cause: str, line: int, start: float, end: float) -> None:
        """Count that a warp waits from `start` to `end`."""
        self._waits[cause, line] += end - start
        if self._timeline:
            cta = warp.cta
            track = Track("warp", cta.sm, cta.cluster.instance, cta.number, warp.stream.warp)
            self._timeline.add(track, cause, line, start, end)

    def _step(self, warp: ResidentWarp, time: float) -> float | None:
        """Issue the next instruction of a warp at `time` or say when that can be; None when others must come first."""
        stream = warp.stream
        if warp.place >= len(stream.instructions):
            if warp.stored > time:  # the place of the CTA is free when its stores have left
                stored, warp.stored = warp.stored, 0.0
                return stored
            self._end(warp, time)
            return None
        op = self._operations[stream.instructions[warp.place]]
        if op.waits:
            free = max(warp.boards[board] for board in op.waits)
            if free > time:
                self._wait(warp, "scoreboard", op.line, time, free)
                return free  # others may come first
        sm, part = self._sms[warp.cta.sm], warp.part
        port, pipes = sm.port, sm.pipes[part]
        even, odd = sm.banks[part]
        start = max(time, port[part], even + op.even - _READ_WINDOW, odd + op.odd - _READ_WINDOW)
        if start == time and GLOBAL_LOAD <= op.kind <= COPY_IN:
            room = sm.memory.load_store.room(part, time)
            if room > time:
                self._wait(warp, "memory queue", op.line, time, room)
                return room
        if op.pipe >= 0 and op.kind != PRODUCT:  # a warpgroup's product waits in the pipe, not its warp
            if pipes[op.pipe] > start:
                self._wait(warp, PIPES[op.pipe].value, op.line, time, pipes[op.pipe])
                return pipes[op.pipe]
            if start == time:
                pipes[op.pipe] = time + op.interval
                sm.pipe_busy[op.pipe] += op.interval
                if op.pipe == TENSOR:
                    self._show_product(warp, op, time)
        if start > time:
            self._wait(warp, "issue", op.line, time, start)
            return start
        port[part] = time + 1
        if op.even or op.odd:
            sm.banks[part] = max(even, time) + op.even, max(odd, time) + op.odd
        sm.issued += 1
        sm.last[part] = None if op.switches else warp
        place, on = warp.place, time + op.stall
        warp.place += 1
        return on if op.kind == PLAIN else self._act(warp, op, stream.events.get(place, ()), time, on)

    def _act(
        self, warp: ResidentWarp, op: SassOperation, events: Sequence[TraceEvent], time: float, on: float
    ) -> float | None:
        """Do what an instruction does beside issuing; returns when the warp goes on, None if others must come first."""
        kind = op.kind
        if kind == PRODUCT:
            return self._product(warp, op, time, on)
        if kind == GROUP_WAIT:
            while len(warp.groups) > op.count:
                ready = warp.groups.popleft()
                if ready > on:
                    self._wait(warp, "product", op.line, on, ready)
                    on = ready
            return on
        if kind == BOARD_WAIT:
            return self._wait_for_board(warp, op, on)
        if kind == VARIABLE:
            warp.mark(op.write, time + op.latency)
            warp.mark(op.read, time + _VARIABLE_READ)
            return on
        if kind == COMMIT:
            warp.mark(op.write, max(time, warp.copies))
            return on
        if kind in (GLOBAL_LOAD, SHARED_ACCESS, GLOBAL_STORE, COPY_IN):
            return self._access(warp, op, events, time, on)
        return self._synchronise(warp, op, events, time, on)

    def _show_product(self, warp: ResidentWarp, op: SassOperation, start: float) -> None:
        if self._timeline:
            track = Track("tensor", warp.cta.sm, unit=warp.part)
            self._timeline.add(track, "tensor", op.line, start, start + op.interval)

    def _product(self, warp: ResidentWarp, op: SassOperation, time: float, on: float) -> float:
        sm = self._sms[warp.cta.sm]
        start = max(time, sm.pipes[warp.part][TENSOR])
        sm.pipes[warp.part][TENSOR] = start + op.interval
        sm.pipe_busy[TENSOR] += op.interval
        sm.memory.busy["shared memory"] += op.shared_bytes / self._device.shared_bytes_per_cycle
        self._show_product(warp, op, start)
        warp.group = start + op.interval + self._device.wgmma_tail
        if op.ends_group:
            warp.groups.append(warp.group)
        return on

    def _wait_for_board(self, warp: ResidentWarp, op: SassOperation, on: float) -> float:
        if op.board < 0:
            return on
        left = warp.open_boards[op.board]
        while left and left[0] <= on:
            left.popleft()
        while len(left) > op.count:
            ready = left.popleft()
            if ready > on:
                self._wait(warp, "copies", op.line, on, ready)
                on = ready
        return on

    def _access(
        self, warp: ResidentWarp, op: SassOperation, events: Sequence[TraceEvent], time: float, on: float
    ) -> float:
        cta = warp.cta
        owner = cta.cluster.instance, cta.number
        found = self._sms[cta.sm].memory.access(op, events, warp.part, time, cta.cluster.read, owner)
        if op.kind == GLOBAL_STORE:
            warp.stored = max(warp.stored, found.ready)
            on = max(on, on + found.ready - time - _STORE_BACKLOG)
        if op.kind == COPY_IN:
            warp.copies = max(warp.copies, found.ready)
        cta.cluster.read += found.read
        warp.mark(op.write, found.ready)
        warp.mark(op.read, found.operands_read)
        return on

    def _synchronise(
        self, warp: ResidentWarp, op: SassOperation, events: Sequence[TraceEvent], time: float, on: float
    ) -> float | None:
        device, cta = self._device, warp.cta
        state = on + _STATE_READ
        for event in events:
            if isinstance(event, Arrive):
                state = max(state, self._arrive(warp, event, time) + _STATE_READ)
            elif isinstance(event, CopyStart):
                self._copy(warp, op, self._copies[event.number], on)
        for event in events:
            if isinstance(event, Depart):
                phase = event.phase
                if phase.kind == "mbarrier":
                    on += device.mbarrier_try
                over = self._phases.over(cta.cluster.instance, phase)
                if over is None:
                    warp.time, warp.waits_at = on, op.line
                    self._phases.wait(cta.cluster.instance, phase, warp)
                    return None
                if over > on:
                    self._wait(warp, phase.kind, op.line, on, over)
                    on = over
        if op.write >= 0:
            warp.mark(op.write, max(state, on + _STATE_READ))
        return on

    def _arrive(self, warp: ResidentWarp, event: Arrive, time: float) -> float:
        """Arrive at a phase: when the unit that counts arrivals, one lane after the other, has done with it."""
        device, phase, cta = self._device, event.phase, warp.cta
        if phase.kind != "mbarrier":
            latency = device.barrier_latency if phase.kind == "barrier" else device.cluster_barrier
            self._complete(cta.cluster.instance, phase, time + latency)
            return time
        sm = self._sms[cta.sm]
        sm.arrivals = max(sm.arrivals, time) + event.lanes * device.mbarrier_lane_interval
        sm.memory.busy["mbarriers"] += event.lanes * device.mbarrier_lane_interval
        latency = device.mbarrier_arrive if phase.cta == cta.number else device.remote_arrive
        self._complete(cta.cluster.instance, phase, sm.arrivals + latency)
        return sm.arrivals

    def _copy(self, warp: ResidentWarp, op: SassOperation, copy: CopyFacts, time: float) -> None:
        """Issue a bulk copy."""
        cta, memory = warp.cta, self._sms[warp.cta.sm].memory
        start = memory.start_copy(time)
        instance = cta.cluster.instance
        if copy.destination == "shared" and copy.source == "global":
            target = cta.cluster.sm_of.get(copy.cta, cta.sm)
            ready = self._sms[target].memory.copy_in(start, copy.size, cta.cluster.read, copy.sharers)
            cta.cluster.read += copy.size / copy.sharers
            for phase in copy.phases:
                self._complete(instance, phase, ready)
        elif copy.destination == "global":
            ready = memory.copy_out(start, copy.size, cta.cluster.read)
            warp.stored = max(warp.stored, ready)
        else:
            ready = start + self._device.remote_arrive
            for phase in copy.phases:
                self._complete(instance, phase, ready)
        if self._timeline:
            name = f"{copy.source} to {copy.destination}, {copy.size} bytes"
            self._timeline.add(Track("copies", cta.sm), name, op.line, start, ready)

    def _complete(self, instance: int, phase: PhaseKey, time: float) -> None:
        """Count one arrival or copy of a phase, which is there at `time`."""
        over, waiters = self._phases.complete(instance, phase, time)
        wake = self._device.mbarrier_wake if phase.kind == "mbarrier" else 0.0
        for warp in waiters:
            on = warp.time if over <= warp.time else over + wake  # it asks later than that: it never slept
            self._wait(warp, phase.kind, warp.waits_at, warp.time, on)
            self._try(warp, on)
