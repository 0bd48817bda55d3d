"""What memory gives the SMs of a launch, by how far its clusters are: shares of L2 and HBM, rates, and the totals.

In: a recorded cluster, the launch, a device, how many clusters are resident. Out: a `MemoryModel`, frozen data.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, prod

import numpy as np

from ptxsim.clock.devices import Device
from ptxsim.clock.memory.l2 import L2Shape, L2State, StepTraffic
from ptxsim.clock.memory.offsets import (
    ClusterOffsets,
    FirstAccesses,
    LaunchOfKernel,
    clusters_to_run,
    offsets_of_clusters,
)
from ptxsim.clock.memory.requests import CHUNK_BYTES, ClusterRequests, requests_of
from ptxsim.clock.memory.wave import Wave, array_places
from ptxsim.clock.recording.recorder import Recorder
from ptxsim.clock.recording.trace import Recording
from ptxsim.report import Report

#: Waves that are looked at one by one; those after them are as the last of them.
_WAVES = 2


@dataclass(frozen=True)
class MemoryStep:
    """What memory does for an SM while its cluster is at a step.

    Shares are of the bytes that it reads: `near_share` waits for its own partition of L2, `far_share` for the other
    one, `memory_share` for HBM; `hbm_share` is what HBM has to give of a byte that is read, as one SM's line is the
    line of all who ask for it. Rates are of one SM, in bytes a cycle of the nominal clock, if all ask at the same time.
    That of L2 has the fullest slice decide: it is divided by `imbalance`, the fullest one over the mean of the lines of
    a step. That is the most that uneven slices cost, as if all SMs waited for it at the end of each step.
    """

    near_share: float
    far_share: float
    memory_share: float
    hbm_share: float
    l2_bytes_per_cycle: float
    hbm_bytes_per_cycle: float
    imbalance: float


@dataclass(frozen=True)
class MemoryModel:
    """What memory gives a launch.

    `steps` have `step_bytes` of a cluster's reads each, the mean of all waves. Totals are bytes of the whole launch:
    `requested_bytes` by all SMs, `hbm_read_bytes`, `hbm_written_bytes`; `far_bytes` went between partitions. `cycles`
    is the least that L2 and HBM need for it, the longer of the two in each step; `imbalance` the mean of the fullest
    slice over the mean. `is_exact` is false if what other clusters read is put together and a check failed.
    """

    step_bytes: float
    steps: tuple[MemoryStep, ...]
    waves: float
    requested_bytes: float
    hbm_read_bytes: float
    hbm_written_bytes: float
    far_bytes: float
    cycles: float
    imbalance: float
    clusters_run: int
    is_exact: bool

    @property
    def hit_share(self) -> float:
        """The share of bytes that SMs find in their own partition of L2, a line that is on its way counted as there."""
        missed = self.far_bytes + self.hbm_read_bytes
        return max(0.0, 1 - missed / self.requested_bytes) if self.requested_bytes else 1.0

    def at(self, bytes_read: float) -> MemoryStep:
        """What memory does for a cluster that has read so many bytes."""
        return self.steps[min(len(self.steps) - 1, max(0, int(bytes_read / self.step_bytes)))]


@dataclass(frozen=True)
class RecordedWave:
    """A recorded cluster, how far from it those of the first waves read, and what the launch has found."""

    recording: Recording
    offsets: ClusterOffsets
    report: Report


def record_wave(launch: LaunchOfKernel, resident: int, checks: Sequence[str] = ("barriers",)) -> RecordedWave:
    """Record the first cluster of a launch, and in the same launch what the others touch first.

    `resident` clusters run at the same time on the device.

    Raises:
        InputError, PtxError: as `Module.launch_observed`.
    """
    count, recorder = min(prod(launch.across), resident * _WAVES), Recorder()
    observer = FirstAccesses(0, recorder)
    report = launch.observe(observer, clusters_to_run(launch, 0, count), checks)
    return RecordedWave(recorder.recording(), offsets_of_clusters(launch, 0, count, observer), report)


def memory_model_of(
    recording: Recording, offsets: ClusterOffsets, device: Device, resident: int, warm: bool = True
) -> MemoryModel:
    """The memory model of a launch, from the first cluster of its recording.

    `resident` clusters run at the same time, the next ones follow in order. `offsets` are from that cluster, of the
    first two waves at least. `warm`: the same launch has just run, as in benchmarks; otherwise no array is in L2.
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
) -> MemoryModel:
    """The memory model of `count` clusters, `resident` at a time, from what one of them reads."""
    shape, chunks = L2Shape.of(device), array_places(offsets)[1]
    state = L2State(shape, chunks)
    waves = ceil(count / resident)
    known = [
        Wave(shape, int(device.sms), cluster_ctas, requests, offsets, range(start, min(start + resident, count)))
        for start in range(0, min(waves, _WAVES) * resident, resident)
    ]
    if warm and waves <= _WAVES:
        for wave in known:
            _run(wave, state)
    elif warm and chunks * CHUNK_BYTES <= shape.size_bytes // shape.partitions:
        state.hold(np.arange(chunks))
    traffic = [_run(wave, state) for wave in known]
    weights = np.ones(len(known))
    weights[-1] += (count - len(known) * resident) / resident if waves > len(known) else 0
    return _model(requests, offsets, device, traffic, weights, min(int(device.sms), resident * cluster_ctas), count)


def _run(wave: Wave, state: L2State) -> list[StepTraffic]:
    found = []
    for number in range(len(wave.requests.reads)):
        step = wave.step(number)
        traffic = state.read(step.chunks, step.requests, step.sector_bytes)
        state.occupy((step.own_read + step.own_written) / CHUNK_BYTES)
        found.append(
            StepTraffic(
                traffic.requested + step.own_read,
                traffic.near,
                traffic.far_waits,
                traffic.memory_waits + step.own_read,
                traffic.far,
                traffic.memory + step.own_read,
                traffic.imbalance,
            )
        )
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
    """The mean of the waves, each of its weight: [waves, steps, 7] → steps and totals."""
    table = np.array([[list(vars(step).values()) for step in wave] for wave in traffic])
    requested, near, far_waits, memory_waits, far, memory, imbalance = np.tensordot(weights, table, 1).T
    imbalance = imbalance / weights.sum()
    l2_rate, hbm_rate = float(device.l2_bytes_per_cycle), device.memory_bytes_per_cycle
    steps = []
    for at in range(len(requested)):
        read = max(1.0, requested[at])
        near_share, far_share = float(near[at] / read), float(far_waits[at] / read)
        shares = near_share, far_share, float(memory_waits[at] / read), float(memory[at] / read)
        rate = float(min(device.l2_port_bytes_per_cycle, l2_rate / imbalance[at] / sms))
        steps.append(MemoryStep(*shares, rate, hbm_rate / sms, float(imbalance[at])))
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
        float(cycles.sum()),
        mean,
        offsets.ran,
        offsets.exact,
    )
