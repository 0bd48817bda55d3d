"""Operands of a product in code: their elements, and where those are that are read as they lie in memory."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from tinyc.analysis.kernel_loops import KernelLoops
from tinyc.codegen import scalars
from tinyc.codegen.elements import Elements, IndexValues, traced
from tinyc.codegen.places import flat_view
from tinyc.codegen.reduction_steps import accumulator_element
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.to_loops.axis_values import AxisValues, index_at
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import extents
from tinyc.mlir import arith, ir
from tinyc.vocabulary.attributes import tensor_type

#: Of a product, which memory has the elements of some rows, and where.
RowPlaces: TypeAlias = Callable[[ir.Value], tuple[ir.Value, list[ir.Value]]]


@dataclass(frozen=True)
class ProductOperands:
    """The operands of the products that `op`, a sum of the kernel, is over; `around` are the places of all loops.

    Axes are those of the sum's operand.
    """

    elements: Elements
    kernel: KernelLoops
    op: tiny.ReduceOp
    around: Mapping[int, ir.Value]

    def index(self, at: AxisValues) -> IndexValues:
        """The index of an operand's element at places along some axes, the others being where the loops are."""
        return index_at(self.elements, self.op.operand, self.kernel.dims, {**self.around, **at})

    def element(self, factor: ir.Value, at: AxisValues) -> ir.Value:
        """That element, as sums take it."""
        found = self.elements.at(factor, self.index(at))
        return scalars.cast(found, tensor_type(factor.type).element, accumulator_element(self.op))

    def in_place(self, factor: ir.Value) -> tuple[ir.Value, Callable[[IndexValues], ir.Value]]:
        """The memory of an operand that is not packed, and where in it the element at an index is.

        What is a cast is read as what it is one of.
        """
        elements, accesses = self.elements, [traced(factor)]
        while isinstance(cast := accesses[-1].source.owner, tiny.CastOp):
            accesses.append(traced(cast.operand))
        source = accesses[-1].source.owner
        assert isinstance(source, region.ReadOp)  # it is read in place
        size = extents.product(region.held_tensor(source.buffer.type).shape)

        def address(index: IndexValues) -> ir.Value:
            value = factor
            for access in accesses:
                shape = tensor_type(value.type).shape
                index = tuple(elements.position(each, index, shape) for each in access.map)
                value = access.source
            return elements.counters.value(elements.address(source.buffer, index))

        return flat_view(elements.buffers[source.buffer], elements.extent(size)), address

    def rows_in_place(
        self,
        factor: ir.Value,
        rows: int,
        first: ir.Value,
        count: ir.Value | int,
        at: Callable[[ir.Value], AxisValues],
    ) -> RowPlaces:
        """Where the elements of `rows` rows from the `first` on are; those behind the last of `count` are that one.

        `at` says where a row is, of its first product. The products are beside each other.
        """
        elements = self.elements
        memory, address = self.in_place(factor)
        are_whole = isinstance(count, int) and count % rows == 0
        last = None if are_whole else arith.subi(elements.extent(count), elements.index(1))
        starts: list[ir.Value] = []
        for near in range(rows):
            here = elements.moved(first, near)
            row = here if last is None or near == 0 else arith.minsi(here, last)
            starts.append(address(self.index(at(row))))

        def places(k: ir.Value) -> tuple[ir.Value, list[ir.Value]]:
            return memory, [arith.addi(start, k) for start in starts]

        return places
