"""The simulated GPU: a program and its PTX become a function on numpy arrays, and every launch is checked.

The sibling of `cuda.py`: the same program and the same PTX, executed by `tinyc.simulator` with all of its checks. What
a kernel stores behind a buffer's own bytes, in the last word around them, is found here.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from tinyc import simulator
from tinyc.diagnostics import TinycError
from tinyc.runtime.bound import BoundLaunch, BoundProgram
from tinyc.runtime.device_memory import (
    Argument,
    BufferMemory,
    PlacedTensorMap,
    copy_outputs,
    device_memory,
    launch_arguments,
)
from tinyc.runtime.executable import Executable, LaunchClock, Run
from tinyc.runtime.program import KernelLaunch, Pointer, Program, TensorMapParameter
from tinyc.runtime.status import check_status, fresh_status

#: A message names this many findings.
_SHOWN = 8


class SimulationError(TinycError):
    """A kernel that would go wrong on a GPU; `report` has everything that the launch found and counted."""

    report: simulator.Report

    @classmethod
    def of(cls, kernel: KernelLaunch, report: simulator.Report, findings: Sequence[object]) -> "SimulationError":
        """The error for a launch that found something."""
        lines = [str(finding) for finding in findings[:_SHOWN]]
        more = len(findings) - len(lines)
        shown = "\n".join([*lines, *([f"and {more} more"] if more else [])])
        error = cls("SimulationFinding", f"kernel '{kernel.symbol}' is faulty:\n{shown}", kernel.where)
        error.report = report
        return error


class SimExecutable(Executable[None]):
    """A program that is ready to run on the simulator; `reports` are those of the last run's launches, in order.

    A run raises `SimulationError` where a launch has findings.
    """

    def __init__(self, program: Program, ptx: str, arrays: Mapping[str, np.ndarray] | None = None) -> None:
        super().__init__(program, arrays)
        self.reports: list[simulator.Report] = []
        self._module = simulator.load(ptx)

    def _prepare(self, bound: BoundProgram) -> None:
        """Nothing: all memory is fresh and poisoned in each run."""

    def _execute(self, run: Run, prepared: None) -> None:
        buffers, status = device_memory(run), fresh_status(self.program)
        reports: list[simulator.Report] = []  # this run's alone, whatever other threads do
        try:
            for launch in run.launches:
                self._launch(launch, buffers, run, status, reports)
                if run.timer is not None:
                    run.timer(run.bound, launch, None)
                if run.observe is not None:
                    self._tell_writes(run, run.observe, launch.kernel, lambda name, _: buffers[name].own)
        finally:
            self.reports = reports
        copy_outputs(run, buffers)
        check_status(self.program, status)

    def _launch(
        self,
        launch: BoundLaunch,
        buffers: Mapping[str, BufferMemory],
        run: Run,
        status: np.ndarray,
        reports: list[simulator.Report],
    ) -> None:
        kernel = launch.kernel
        if not all(launch.grid):
            return  # nothing to do

        def memory(parameter: Pointer | TensorMapParameter) -> np.ndarray:
            held = buffers[parameter.buffer]
            return held.words if isinstance(parameter, Pointer) else held.own.view(parameter.element.dtype)

        arguments = [_simulated(each) for each in launch_arguments(launch, run, status, memory)]
        before = {name: buffers[name].words.copy() for name in kernel.writes} if run.clock is not None else {}
        behind = {name: buffers[name].behind.copy() for name in kernel.writes}
        monitor = simulator.launch_progress(f"kernel '{kernel.symbol}', ")
        report = self._module.launch(
            kernel.symbol,
            launch.grid,
            launch.block,
            arguments,
            dynamic_shared_bytes=launch.dynamic_shared_bytes,
            cluster=launch.cluster,
            monitor=monitor,
        )
        reports.append(report)
        stray = [
            f"out-of-bounds: writes behind the {buffers[name].own.size} bytes of {name}"
            for name, before in behind.items()
            if (buffers[name].behind != before).any()
        ]
        if stray or not report.ok:
            raise SimulationError.of(kernel, report, [*report.findings, *stray])
        if run.clock is not None:
            self._time(launch, run.clock, arguments, [(buffers[name].words, held) for name, held in before.items()])

    def _time(
        self,
        launch: BoundLaunch,
        clock: LaunchClock,
        arguments: Sequence[object],
        written: Sequence[tuple[np.ndarray, np.ndarray]],
    ) -> None:
        """Tell how long a launch would take: from what memory held before it, and memory is then as it was.

        `written` has the memory that it wrote, and what that held.
        """
        after = [memory.copy() for memory, _ in written]
        for memory, before in written:
            memory[...] = before
        shape = launch.kernel.symbol, launch.grid, launch.block
        options = clock.device, launch.dynamic_shared_bytes, launch.cluster
        try:
            clock.tell(launch, self._module.time(*shape, arguments, *options))
        except TinycError as error:
            clock.tell(launch, error)
        finally:
            for (memory, _), left in zip(written, after, strict=True):
                memory[...] = left


def _simulated(argument: Argument) -> object:
    """An argument as the simulator takes it."""
    if isinstance(argument, int):
        return np.int64(argument)
    return _tensor_map(argument) if isinstance(argument, PlacedTensorMap) else argument


def _tensor_map(placed: PlacedTensorMap) -> simulator.TensorMap:
    """A tensor map; of a tensor without elements one that no copy may use, as it reaches beyond the buffer."""
    rank = len(placed.dims)
    return simulator.TensorMap.tiled(
        rank,
        placed.array,
        [max(1, dim) for dim in placed.dims],
        placed.strides,
        placed.box,
        (1,) * rank,
        swizzle=f"{placed.swizzle}B" if placed.swizzle else "none",
    )
