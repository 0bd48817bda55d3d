"""How long a launch would take: a cluster is recorded, replayed with its neighbours, and carried over to the grid.

In: a module of the simulator, its PTX, a launch, a device. Out: an `Estimate`.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, prod

import numpy as np

from ptxsim.clock.devices import Device, device_of
from ptxsim.clock.occupancy import Occupancy, occupancy_of
from ptxsim.clock.recording.recorder import Recorder
from ptxsim.clock.recording.trace import MemoryRequest, Recording
from ptxsim.clock.replay.operations import operation_of
from ptxsim.clock.replay.path import PathFinder
from ptxsim.clock.replay.sm import MemoryShare, Replay, Replayed
from ptxsim.clock.replay.stream import StreamMaker, WarpStream
from ptxsim.clock.sass.kernel_costs import sass_of
from ptxsim.clock.sass.straight_runs import ptx_runs
from ptxsim.errors import InputError
from ptxsim.launch import Dim3
from ptxsim.memory.traffic import SECTOR_BYTES
from ptxsim.module import Module
from ptxsim.tensor_maps.tensor_map import TensorMap

#: The share of the PTX's anchors that has to be found in the SASS.
_LEAST_MATCHED = 0.95


@dataclass(frozen=True)
class Estimate:
    """The time of a launch: cycles of the SM's clock, and seconds at the nominal clock, with the launch itself.

    `tensor_share` is how much of the time the tensor pipes are busy, `waits` are cycles of an average warp by cause and
    PTX line, `matched` the share of the PTX's anchors that were found in the SASS: 0.95 at least.
    """

    device: str
    cycles: float
    seconds: float
    occupancy: Occupancy
    rounds: int
    tensor_share: float
    waits: Mapping[tuple[str, int], float]
    matched: float


def estimate_launch(
    module: Module,
    ptx: str,
    kernel: str,
    grid: Dim3,
    block: Dim3,
    args: Sequence[object],
    device: str = "h100",
    dynamic_shared_bytes: int = 0,
    cluster: Dim3 = (1, 1, 1),
) -> Estimate:
    """The time that a launch of a kernel would take; `args` are those of `Module.launch`, and are changed as by it.

    Raises:
        InputError: there is no such kernel or device, the launch does not fit, its first cluster waits for another one,
            its way through the PTX is not found in the SASS, ptxas or nvdisasm is missing.
        PtxError: the kernel is refused, by the simulator or by ptxas.
    """
    model = device_of(device)
    recorder = Recorder()
    options = dynamic_shared_bytes, cluster, [0], ("barriers",)
    report = module.launch_observed(recorder, kernel, grid, block, args, *options)
    if deadlocks := [finding for finding in report.findings if finding.kind == "deadlock"]:
        raise InputError(
            f"the recorded cluster does not end: line {deadlocks[0].line} {deadlocks[0].message}; give a kernel whose "
            "clusters do not wait for each other"
        )
    recording = recorder.recording()
    sass = sass_of(ptx, model.arch, kernel)
    maker = StreamMaker(sass.code, PathFinder(ptx_runs(sass.code), sass.function))
    streams: dict[int, list[WarpStream]] = defaultdict(list)
    for trace in recording.warps:
        streams[trace.cta].append(maker.stream(trace))
    occupancy = occupancy_of(model, prod(block), sass.resources.registers, recording.shared_bytes)
    clusters = prod(grid) // prod(cluster)
    places = max(1, int(model.sms) * occupancy.ctas // prod(cluster))
    rounds = ceil(clusters / places)
    resident = min(occupancy.ctas, ceil(clusters * prod(cluster) / int(model.sms)))
    share = MemoryShare(
        model.l2_bytes_per_cycle / model.sms,
        model.memory_bytes_per_cycle / model.sms,
        _hit_share(recording, args, clusters),
    )
    operations = [operation_of(each, model) for each in sass.function.instructions]
    residents = [(sm, streams[cta]) for _ in range(resident) for sm, cta in enumerate(sorted(streams))]
    replayed = Replay(operations, recording.copies, residents, model, share).run()
    return _carried_over(model, replayed, occupancy, rounds, [each for row in streams.values() for each in row])


def _hit_share(recording: Recording, args: Sequence[object], clusters: int) -> float:
    """The share of what CTAs read that L2 has: all but the first time of each byte of the arrays."""
    held = {id(array): array.nbytes for array in map(_array, args) if array is not None}
    sectors = sum(
        event.units
        for trace in recording.warps
        for run in trace.runs
        for event in run.events
        if isinstance(event, MemoryRequest) and event.space == "global" and event.kind == "load"
    )
    copied = sum(each.size for each in recording.copies if each.source == "global")
    read = (sectors * SECTOR_BYTES + copied) * clusters
    return max(0.0, 1 - sum(held.values()) / read) if read else 1.0


def _array(argument: object) -> np.ndarray | None:
    array = argument.global_address if isinstance(argument, TensorMap) else argument
    return array if isinstance(array, np.ndarray) else None


def _carried_over(
    device: Device, replayed: Replayed, occupancy: Occupancy, rounds: int, streams: Sequence[WarpStream]
) -> Estimate:
    if replayed.deadlocked:
        raise InputError(
            f"{replayed.deadlocked} warps of the recorded cluster wait for what never comes in the replay: what they "
            "do depends on other clusters, or on time; give a kernel whose clusters do not wait for each other"
        )
    anchors = sum(each.path.anchors for each in streams)
    lost = sum(each.path.missed + each.path.extra for each in streams)
    matched = max(0.0, 1 - lost / anchors) if anchors else 1.0
    if matched < _LEAST_MATCHED:
        raise InputError(
            f"the way of the warps is not found in the SASS that ptxas makes: {matched:.0%} of what accesses memory, "
            f"multiplies matrices or synchronises, of {_LEAST_MATCHED:.0%} that are needed; give a kernel whose warps "
            "all go one way"
        )
    cycles = device.cta_start + rounds * replayed.cycles
    count = max(1, len(streams))
    return Estimate(
        device.name,
        cycles,
        cycles / device.nominal_hz + device.launch_seconds,
        occupancy,
        rounds,
        replayed.tensor_busy / replayed.cycles,
        {cause: waited / count for cause, waited in sorted(replayed.waits.items(), key=lambda each: -each[1])},
        matched,
    )
