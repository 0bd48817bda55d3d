"""How long a launch would take: some clusters are recorded, replayed as SMs run them, and carried over to the grid.

In: a module of the simulator, a launch, a device. Out: an `Estimate`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from ptxsim.clock.code_source import between_bounds, code_in_use
from ptxsim.clock.devices import Device, device_of, require_target
from ptxsim.clock.estimate import Estimate
from ptxsim.clock.grid import RECORDED_CLUSTERS, Schedule, schedule_of
from ptxsim.clock.kernel_code import KernelCode, sass_code
from ptxsim.clock.kernel_launch import KernelLaunch
from ptxsim.clock.memory.model import MemoryModel, RecordedRound, memory_model_of, record_round
from ptxsim.clock.occupancy import Occupancy, occupancy_of
from ptxsim.clock.power import clock_under_power
from ptxsim.clock.recording.trace import Recording
from ptxsim.clock.replay.residency import ClusterStreams
from ptxsim.clock.replay.sm import Replay, Replayed
from ptxsim.clock.replay.stream import WarpStream
from ptxsim.clock.replay.timeline import Timeline
from ptxsim.clock.sass.anchor_lines import is_wait_test
from ptxsim.clock.uncertainty import cautions_of, executed_of, uncertainties_of, uncertainties_of_way
from ptxsim.clock.weighed_code import BOUNDS, weighed_code
from ptxsim.engine.executable import Executable
from ptxsim.errors import InputError
from ptxsim.kernels import kernels_of
from ptxsim.loaded_module import LoadedModule
from ptxsim.machine.site import Site

#: The share of the PTX's anchors that has to be found in the SASS.
_LEAST_MATCHED = 0.95
#: The instructions of SASS for one of PTX, at least: ptxas makes fewer than half of very few kernels.
_LEAST_OF_PTX = 0.25

#: The streams of a cluster's warps, by CTA.
_Streams = Sequence[Sequence[WarpStream]]


def estimate_launch(
    launch: KernelLaunch,
    device: str = "h100",
    recorded: int = RECORDED_CLUSTERS,
    timeline: Timeline | None = None,
    module: LoadedModule | None = None,
    code: str | None = None,
    warm: bool = True,
) -> Estimate:
    """The time that a launch would take; its arguments are changed as by `Module.launch`.

    `recorded` clusters of the grid are run on the simulator, spread over it; `timeline` gets what the replay did;
    `module` is that of the text, if its variables were written. `code` is "sass" or "weights", what the time is made of
    (`code_source.CODES`); None is what TINYC_CLOCK_CODE names, else the SASS where there are ptxas and nvdisasm.
    `warm`: L2 has what the same launch has left there, as benchmarks repeat it; otherwise none of its arrays.

    Raises:
        InputError: there is no such kernel or device, the launch does not fit, a recorded cluster waits for another
            one, its way through the PTX is not found in the SASS, ptxas or nvdisasm is missing.
        PtxError: the kernel is refused, by the simulator or by ptxas.
    """
    model = device_of(device)
    loaded = module or LoadedModule.of_text(launch.ptx)
    require_target(model, loaded.target)
    loaded.check_launch(launch.kernel, launch.grid, launch.block, launch.cluster, launch.dynamic_shared_bytes)
    if code_in_use(code) == "sass":
        codes = {"sass": sass_code(launch.ptx, launch.kernel, model)}
    else:
        threads = prod(launch.block)
        codes = {bound: weighed_code(launch.ptx, launch.kernel, model, threads, bound) for bound in BOUNDS}
    shared_bytes = loaded.shared_memory(launch.kernel).static_bytes + launch.dynamic_shared_bytes
    plans = [_Plan.of(launch, model, each, shared_bytes) for each in codes.values()]
    done = _recorded(loaded, launch, max(each.schedule.at_once for each in plans), recorded)
    found = [_replayed(plan, done, timeline if plan is plans[0] else None, warm) for plan in plans]
    return found[0] if len(found) == 1 else between_bounds(dict(zip(codes, found, strict=True)))


@dataclass(frozen=True)
class _Plan:
    """A launch on a device with one code of its kernel: how many CTAs an SM holds, and which clusters it gets.

    `shared_bytes` are those of all CTAs that an SM holds, which leave the rest to L1.
    """

    launch: KernelLaunch
    device: Device
    code: KernelCode
    occupancy: Occupancy
    schedule: Schedule
    shared_bytes: int

    @classmethod
    def of(cls, launch: KernelLaunch, device: Device, code: KernelCode, shared_bytes: int) -> "_Plan":
        occupancy = occupancy_of(device, prod(launch.block), code.resources.registers, shared_bytes)
        schedule = schedule_of(device, launch.clusters, prod(launch.cluster), occupancy.ctas)
        return cls(launch, device, code, occupancy, schedule, occupancy.ctas * shared_bytes)


def _replayed(plan: _Plan, done: RecordedRound, timeline: Timeline | None, warm: bool) -> Estimate:
    """The estimate by one code of the kernel."""
    recording, device, schedule, code = done.recording, plan.device, plan.schedule, plan.code
    streams = {number: _streams_of(recording, ctas, code) for number, ctas in recording.cluster_ctas.items()}
    queue = _queue_of(plan.launch, recording, streams, schedule)
    memory = memory_model_of(recording, done.offsets, device, schedule.at_once, warm)
    options = schedule.resident, device, memory.at, timeline, plan.shared_bytes
    replayed = Replay(code.operations, recording.copies, queue, *options).run()
    return _Found(plan, recording, streams, memory, replayed).estimate()


def _recorded(module: LoadedModule, launch: KernelLaunch, at_once: int, count: int) -> RecordedRound:
    """The recording of `count` clusters: the first, the last, and others between them; and where others read."""
    numbers = sorted({round(at * (launch.clusters - 1) / max(1, count - 1)) for at in range(count)})
    done = record_round(module, launch, at_once, numbers)
    if deadlocks := [finding for finding in done.report.findings if finding.kind == "deadlock"]:
        raise InputError(
            f"a recorded cluster does not end: line {deadlocks[0].line} {deadlocks[0].message}; give a kernel whose "
            "clusters do not wait for each other"
        )
    if traps := [finding for finding in done.report.findings if finding.kind == "trap"]:
        raise InputError(f"line {traps[0].line}: {traps[0].message}; give a launch that runs to its end")
    return done


def _streams_of(recording: Recording, ctas: Sequence[int], code: KernelCode) -> _Streams:
    """The streams of a cluster's warps, by CTA."""
    return [[code.stream_of(trace) for trace in recording.warps if trace.cta == cta] for cta in ctas]


