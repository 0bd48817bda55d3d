"""The CPU device: a program and its LLVM IR become a function on numpy arrays.

Generations run one after the other, kernels of a generation too, all in the caller's thread. Outputs are fresh arrays;
inputs are read where they are.
"""

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tinyc.runtime import sizes
from tinyc.runtime.arena import allocate, allocate_arena
from tinyc.runtime.arrays import DTYPES, dense_inputs
from tinyc.runtime.index_error import index_error
from tinyc.runtime.jit import Code
from tinyc.runtime.program import STATUS_WORDS, Kernel, Program

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
        outputs = _fresh_outputs(program, values)
        arena = allocate_arena(sizes.evaluate(program.arena_bytes, values))
        status = np.zeros((program.status_slots, STATUS_WORDS), np.int64)
        self._call([*given, *outputs, arena, status], [values[name] for name in program.symbols])
        _check_status(program, status)
        return dict(zip(program.outputs, outputs, strict=True))

    def _call(self, buffers: Sequence[np.ndarray], shape_vars: Sequence[int]) -> None:
        """Call `kernel_main(bufs, shape_vars)`."""
        addresses = (ctypes.c_void_p * len(buffers))(*(buffer.ctypes.data for buffer in buffers))
        self._entry(addresses, (ctypes.c_int64 * len(shape_vars))(*shape_vars))


def _fresh_outputs(program: Program, values: Mapping[str, int]) -> list[np.ndarray]:
    shapes = [[sizes.evaluate(extent, values) for extent in buffer.shape] for buffer in program.of_kind("output")]
    return [
        allocate(tuple(shape), DTYPES[buffer.element], f"output '{name}'")
        for name, buffer, shape in zip(program.outputs, program.of_kind("output"), shapes, strict=True)
    ]


def _check_status(program: Program, status: np.ndarray) -> None:
    """Raise for the first kernel that has met an index outside the axis that it indexes."""
    for kernel in program.kernels:
        if kernel.status and status[kernel.status.slot, 0]:
            place = f"the axis that it indexes in kernel '{kernel.symbol}', which reads {_reads(program, kernel)}"
            raise index_error(str(status[kernel.status.slot, 1]), place, kernel.where)


def _reads(program: Program, kernel: Kernel) -> str:
    """Return what a kernel reads, the inputs by the names that the user gave them."""
    names = {f"input_{position}": f"input '{name}'" for position, name in enumerate(program.inputs)}
    return " and ".join(names.get(name, name) for name in kernel.reads)
