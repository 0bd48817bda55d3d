"""Elements of a kernel's values where a buffer is one row of elements: an index is one number, row-major."""

from collections.abc import Sequence
from typing import Any

from tinyc.analysis import extents
from tinyc.analysis.extents import Dim
from tinyc.codegen import scalars
from tinyc.codegen.elements import Elements, Index
from tinyc.dialects.region.ops import held_tensor
from tinyc.mlir import arith, memref


class FlatElements(Elements):
    """Emits elements of values whose buffers are 1-D memrefs."""

    def __init__(self, buffers: dict[Any, Any], symbols: dict[str, Any], status: Any | None) -> None:
        super().__init__(buffers, symbols, status)
        self._flat: dict[tuple[Index, tuple[Dim, ...]], Any] = {}  # what `delinearized` took apart

    def load(self, buffer: Any, index: Index) -> Any:
        """Return an element of a kernel argument."""
        stored = memref.load(self.buffers[buffer], [self.linear(buffer, index)])
        return scalars.from_storage(self.element_of(buffer), stored)

    def store(self, buffer: Any, index: Index, value: Any) -> None:
        """Write a register value to an element of a kernel argument."""
        stored = scalars.to_storage(self.element_of(buffer), value)
        memref.store(stored, self.buffers[buffer], [self.linear(buffer, index)])

    def linear(self, buffer: Any, index: Index) -> Any:
        """Return where an element of a kernel argument stands in its row."""
        shape = held_tensor(buffer.type).shape
        if (index, shape) in self._flat:
            return self._flat[index, shape]
        total: Any = None
        for position, stride in zip(index, extents.row_major_strides(shape), strict=True):
            term = position if stride == 1 else arith.muli(position, self.extent(stride))
            total = term if total is None else arith.addi(total, term)
        return self.index(0) if total is None else total

    def delinearized(self, linear: Any, shape: Sequence[Dim]) -> Index:
        """Return the index whose row-major number in `shape` is `linear`, which must not be negative."""
        index, rest = [self.index(0) for _ in shape], linear
        axes = [axis for axis, extent in enumerate(shape) if extent != 1]
        for axis in reversed(axes[1:]):
            extent = self.extent(shape[axis])
            index[axis], rest = arith.remui(rest, extent), arith.divui(rest, extent)
        if axes:
            index[axes[0]] = rest
            self._flat[tuple(index), tuple(shape)] = linear
        return tuple(index)

    def taken_apart(self, shape: Sequence[Dim], parts: Sequence[tuple[Sequence[int], Any]]) -> Index:
        """Return an index in `shape` from (axes, their row-major number) pairs; the other axes are at 0."""
        index = [self.index(0) for _ in shape]
        for axes, linear in parts:
            for axis, position in zip(axes, self.delinearized(linear, [shape[axis] for axis in axes]), strict=True):
                index[axis] = position
        return tuple(index)
