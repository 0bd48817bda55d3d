"""What memory gives the SMs of a launch, by how far its clusters are: shares of L2 and HBM, rates, and the totals.

In: a recorded cluster, the launch, a device, how many clusters are resident. Out: a `MemoryModel`, frozen data.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from ptxsim.clock.devices import Device
from ptxsim.clock.kernel_launch import KernelLaunch
from ptxsim.clock.memory.drift import DRIFT, delays_of, drifted_traffic
from ptxsim.clock.memory.l2 import L2Shape, L2State, StepTraffic
from ptxsim.clock.memory.offsets import (
    ClusterOffsets,
    observe_clusters,
    offsets_of_clusters,
)
from ptxsim.clock.memory.requests import L2_CHUNK_BYTES, ClusterRequests, requests_of
from ptxsim.clock.memory.rounds import Round, array_places
from ptxsim.clock.recording.recorder import Recorder
from ptxsim.clock.recording.trace import Recording
from ptxsim.loaded_module import LoadedModule
from ptxsim.report import Report

#: Rounds that are looked at one by one. Of more, the first one is, and those after it are as one in the middle.
_ROUNDS = 2


@dataclass(frozen=True)
class MemoryStep:
    """What memory does for an SM while its cluster is at a step.

    Shares are of the bytes that it reads: `near_share` waits for its own partition of L2, `far_share` for the other
    one, `memory_share` for HBM; who asks for a line that is on its way waits for what is left of that, half of it on
    average. `hbm_share` is what HBM has to give of a byte that is read, as one SM's line is the line of all who ask for
    it. Rates are of one SM, in bytes a cycle of the nominal clock, if all ask at the same time. Slices are taken to be
    as full as each other: lines under way are more than those of a step, and published kernels refute the rate that the
    fullest slice of a step would allow.
    """

    near_share: float
    far_share: float
    memory_share: float
    hbm_share: float
    l2_bytes_per_cycle: float
    hbm_bytes_per_cycle: float


@dataclass(frozen=True)
class MemoryModel:
    """What memory gives a launch.

    `steps` have `step_bytes` of a cluster's reads each, the mean of all rounds. Totals are bytes of the whole launch:
    `requested_bytes` by all SMs, `hbm_read_bytes`, `hbm_written_bytes`; `far_bytes` went between partitions,
    `missed_bytes` were lacked by the partition that was asked. `cycles` is the least that L2 and HBM need for it, the
    longer of the two in each step, if the fullest slice decides; `imbalance` is that over the mean slice. `is_exact` is
    false if what other clusters read is put together and a check failed.
    """

    step_bytes: float
    steps: tuple[MemoryStep, ...]
    rounds: float
    requested_bytes: float
    hbm_read_bytes: float
    hbm_written_bytes: float
    far_bytes: float
    missed_bytes: float
    cycles: float
    imbalance: float
    is_exact: bool

    @property
    def hit_share(self) -> float:
        """The share of bytes that SMs find in their own partition of L2, a line that is on its way counted as there."""
        return max(0.0, 1 - self.missed_bytes / self.requested_bytes) if self.requested_bytes else 1.0

    def at(self, bytes_read: float) -> MemoryStep:
        """What memory does for a cluster that has read so many bytes."""
        return self.steps[min(len(self.steps) - 1, max(0, int(bytes_read / self.step_bytes)))]


@dataclass(frozen=True)
class RecordedRound:
    """A recorded cluster, how far from it those of the first rounds read, and what the launch has found."""

    recording: Recording
    offsets: ClusterOffsets
    report: Report


def record_round(
    module: LoadedModule, launch: KernelLaunch, resident: int, recorded: Sequence[int] = ()
) -> RecordedRound:
    """Record the first cluster of a launch and those that are `recorded`, and find what the others touch first.

    The recorded ones run alone, so that one that waits for others does not end. `resident` clusters run at the same
    time on the device.

    Raises:
        InputError, PtxError: as `LoadedModule.launch_observed`.
    """
    count, recorder = min(launch.clusters, resident * _ROUNDS), Recorder()
    report = observe_clusters(module, launch, recorder, sorted({0, *recorded}), checks=("barriers",))
    return RecordedRound(recorder.recording(), offsets_of_clusters(module, launch, 0, count), report)


def memory_model_of(
    recording: Recording, offsets: ClusterOffsets, device: Device, resident: int, warm: bool = True
) -> MemoryModel:
    """The memory model of a launch, from the first cluster of its recording.

    `resident` clusters run at the same time, the next ones follow in order. `offsets` are from that cluster, of the
    first two rounds at least. `warm`: the same launch has just run, as in benchmarks; otherwise no array is in L2.
    """
    requests = requests_of(recording, min(recording.cluster_ctas), offsets.ranges, _step_bytes(recording, device))
    size = prod(recording.cluster)
    count = prod(recording.grid) // size
    return model_of_requests(requests, offsets, device, min(resident, count), count, size, warm)


def _step_bytes(recording: Recording, device: Device) -> float:
    """How far a cluster may be ahead of others, bytes.

    It is what its shared memory takes, or what is on its way from L2 at the rate of its port (Little's law).
    """
    ctas = prod(recording.cluster)
    return max(recording.shared_bytes, device.l2_latency * device.l2_port_bytes_per_cycle) * ctas


def model_of_requests(
    requests: ClusterRequests,
    offsets: ClusterOffsets,
    device: Device,
    resident: int,
    count: int,
    cluster_ctas: int = 1,
    warm: bool = True,
    drift: float = DRIFT,
) -> MemoryModel:
    """The memory model of `count` clusters, `resident` at a time, from what one of them reads.

    `drift` is how much the times of like clusters differ; see `drift`. With 0 all rounds are in step.
    """
    shape, chunks = L2Shape.of(device), array_places(offsets)[1]
    state, rounds = L2State(shape, chunks), count / resident

    def round_of(clusters: Sequence[int], slots: Sequence[int]) -> Round:
        return Round(shape, int(device.sms), cluster_ctas, requests, offsets, clusters, slots)

    places = [range(start, min(start + resident, count)) for start in range(0, count, resident)[:_ROUNDS]]
    known = [round_of(each, range(len(each))) for each in places]
    held = None
    if warm and rounds <= _ROUNDS:
        for each_round in known:
            _run(each_round, state)
    elif warm and chunks * L2_CHUNK_BYTES <= shape.size_bytes // shape.partitions:
        state.hold(held := np.arange(chunks))
    if rounds > _ROUNDS and drift:
        first = _run(known[0], state)
        delays = delays_of(resident, len(first), rounds, drift)
        later = drifted_traffic(state, round_of, delays, len(first), held)
        in_step = [replace(each, imbalance=one.imbalance) for each, one in zip(later, first, strict=True)]
        traffic, weights = [first, in_step], np.array([1, rounds - 1])
    else:
        traffic, weights = [_run(each_round, state) for each_round in known], np.ones(len(known))
        weights[-1] = rounds - len(known) + 1 if rounds > _ROUNDS else 1
    return _model(requests, offsets, device, traffic, weights, min(int(device.sms), resident * cluster_ctas), count)


def _run(each_round: Round, state: L2State) -> list[StepTraffic]:
    found = []
    for number in range(len(each_round.requests.reads)):
        step = each_round.step(number)
        traffic = state.read(step.chunks, step.requests, step.sector_bytes)
        state.occupy((step.own_read + step.own_written) / L2_CHUNK_BYTES)
        found.append(traffic.with_own(step.own_read))
    return found


def _model(
    requests: ClusterRequests,
    offsets: ClusterOffsets,
    device: Device,
    traffic: Sequence[Sequence[StepTraffic]],
    weights: np.ndarray,
    sms: int,
    count: int,
) -> MemoryModel:
    """The mean of the rounds, each of its weight: [rounds, steps, 8] → steps and totals."""
    table = np.array([[list(vars(step).values()) for step in each_round] for each_round in traffic])
    requested, near, far_waits, memory_waits, far, memory, missed, imbalance = np.tensordot(weights, table, 1).T
    imbalance = imbalance / weights.sum()
    l2_rate, hbm_rate = float(device.l2_bytes_per_cycle), device.memory_bytes_per_cycle
    steps = []
    for at in range(len(requested)):
        read = max(1.0, float(requested[at]))
        late = [
            max(0.0, all_wait - once) / 2
            for all_wait, once in ((far_waits[at], far[at]), (memory_waits[at], memory[at]))
        ]
        steps.append(
            MemoryStep(
                near_share=float(near[at] + sum(late)) / read,
                far_share=float(far_waits[at] - late[0]) / read,
                memory_share=float(memory_waits[at] - late[1]) / read,
                hbm_share=float(memory[at]) / read,
                l2_bytes_per_cycle=float(min(device.l2_port_bytes_per_cycle, l2_rate / sms)),
                hbm_bytes_per_cycle=hbm_rate / sms,
            )
        )
    written = float(requests.written_bytes) * count
    of_step = written / len(steps)
    cycles = np.maximum(
        requested / np.minimum(l2_rate / imbalance, sms * device.l2_port_bytes_per_cycle), (memory + of_step) / hbm_rate
    )
    mean = float((imbalance * requested).sum() / max(1.0, requested.sum()))
    return MemoryModel(
        requests.step_bytes,
        tuple(steps),
        float(weights.sum()),
        float(requested.sum()),
        float(memory.sum()),
        written,
        float(far.sum()),
        float(missed.sum()),
        float(cycles.sum()),
        mean,
        offsets.exact,
    )
