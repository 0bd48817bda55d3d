"""What a run is on every device: how it begins, how it ends, and what a device has to fill in between.

In: a program, and arrays by name. Out: arrays by name. The devices are `cpu.py`, `sim.py` and `cuda.py`. What depends
on the sizes of a run only is computed at the first run at these sizes. Any number of threads may run at once.
"""

import abc
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from tinyc.diagnostics import TinycError
from tinyc.runtime.arrays import InputCheck, ReadInput
from tinyc.runtime.bound import BoundLaunch, BoundProgram, bind_program
from tinyc.runtime.const_pool import ConstPool, PoolImage
from tinyc.runtime.outputs import handed_out, output_memory
from tinyc.runtime.program import KernelLaunch, Program

if TYPE_CHECKING:  # the simulator takes longer to import than all the rest
    from tinyc.simulator import Estimate

#: Told the values of nodes while a program runs: the name of each, and an array.
Observer = Callable[[str, np.ndarray], None]
#: Told how long a launch has taken, in seconds; None where the device has no clock.
Timer = Callable[[BoundProgram, BoundLaunch, float | None], None]


class LaunchClock(NamedTuple):
    """On the simulator: the GPU that each launch is timed on by `ptxsim.clock`, and who is told, also of a refusal."""

    device: str
    tell: "Callable[[BoundLaunch, Estimate | TinycError], None]"


#: For how many sizes of the inputs it is kept what follows from them.
KEPT_SIZES = 16

#: What a device makes of a program at the sizes of a run.
Prepared = TypeVar("Prepared")
InputShapes = tuple[tuple[int, ...], ...]


class Run(NamedTuple):
    """One run: the program at its sizes, the inputs, dense and never written to, and the memory to be filled.

    They are numpy arrays; on a GPU also those of `device_array`. `pool` is the ConstPool as this run has it, if there
    is one; a run `prepares` what is kept in it, if it is the first one since weights were set.
    """

    bound: BoundProgram
    inputs: Sequence[Any]
    outputs: Sequence[Any]
    key: int
    observe: Observer | None
    timer: Timer | None
    clock: LaunchClock | None = None
    pool: PoolImage | None = None
    prepares: bool = False

    @property
    def launches(self) -> list[BoundLaunch]:
        """The launches of the run: without those that prepare, where that has been done."""
        return [each for each in self.bound.launches if self.prepares or not each.kernel.prepare]


class Executable(abc.ABC, Generic[Prepared]):
    """A program that is ready to run on a device; `arrays` are constants, and weights that are set, by buffer.

    Where it `reads_in_place`, passing constants (`const_pool`) are not in the pool.
    """

    reads_in_place: ClassVar[bool] = False

    def __init__(
        self,
        program: Program,
        arrays: Mapping[str, np.ndarray] | None = None,
        read: ReadInput | None = None,
    ) -> None:
        self.program, self._has_pool = program, bool(program.pool)
        self.pool = ConstPool(program, arrays, self.reads_in_place)
        self._check = InputCheck(program, read)
        self._known: OrderedDict[InputShapes, tuple[BoundProgram, Prepared]] = OrderedDict()
        self._last: tuple[InputShapes, tuple[BoundProgram, Prepared]] | None = None
        self._knowing = threading.Lock()

    def run(
        self,
        inputs: Mapping[str, Any],
        out: Mapping[str, Any] | None = None,
        run_key: int = 0,
        observe: Observer | None = None,
        timer: Timer | None = None,
        clock: LaunchClock | None = None,
    ) -> dict[str, Any]:
        """Run on arrays by name and return arrays by name: those in `out`, filled, and fresh ones.

        `run_key` is xored to the seeds of random numbers. `observe` is told of the values of named nodes,
        `timer` of the time of each launch, `clock`, on the simulator alone, of the time that it would take on a GPU.

        Raises:
            TinycError: `InputMismatch`, `OutputMismatch`, `UnboundSymbol`, `AssumptionViolated`, `OutOfMemory`,
                `IndexOutOfRange`; `UnreadableFile`: a file that constants are mapped from has changed; and what the
                device refuses.
        """
        out = out or {}
        if self.program.weights:
            self.pool.require(inputs)
        given = self._check.dense(inputs)
        bound, prepared = self._bound_to(tuple([array.shape for array in given]))
        outputs = self._output_memory(bound, out, given)
        run = Run(bound, given, list(outputs.values()), run_key, observe, timer, clock)
        if not self._has_pool:
            self._execute(run, prepared)
        else:
            with self.pool.reading() as (image, is_first):
                self._execute(run._replace(pool=image, prepares=is_first), prepared)
        return handed_out(outputs, out)

    def release(self) -> None:
        """Give back what is kept of earlier sizes, all but the ConstPool; runs on their way are not disturbed."""
        with self._knowing:
            self._known.clear()
            self._last = None

    def _bound_to(self, shapes: InputShapes) -> tuple[BoundProgram, Prepared]:
        """The program at the sizes of a run, and what the device makes of it: computed at the first such run."""
        last = self._last  # another thread may set it
        if last is not None and last[0] == shapes:
            return last[1]
        with self._knowing:
            known = self._known.get(shapes)
            if known is None:
                bound = bind_program(self.program, shapes)
                known = self._known[shapes] = bound, self._prepare(bound)
                if len(self._known) > KEPT_SIZES:
                    self._known.popitem(last=False)
            else:
                self._known.move_to_end(shapes)
            self._last = shapes, known
            return known

    def _output_memory(self, bound: BoundProgram, out: Mapping[str, Any], given: Sequence[Any]) -> dict[str, Any]:
        """Memory for each output, dense: the array in `out` where it may be written at once."""
        return output_memory(bound.outputs, out, given)

    def _tell_writes(
        self, run: Run, observe: Observer, kernel: KernelLaunch, contents: Callable[[str, int], np.ndarray]
    ) -> None:
        """Tell who watches a run what a kernel has written; `contents` are the bytes of a buffer, its name and size."""
        for buffer in self.program.buffers:
            if buffer.name in kernel.writes and buffer.where.node is not None:
                held = contents(buffer.name, run.bound.sizes[buffer.name])
                shape = run.bound.shapes[buffer.name]
                observe(buffer.where.node, held.view(buffer.element.dtype).reshape(shape).copy())

    @abc.abstractmethod
    def _prepare(self, bound: BoundProgram) -> Prepared:
        """What runs at these sizes have in common on the device."""

    @abc.abstractmethod
    def _execute(self, run: Run, prepared: Prepared) -> None:
        """Fill the outputs of `run`.

        Raises:
            TinycError: `IndexOutOfRange`, and what the device refuses.
        """
