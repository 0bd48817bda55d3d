"""The CPU device: a program and its LLVM IR become a function on numpy arrays.

Generations run one after the other, kernels of a generation too, all in the caller's thread. Outputs are fresh arrays;
inputs are read where they are. A kernel runs in chunks of its parallel loop, so that Python can stop it between two.
"""

import ctypes
import math
import time
from collections.abc import Callable, Mapping

import numpy as np

from tinyc.diagnostics import progress
from tinyc.runtime import sizes
from tinyc.runtime.arena import allocate_arena
from tinyc.runtime.executable import Executable, Run
from tinyc.runtime.jit import KERNEL_PREFIX, Code
from tinyc.runtime.program import KernelLaunch, Program

#: `kernel.<name>(void** bufs, size_t* extents, size_t lo, size_t hi)`
_KERNEL_TYPE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
#: How long a chunk takes: an interrupt waits no longer, and the calls take no time beside it.
_CHUNK_SECONDS = 0.05
#: How much longer a chunk may be than the one before, which was over too soon to tell much.
_GROWTH = 8


class CpuExecutable(Executable):
    """A program that is ready to run; `cpu` names an LLVM CPU such as "x86-64", None is this machine's."""

    def __init__(
        self,
        program: Program,
        llvm_ir: str,
        cpu: str | None = None,
        constants: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        super().__init__(program, constants)
        symbols = dict.fromkeys(kernel.symbol for kernel in program.kernels)
        self._code = Code(llvm_ir, [KERNEL_PREFIX + symbol for symbol in symbols], cpu)
        self._kernels = {symbol: _KERNEL_TYPE(self._code.addresses[KERNEL_PREFIX + symbol]) for symbol in symbols}

    def _execute(self, run: Run) -> None:
        arena = allocate_arena(sizes.extent_value(self.program.arena_bytes, run.values))
        places = {f"input_{position}": array.ctypes.data for position, array in enumerate(run.inputs)}
        places |= {f"output_{position}": array.ctypes.data for position, array in enumerate(run.outputs)}
        for buffer in self.program.of_kind("arena"):
            places[buffer.name] = arena.ctypes.data + sizes.extent_value(buffer.offset, run.values)
        for buffer in self.program.pool:
            places[buffer.name] = run.pool.ctypes.data + sizes.extent_value(buffer.offset, run.values)
        for number, kernel in enumerate(self._launches(), 1):
            self._launch(kernel, places, run, f"{number} of {len(self.program.kernels)}")
            self._tell_writes(run, kernel, lambda name, size: _bytes_at(places[name], size))

    def _launch(self, kernel: KernelLaunch, places: Mapping[str, int], run: Run, number: str) -> None:
        addresses = [places[pointer.buffer] for pointer in kernel.pointers]
        if kernel.status:
            addresses.append(run.status[kernel.status.slot].ctypes.data)
        buffers = (ctypes.c_void_p * len(addresses))(*addresses)
        values = [sizes.extent_value(extent, run.values) for extent in kernel.extents]
        extent_values = (ctypes.c_size_t * len(values))(*values)
        function = self._kernels[kernel.symbol]
        turns = self._turns(kernel, run)

        def work(low: int, high: int) -> None:
            progress(f"kernel '{kernel.symbol}' ({number}), turn", low, turns)
            function(buffers, extent_values, low, high)

        in_chunks(work, turns)

    def _turns(self, kernel: KernelLaunch, run: Run) -> int:
        """How often the parallel loop runs: never where all that is written is empty, however long the loop is.

        A kernel that checks indices runs all the same: it may have something to report.
        """
        written = (buffer.size for buffer in self.program.buffers if buffer.name in kernel.writes)
        if kernel.status is None and not any(sizes.extent_value(size, run.values) for size in written):
            return 0
        return math.prod(sizes.extent_value(extent, run.values) for extent in kernel.grid)


def _bytes_at(address: int, size: int) -> np.ndarray:
    return np.frombuffer(ctypes.string_at(address, size), np.uint8)


def in_chunks(work: Callable[[int, int], object], turns: int) -> None:
    """Call `work(low, high)` on consecutive ranges that make up ``0 … turns``, each of about `_CHUNK_SECONDS`.

    What Python has been told to do meanwhile, such as to raise KeyboardInterrupt, it does between two calls.
    """
    low, size = 0, 1
    while low < turns:
        high = min(low + size, turns)
        started = time.perf_counter()
        work(low, high)
        seconds = time.perf_counter() - started
        low, size = high, max(1, min(size * _GROWTH, int(size * _CHUNK_SECONDS / max(seconds, 1e-9))))
