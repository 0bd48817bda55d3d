"""The simulated GPU: a program and its PTX become a function on numpy arrays, and every launch is checked.

The sibling of `cuda.py`: the same program and the same PTX, executed by `tinyc.simulator` with all of its checks. A
buffer is exactly its bytes, and what no kernel has written yet is poisoned.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tinyc import simulator
from tinyc.diagnostics import TinycError
from tinyc.runtime import sizes
from tinyc.runtime.arena import allocate_arena
from tinyc.runtime.executable import Executable, Run
from tinyc.runtime.program import Grid, Kernel, Pointer, Program, Status

#: What memory holds that nothing has written: NaN in every float type, and -1 in every integer.
_POISON = 0xFF
#: A message names this many findings.
_SHOWN = 8


class SimulationError(TinycError):
    """A kernel that would go wrong on a GPU; `report` has everything that the launch found and counted."""

    report: simulator.Report

    @classmethod
    def of(cls, kernel: Kernel, report: simulator.Report) -> "SimulationError":
        """The error for a launch that found something."""
        lines = [str(finding) for finding in report.findings[:_SHOWN]]
        more = len(report.findings) - len(lines)
        shown = "\n".join([*lines, *([f"and {more} more"] if more else [])])
        error = cls("SimulationFinding", f"kernel '{kernel.symbol}' is faulty:\n{shown}", kernel.where)
        error.report = report
        return error


class SimExecutable(Executable):
    """A program that is ready to run on the simulator; `reports` are those of the last run's launches, in order.

    A run raises `SimulationError` where a launch has findings.
    """

    def __init__(self, program: Program, ptx: str) -> None:
        super().__init__(program)
        self.reports: list[simulator.Report] = []
        self._module = simulator.load(ptx)

    def _execute(self, run: Run) -> None:
        arena = allocate_arena(sizes.extent_value(self.program.arena_bytes, run.values))
        for array in (*run.outputs, arena):
            array.reshape(-1).view(np.uint8)[...] = _POISON
        buffers = _buffers(self.program, run, arena)
        self.reports = []
        for kernel in self.program.kernels:
            self._launch(kernel, buffers, run)

    def _launch(self, kernel: Kernel, buffers: Mapping[str, np.ndarray], run: Run) -> None:
        grid, block, cluster = (_sizes(shape, run.values) for shape in (kernel.grid, kernel.block, kernel.cluster))
        if not all(grid):
            return  # nothing to do
        arguments: list[Any] = []
        for parameter in kernel.parameters:
            if isinstance(parameter, Pointer):
                arguments.append(buffers[parameter.buffer])
            elif isinstance(parameter, Status):
                arguments.append(run.status[parameter.slot])
            else:
                arguments.append(np.int64(sizes.extent_value(parameter.value, run.values)))
        shared = sizes.extent_value(kernel.dynamic_shared_bytes, run.values)
        report = self._module.launch(
            kernel.symbol, grid, block, arguments, dynamic_shared_bytes=shared, cluster=cluster
        )
        self.reports.append(report)
        if not report.ok:
            raise SimulationError.of(kernel, report)


def _sizes(shape: Grid, values: Mapping[str, int]) -> tuple[int, int, int]:
    x, y, z = (sizes.extent_value(extent, values) for extent in shape)
    return x, y, z


def _buffers(program: Program, run: Run, arena: np.ndarray) -> dict[str, np.ndarray]:
    """The memory of each buffer, by its name; inputs are copied: a faulty kernel may write to them."""
    found = {f"input_{position}": array.copy() for position, array in enumerate(run.inputs)}
    found |= {f"output_{position}": array for position, array in enumerate(run.outputs)}
    for buffer in program.of_kind("arena"):
        start = sizes.extent_value(buffer.offset, run.values)
        found[buffer.name] = arena[start : start + sizes.extent_value(buffer.size, run.values)]
    return found