def _queue_of(
    launch: KernelLaunch, recording: Recording, streams: Mapping[int, _Streams], schedule: Schedule
) -> list[ClusterStreams]:
    """The clusters that the busiest SMs get, each as the recorded one that is nearest to it in the grid."""
    size = prod(launch.cluster)
    number_of = {min(ctas) // size: key for key, ctas in recording.cluster_ctas.items()}
    made = {key: ClusterStreams.of(each, recording.copies) for key, each in streams.items()}
    places = range(schedule.replayed)
    return [made[number_of[schedule.recorded_for(place, sorted(number_of), launch.clusters)]] for place in places]


@dataclass(frozen=True)
class _Found:
    """What is known of a launch when it has been replayed."""

    plan: _Plan
    recording: Recording
    streams: Mapping[int, _Streams]
    memory: MemoryModel
    replayed: Replayed

    def estimate(self) -> Estimate:
        """The estimate of all that."""
        launch, device, schedule, replayed = self.plan.launch, self.plan.device, self.plan.schedule, self.replayed
        if replayed.deadlocked:
            raise InputError(
                f"{replayed.deadlocked} warps of the recorded clusters wait for what never comes in the replay: what "
                "they do depends on other clusters, or on time; give a kernel whose clusters do not wait for each other"
            )
        matched = self._matched()
        cycles = device.cta_start + schedule.carried_over(replayed.ends)
        # what is stored may leave L2 when the launch has ended
        shares = {name: min(1.0, busy / replayed.cycles) for name, busy in replayed.busy.items() if busy}
        clock_hz = clock_under_power(device, shares)
        seconds = cycles / clock_hz + device.launch_seconds
        times = launch.clusters / len(self.streams)
        work = self.plan.code.work(self._warps)
        waits = sorted(replayed.waits.items(), key=lambda each: -each[1])
        executed = sorted(executed_of(self.recording))
        sites = self._sites
        return Estimate(
            device=device,
            kernel=launch.kernel,
            cycles=cycles,
            clock_hz=clock_hz,
            occupancy=self.plan.occupancy,
            schedule=schedule,
            tensor_flops=work.tensor * times,
            other_flops=work.other * times,
            memory_bytes=self.memory.hbm_read_bytes + self.memory.hbm_written_bytes,
            l2_bytes=self.memory.requested_bytes + self.memory.hbm_written_bytes,
            shares=dict(sorted(shares.items(), key=lambda each: -each[1])),
            waits={cause: waited / replayed.warp_cycles for cause, waited in waits},
            matched=matched,
            source=self.plan.code.source,
            uncertainties=uncertainties_of(device, seconds, clock_hz, shares, matched, self.memory.imbalance)
            | uncertainties_of_way(sites, executed, self._cluster_lengths),
            cautions=cautions_of(self.plan.code, sites, seconds, executed, self.memory.is_exact, self._cluster_lengths),
        )

    @property
    def _sites(self) -> Sequence[Site]:
        """The kernel's instructions with what they read and write."""
        executable = kernels_of(self.plan.launch.ptx).compiled(self.plan.launch.kernel)
        return executable.sites if isinstance(executable, Executable) else ()

    @property
    def _cluster_lengths(self) -> list[int]:
        """How many instructions each recorded cluster issues."""
        return [sum(len(each.instructions) for warps in ctas for each in warps) for ctas in self.streams.values()]

    @property
    def _warps(self) -> list[WarpStream]:
        return [each for ctas in self.streams.values() for warps in ctas for each in warps]

    def _matched(self) -> float:
        anchors = sum(each.path.anchors for each in self._warps)
        lost = sum(each.path.missed + each.path.extra for each in self._warps)
        if not anchors:
            return 1.0
        matched = max(0.0, 1 - lost / anchors)
        if matched < _LEAST_MATCHED:
            raise InputError(
                f"the way of the warps is not found in the SASS that ptxas makes: {matched:.0%} of what accesses "
                f"memory, multiplies matrices or synchronises, of {_LEAST_MATCHED:.0%} that are needed; give a "
                "kernel whose warps all go one way"
            )
        found = sum(len(each.instructions) for each in self._warps)
        tests = {each.index for each in self._sites if is_wait_test(each.instruction)}
        # A wait that asks again and again is one wait of the stream.
        runs = (run for trace in self.recording.warps for run in trace.runs)
        executed = sum(run.end - run.start for run in runs if tests.isdisjoint(range(run.start, run.end)))
        if found < _LEAST_OF_PTX * executed:
            raise InputError(
                f"the way of the warps has {found} instructions of SASS for {executed} of PTX: nothing in a loop of it "
                "tells how often it is gone through; give a kernel whose loops access memory, synchronise or compute "
                "floats"
            )
        return matched
