"""The CPU device: a program and its LLVM IR become a function on numpy arrays.

Generations run one after the other, kernels of a generation too, all in the caller's thread. Outputs are fresh arrays;
inputs are read where they are.
"""

import ctypes
from collections.abc import Sequence

import numpy as np

from tinyc.runtime import sizes
from tinyc.runtime.arena import allocate_arena
from tinyc.runtime.executable import Executable, Run
from tinyc.runtime.jit import Code
from tinyc.runtime.program import Program

ENTRY = "kernel_main"
_ENTRY_TYPE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


class CpuExecutable(Executable):
    """A program that is ready to run; `cpu` names an LLVM CPU such as "x86-64", None is this machine's."""

    def __init__(self, program: Program, llvm_ir: str, cpu: str | None = None) -> None:
        super().__init__(program)
        self._code = Code(llvm_ir, ENTRY, cpu)
        self._entry = _ENTRY_TYPE(self._code.address)

    def _execute(self, run: Run) -> None:
        arena = allocate_arena(sizes.extent_value(self.program.arena_bytes, run.values))
        shape_vars = [run.values[name] for name in self.program.symbols]
        self._call([*run.inputs, *run.outputs, arena, run.status], shape_vars)

    def _call(self, buffers: Sequence[np.ndarray], shape_vars: Sequence[int]) -> None:
        """Call `kernel_main(bufs, shape_vars)`."""
        addresses = (ctypes.c_void_p * len(buffers))(*(buffer.ctypes.data for buffer in buffers))
        self._entry(addresses, (ctypes.c_int64 * len(shape_vars))(*shape_vars))
