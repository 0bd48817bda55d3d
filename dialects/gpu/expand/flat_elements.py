"""Elements of a kernel's values where a buffer is one row of elements: an index is one number, row-major."""

from collections.abc import Iterable, Sequence
from typing import Self

from tinyc.codegen import scalars
from tinyc.codegen.elements import Elements, IndexValues
from tinyc.dialects.gpu.kernel import GpuKernel
from tinyc.dialects.region import ops as region
from tinyc.expr.extents import Dim
from tinyc.mlir import ir, memref


class FlatElements(Elements):
    """Emits elements of values whose buffers are 1-D memrefs."""

    @classmethod
    def of(cls, kernel: GpuKernel, arguments: Sequence[ir.Value]) -> Self:
        """The elements of a kernel's values in a function that has `arguments` in the place of the kernel's."""
        now: dict[ir.Value, ir.Value] = dict(zip(kernel.arguments, arguments, strict=True))
        buffers: dict[ir.Value, ir.Value] = {buffer: now[buffer] for buffer in kernel.buffers}
        symbols = {name: now[argument] for name, argument in kernel.symbols.items()}
        return cls(buffers, symbols, None if kernel.status is None else now[kernel.status])

    def load(self, buffer: ir.Value, index: IndexValues) -> ir.Value:
        """An element of a kernel argument."""
        stored = memref.load(self.buffers[buffer], [self.linear(buffer, index)])
        return scalars.from_storage(self.element_of(buffer), stored)

    def store(self, buffer: ir.Value, index: IndexValues, value: ir.Value) -> None:
        """Write a register value to an element of a kernel argument."""
        stored = scalars.to_storage(self.element_of(buffer), value)
        memref.store(stored, self.buffers[buffer], [self.linear(buffer, index)])

    def store_outputs(self, yields: Iterable[region.YieldOp], index: IndexValues) -> None:
        """Emit element `index` of what is yielded, and write it to the outputs."""
        for each in yields:
            self.store(each.buffer, index, self.at(each.value, index))

    def linear(self, buffer: ir.Value, index: IndexValues) -> ir.Value:
        """Where an element of a kernel argument stands in its row."""
        return self.counters.value(self.address(buffer, index))

    def taken_apart(self, shape: Sequence[Dim], parts: Sequence[tuple[Sequence[int], ir.Value]]) -> IndexValues:
        """An index in `shape` from (axes, their row-major number) pairs; the other axes are at 0."""
        index = [self.index(0) for _ in shape]
        for axes, linear in parts:
            for axis, position in zip(axes, self.delinearized(linear, [shape[axis] for axis in axes]), strict=True):
                index[axis] = position
        return tuple(index)
