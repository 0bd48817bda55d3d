"""The CPU device: a program and its LLVM IR become a function on numpy arrays.

Generations run one after the other, kernels of a generation too, all in the caller's thread. Outputs are fresh arrays;
inputs are read where they are.
"""

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tinyc.runtime import sizes
from tinyc.runtime.arena import allocate_arena
from tinyc.runtime.arrays import dense_inputs, fresh_outputs
from tinyc.runtime.jit import Code
from tinyc.runtime.program import Program
from tinyc.runtime.status import check_status, fresh_status

ENTRY = "kernel_main"
_ENTRY_TYPE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


class CpuExecutable:
    """A program that is ready to run; `cpu` names an LLVM CPU such as "x86-64", None is this machine's."""

    def __init__(self, program: Program, llvm_ir: str, cpu: str | None = None) -> None:
        self.program = program
        self._code = Code(llvm_ir, ENTRY, cpu)
        self._entry = _ENTRY_TYPE(self._code.address)

    def run(self, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Run on arrays by name and return fresh arrays by name.

        Raises:
            TinycError: `InputMismatch`, `UnboundSymbol`, `AssumptionViolated`, `OutOfMemory`, `IndexOutOfRange`.
        """
        program = self.program
        given = dense_inputs(program, inputs)
        values = sizes.solve(program, [array.shape for array in given])
        sizes.check(program, values)
        outputs = fresh_outputs(program, values)
        arena = allocate_arena(sizes.evaluate(program.arena_bytes, values))
        status = fresh_status(program)
        self._call([*given, *outputs, arena, status], [values[name] for name in program.symbols])
        check_status(program, status)
        return dict(zip(program.outputs, outputs, strict=True))

    def _call(self, buffers: Sequence[np.ndarray], shape_vars: Sequence[int]) -> None:
        """Call `kernel_main(bufs, shape_vars)`."""
        addresses = (ctypes.c_void_p * len(buffers))(*(buffer.ctypes.data for buffer in buffers))
        self._entry(addresses, (ctypes.c_int64 * len(shape_vars))(*shape_vars))
