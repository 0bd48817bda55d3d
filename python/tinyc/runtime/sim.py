"""The simulated GPU: a program and its PTX become a function on numpy arrays, and every launch is checked.

The sibling of `cuda.py`: the same program and the same PTX, executed by `tinyc.simulator` with all of its checks. An
input is exactly its bytes. A buffer that kernels write is whole words, as it is on a GPU, where the atomics of narrow
types compare and swap the word around an element; what a kernel stores behind the buffer's own bytes is found here.
What no kernel has written yet is poisoned.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tinyc import simulator
from tinyc.diagnostics import TinycError
from tinyc.runtime import sizes
from tinyc.runtime.arena import allocate_arena
from tinyc.runtime.executable import Executable, Run
from tinyc.runtime.program import Grid, KernelLaunch, Pointer, Program, Status

#: What memory holds that nothing has written: NaN in every float type, and -1 in every integer.
_POISON = 0xFF
#: Bytes that an atomic of a narrower type reads and swaps.
_WORD_BYTES = 4
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

    def __init__(self, program: Program, ptx: str) -> None:
        super().__init__(program)
        self.reports: list[simulator.Report] = []
        self._module = simulator.load(ptx)

    def _execute(self, run: Run) -> None:
        buffers = _buffers(self.program, run)
        self.reports = []
        for kernel in self.program.kernels:
            self._launch(kernel, buffers, run)
        for position, array in enumerate(run.outputs):
            array.reshape(-1).view(np.uint8)[...] = buffers[f"output_{position}"].own

    def _launch(self, kernel: KernelLaunch, buffers: Mapping[str, "_Buffer"], run: Run) -> None:
        grid, block, cluster = (_sizes(shape, run.values) for shape in (kernel.grid, kernel.block, kernel.cluster))
        if not all(grid):
            return  # nothing to do
        arguments: list[Any] = []
        for parameter in kernel.parameters:
            if isinstance(parameter, Pointer):
                arguments.append(buffers[parameter.buffer].words)
            elif isinstance(parameter, Status):
                arguments.append(run.status[parameter.slot])
            else:
                arguments.append(np.int64(sizes.extent_value(parameter.value, run.values)))
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


def _sizes(shape: Grid, values: Mapping[str, int]) -> tuple[int, int, int]:
    x, y, z = (sizes.extent_value(extent, values) for extent in shape)
    return x, y, z


class _Buffer(NamedTuple):
    """The memory of a buffer: bytes, of which the last few may be `behind` its own."""

    words: np.ndarray
    size_bytes: int

    @property
    def own(self) -> np.ndarray:
        return self.words[: self.size_bytes]

    @property
    def behind(self) -> np.ndarray:
        return self.words[self.size_bytes :]


def _buffers(program: Program, run: Run) -> dict[str, _Buffer]:
    """The memory of each buffer, by its name; inputs are copied: a faulty kernel may write to them."""
    found = {
        f"input_{k}": _Buffer(array.reshape(-1).view(np.uint8).copy(), array.nbytes)
        for k, array in enumerate(run.inputs)
    }
    found |= {f"output_{k}": _Buffer(_poisoned(array.nbytes), array.nbytes) for k, array in enumerate(run.outputs)}
    arena = _poisoned(sizes.extent_value(program.arena_bytes, run.values))
    for buffer in program.of_kind("arena"):
        start, size = sizes.extent_value(buffer.offset, run.values), sizes.extent_value(buffer.size, run.values)
        found[buffer.name] = _Buffer(arena[start : start + _whole_words(size)], size)
    return found


def _poisoned(size_bytes: int) -> np.ndarray:
    memory = allocate_arena(_whole_words(size_bytes))
    memory[...] = _POISON
    return memory


def _whole_words(size_bytes: int) -> int:
    return -(-size_bytes // _WORD_BYTES) * _WORD_BYTES
