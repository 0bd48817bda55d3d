"""A kernel on its way to code for one thread: what each value of the old kernel has become.

In: a kernel of statements, and the arguments of the function that is being written. Out: for statements, the elements
that a thread computes, the threads that share work, and the operands' new values.
"""

import contextlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

from tinyc.codegen.words import Word
from tinyc.dialects.gpu.dynamic_memory import dynamic_offsets
from tinyc.dialects.gpu.expand.circular_buffer import CircularBuffer
from tinyc.dialects.gpu.expand.stage_offsets import StageOffsets
from tinyc.dialects.gpu.expand.swizzled_buffer import Mbarriers, SwizzledBuffer
from tinyc.dialects.gpu.expand.threads import Threads
from tinyc.dialects.gpu.expand.vector_elements import VectorElements
from tinyc.dialects.gpu.expand.workers import Workers
from tinyc.dialects.gpu.kernel import GpuKernel
from tinyc.mlir import ir


class Expansion:
    """The code of one thread, written at the insertion point, which must be at the start of the new function."""

    def __init__(
        self,
        kernel: GpuKernel,
        written: ir.OpView,
        arguments: Sequence[ir.Value],
        expand: Callable[["Expansion", Iterable[ir.OpView]], None],
    ) -> None:
        self.kernel = kernel
        self.name, self.written, self.block = kernel.name, written, ir.InsertionPoint.current.block
        self.elements = VectorElements.of(kernel, arguments)
        self.threads = Threads(self.elements, kernel.cta_shape)
        self.values: dict[ir.Value, ir.Value] = dict(zip(kernel.arguments, arguments, strict=True))
        self.accumulators: dict[ir.Value, list[ir.Value]] = {}  # an accumulator tile → what this thread owns of it
        self.in_flight_words: dict[ir.Value, list[ir.Value]] = {}  # accumulators in flight → what is read meanwhile
        self.buffers: dict[ir.Value, CircularBuffer] = {}
        self.swizzled: dict[ir.Value, SwizzledBuffer] = {}  # circular buffers that copies and tensor cores work on
        self.stages = StageOffsets(self.values)
        self.barriers: dict[ir.Value, Mbarriers] = {}
        self.dynamic_offsets = dynamic_offsets(kernel)
        self.dynamic: Word | None = None  # where dynamic shared memory begins
        self._workers: list[Workers] = []
        self._expand = expand

    @property
    def workers(self) -> Workers:
        """The threads that run the statement which is expanded now."""
        if not self._workers:
            with ir.InsertionPoint.at_block_begin(self.block):
                self._workers.append(Workers.of_cta(Threads(self.elements, self.kernel.cta_shape)))
        return self._workers[-1]

    def tile_start(self, tiles: ir.Value, stage: ir.Value) -> Word:
        """Emit the address of a stage's tile, for statements by threads."""
        buffer = self.swizzled[tiles]
        return buffer.base + self.stages.of(stage, buffer.layout.size_bytes)

    def expand(self, statements: Iterable[ir.OpView]) -> None:
        """Expand the statements in the body of one, at the insertion point."""
        self._expand(self, statements)

    @contextlib.contextmanager
    def among(self, workers: Workers) -> Generator[None]:
        """Expand statements that some of the threads run."""
        self._workers.append(workers)
        yield
        self._workers.pop()

    def flat(self, values: Iterable[ir.Value]) -> list[ir.Value]:
        """The new values of values of the old kernel; of an accumulator tile each element that the thread owns."""
        return [each for value in values for each in self.accumulators.get(value) or [self.values[value]]]

    def rename(self, values: Sequence[ir.Value], like: Sequence[ir.Value], flat: Iterable[ir.Value]) -> None:
        """Record that `values`, each in as many parts as the value of `like` has, have become `flat`."""
        rest: Iterator[ir.Value] = iter(flat)
        for value, example in zip(values, like, strict=True):
            if example in self.accumulators:
                self.accumulators[value] = [next(rest) for _ in self.accumulators[example]]
            else:
                self.values[value] = next(rest)
