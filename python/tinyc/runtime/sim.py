"""The simulated GPU: a program and its PTX become a function on numpy arrays, and every launch is checked.

The sibling of `cuda.py`: the same program and the same PTX, executed by `tinyc.simulator` with all of its checks. What
a kernel stores behind a buffer's own bytes, in the last word around them, is found here.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from tinyc import simulator
from tinyc.diagnostics import TinycError
from tinyc.runtime import sizes
from tinyc.runtime.device_memory import BufferMemory, copy_outputs, device_memory, launch_arguments
from tinyc.runtime.executable import Executable, Run
from tinyc.runtime.program import KernelLaunch, Program

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


class SimExecutable(Executable):
    """A program that is ready to run on the simulator; `reports` are those of the last run's launches, in order.

    A run raises `SimulationError` where a launch has findings.
    """

    def __init__(self, program: Program, ptx: str, constants: Mapping[str, np.ndarray] | None = None) -> None:
        super().__init__(program, constants)
        self.reports: list[simulator.Report] = []
        self._module = simulator.load(ptx)

    def _execute(self, run: Run) -> None:
        buffers = device_memory(self.program, run)
        self.reports = []
        for kernel in self._launches():
            self._launch(kernel, buffers, run)
            self._tell_writes(run, kernel, lambda name, _: buffers[name].own)
        copy_outputs(run, buffers)

    def _launch(self, kernel: KernelLaunch, buffers: Mapping[str, BufferMemory], run: Run) -> None:
        shapes = (kernel.grid, kernel.block, kernel.cluster)
        grid, block, cluster = (sizes.grid_sizes(shape, run.values) for shape in shapes)
        if not all(grid):
            return  # nothing to do
        given = launch_arguments(kernel, run, lambda pointer: buffers[pointer.buffer].words)
        arguments = [np.int64(each) if isinstance(each, int) else each for each in given]
        shared = sizes.extent_value(kernel.dynamic_shared_bytes, run.values)
        behind = {name: buffers[name].behind.copy() for name in kernel.writes}
        monitor = simulator.launch_progress(f"kernel '{kernel.symbol}', ")
        report = self._module.launch(
            kernel.symbol, grid, block, arguments, dynamic_shared_bytes=shared, cluster=cluster, monitor=monitor
        )
        self.reports.append(report)
        stray = [
            f"out-of-bounds: writes behind the {buffers[name].own.size} bytes of {name}"
            for name, before in behind.items()
            if (buffers[name].behind != before).any()
        ]
        if stray or not report.ok:
            raise SimulationError.of(kernel, report, [*report.findings, *stray])
