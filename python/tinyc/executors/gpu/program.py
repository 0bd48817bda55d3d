"""A program whose kernels run without a GPU: the executor of the GPU layer.

In: the host program and the kernels. Those of statements for tensor cores run tile by tile, the others as --gpu-expand
makes them, thread by thread. Out: a function on numpy arrays, as of every device.
"""

from collections.abc import Mapping

import numpy as np

from tinyc.diagnostics import TinycError, progress
from tinyc.dialects.gpu.expand.lowering import GpuExpand
from tinyc.dialects.gpu.kernel import gpu_kernels_of
from tinyc.executors.gpu.cta import run_gpu_kernel
from tinyc.executors.gpu.memory import KernelFault
from tinyc.executors.gpu.tiles.grid import has_tile_statements, run_tile_kernel
from tinyc.mlir import ir
from tinyc.passes.runner import copy_module, run_passes
from tinyc.runtime.bound import BoundLaunch, BoundProgram
from tinyc.runtime.device_memory import BufferMemory, copy_outputs, device_memory, launch_arguments
from tinyc.runtime.executable import Executable, Run
from tinyc.runtime.program import Pointer, Program, TensorMapParameter
from tinyc.runtime.status import check_status, fresh_status
from tinyc.vocabulary.element_type import ElementType


class ThreadsExecutable(Executable[None]):
    """A program that is ready to run; `module` has its kernels, as statements.

    A run raises `SimulationFinding` where a kernel does what none may.
    """

    def __init__(self, program: Program, module: ir.Module, constants: Mapping[str, np.ndarray] | None = None) -> None:
        super().__init__(program, constants)
        self._statements, self._expanded = module, copy_module(module)
        run_passes(self._expanded, (GpuExpand(),))
        self._kernels = gpu_kernels_of(self._expanded)
        self._tiled = {name: each for name, each in gpu_kernels_of(module).items() if has_tile_statements(each)}

    def _prepare(self, bound: BoundProgram) -> None:
        """Nothing: all memory is fresh and poisoned in each run."""

    def _execute(self, run: Run, prepared: None) -> None:
        buffers, status = device_memory(run), fresh_status(self.program)
        for number, launch in enumerate(run.launches, 1):
            progress(f"tiles or threads of kernel '{launch.kernel.symbol}', kernel", number, len(self.program.kernels))
            self._launch(launch, buffers, run, status)
            if run.observe is not None:
                self._tell_writes(run, run.observe, launch.kernel, lambda name, _: buffers[name].own)
        copy_outputs(run, buffers)
        check_status(self.program, status)

    def _launch(self, launch: BoundLaunch, buffers: Mapping[str, BufferMemory], run: Run, status: np.ndarray) -> None:
        kernel = launch.kernel
        if not all(launch.grid):
            return  # nothing to do
        held = {each.buffer: buffers[each.buffer].own.view(_stored(each.element)) for each in kernel.pointers}

        def elements(parameter: Pointer | TensorMapParameter) -> np.ndarray:
            return held[parameter.buffer]

        arguments = launch_arguments(launch, run, status, elements)
        try:
            if kernel.symbol in self._tiled:
                run_tile_kernel(self._tiled[kernel.symbol], launch.grid, arguments)
            else:
                run_gpu_kernel(self._kernels[kernel.symbol], launch.grid, arguments)
        except KernelFault as error:
            message = f"kernel '{kernel.symbol}' is faulty at the GPU layer: {error}"
            raise TinycError("SimulationFinding", message, kernel.where) from None


def _stored(element: ElementType) -> np.dtype:
    """The type of an element in memory: integers have no sign there, and a bool is a byte."""
    if element.is_bool:
        return np.dtype(np.int8)
    return np.dtype(f"i{element.size_bytes}") if element.is_unsigned else element.dtype
