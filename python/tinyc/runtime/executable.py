"""What a run is on every device: how it begins, how it ends, and what a device has to fill in between.

In: a program, and arrays by name. Out: arrays by name. The devices are `cpu.py`, `sim.py` and `cuda.py`.
"""

import abc
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tinyc.runtime import sizes
from tinyc.runtime.arrays import dense_inputs
from tinyc.runtime.const_pool import ConstPool
from tinyc.runtime.outputs import handed_out, output_memory
from tinyc.runtime.program import KernelLaunch, Program
from tinyc.runtime.status import check_status, fresh_status

#: Told the values of nodes while a program runs: the name of each, and an array.
Observer = Callable[[str, np.ndarray], None]


@dataclass(frozen=True)
class Run:
    """One run: the inputs, dense and never written to, the value of every symbol, and the memory to be filled.

    `pool` are the bytes of the ConstPool, which only the launches of the stage `prepare` write to.
    """

    inputs: list[np.ndarray]
    values: Mapping[str, int]
    outputs: list[np.ndarray]
    status: np.ndarray
    observe: Observer | None = None
    pool: np.ndarray = field(default_factory=lambda: np.empty(0, np.uint8))


class Executable(abc.ABC):
    """A program that is ready to run on a device; `constants` are the elements of its constants, by buffer."""

    def __init__(self, program: Program, constants: Mapping[str, np.ndarray] | None = None) -> None:
        self.program, self.pool = program, ConstPool(program, constants)

    def run(
        self,
        inputs: Mapping[str, Any],
        out: Mapping[str, Any] | None = None,
        run_key: int = 0,
        observe: Observer | None = None,
    ) -> dict[str, np.ndarray]:
        """Run on arrays by name and return arrays by name: those in `out`, filled, and fresh ones.

        `run_key` is xored to the seeds of random numbers. `observe` is told of the values of named nodes.

        Raises:
            TinycError: `InputMismatch`, `OutputMismatch`, `UnboundSymbol`, `AssumptionViolated`, `OutOfMemory`,
                `IndexOutOfRange`, and what the device refuses.
        """
        program = self.program
        self.pool.require(inputs)
        given = dense_inputs(program, inputs)
        values = sizes.solve_symbols(program, [array.shape for array in given], run_key)
        sizes.check_sizes(program, values)
        declared = dict(zip(program.outputs, program.of_kind("output"), strict=True))
        outputs = output_memory(declared, values, out or {}, given)
        pool = {"pool": self.pool.memory} if program.pool else {}
        run = Run(given, values, list(outputs.values()), fresh_status(program), observe, **pool)
        self._execute(run)
        check_status(program, run.status)
        return handed_out(outputs, out or {})

    def _launches(self) -> Iterator[KernelLaunch]:
        """Yield the launches of one run in order; in the first one since weights were set those that prepare, too."""
        with self.pool.first_run() as is_first:
            yield from self.program.of_stage(prepare=True) if is_first else ()
        yield from self.program.of_stage(prepare=False)

    def _tell_writes(self, run: Run, kernel: KernelLaunch, contents: Callable[[str, int], np.ndarray]) -> None:
        """Tell a run's observer what a kernel has written; `contents` are the bytes of a buffer, its name and size."""
        if run.observe is None:
            return
        for buffer in self.program.buffers:
            if buffer.name in kernel.writes and buffer.where.node is not None:
                held = contents(buffer.name, sizes.extent_value(buffer.size, run.values))
                shape = [sizes.extent_value(extent, run.values) for extent in buffer.shape]
                run.observe(buffer.where.node, held.view(buffer.element.dtype).reshape(shape).copy())

    @abc.abstractmethod
    def _execute(self, run: Run) -> None:
        """Fill the outputs and the status slots of `run`."""
