"""The micro-kernel of a product: the sums of some rows and a few vectors of columns, in registers.

A step loads the vectors of the right operand and, row by row, one element of the left one, and adds their products to
the sums: of 14 rows and two vectors on a CPU of 32 vector registers, of 6 on one of 16. Source: Van Zee, van de Geijn,
"BLIS: A Framework for Rapidly Instantiating BLAS Functionality".
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tinyc.codegen import scalars
from tinyc.codegen.elements import Elements
from tinyc.expr.extents import Dim
from tinyc.mlir import arith, ir, memref, vector
from tinyc.mlir.constants import number
from tinyc.target import VectorUnit
from tinyc.vocabulary.element_type import ElementType

#: Memory, and a place in it.
Place: TypeAlias = tuple[ir.Value, ir.Value]


@dataclass(frozen=True)
class MicroKernel:
    """The sums of `rows` and of `vectors` of `lanes` columns, which are row by row, vector by vector."""

    element: ElementType
    rows: int
    vectors: int
    lanes: int
    is_fused: bool

    @classmethod
    def of(cls, element: ElementType, unit: VectorUnit, rows: Dim) -> "MicroKernel":
        """The micro-kernel of a CPU, of no more rows than there are."""
        most = unit.micro_rows
        return cls(
            element,
            min(rows, most) if isinstance(rows, int) and rows else most,
            unit.micro_vectors,
            unit.register_bytes // element.size_bytes,
            unit.has_fma and element.is_float,
        )

    @property
    def columns(self) -> int:
        """The columns of all vectors."""
        return self.vectors * self.lanes

    def zeros(self) -> list[ir.Value]:
        """Emit sums of nothing."""
        zero = number(0, scalars.register_type(self.element))
        return [vector.broadcast(self._type, zero)] * (self.rows * self.vectors)

    def load(self, elements: Elements, memory: ir.Value, slot: ir.Value, pitch: int) -> list[ir.Value]:
        """Emit the loads of sums that begin at `slot`, their rows `pitch` apart."""
        places = self._places(elements, slot, pitch)
        return [vector.load(self._type, memory, [place]) for place in places]

    def store(self, elements: Elements, memory: ir.Value, slot: ir.Value, pitch: int, sums: Sequence[ir.Value]) -> None:
        """Emit the stores of sums."""
        for place, each in zip(self._places(elements, slot, pitch), sums, strict=True):
            vector.store(each, memory, [place])

    def multiplied(self, elements: Elements, left: Place, right: Place, sums: Sequence[ir.Value]) -> list[ir.Value]:
        """Emit the products of `rows` elements of the left operand with `columns` of the right one, added to `sums`."""
        memory, first = right
        columns = [
            vector.load(self._type, memory, [elements.moved(first, at * self.lanes)]) for at in range(self.vectors)
        ]
        memory, first = left
        found: list[ir.Value] = []
        for row in range(self.rows):
            factor = vector.broadcast(self._type, memref.load(memory, [elements.moved(first, row)]))
            for at, column in enumerate(columns):
                found.append(self._added(factor, column, sums[row * self.vectors + at]))
        return found

    def _added(self, left: ir.Value, right: ir.Value, total: ir.Value) -> ir.Value:
        if self.is_fused:
            return vector.fma(left, right, total)
        if self.element.is_float:
            return arith.addf(total, arith.mulf(left, right))
        return arith.addi(total, arith.muli(left, right))

    def _places(self, elements: Elements, slot: ir.Value, pitch: int) -> Iterator[ir.Value]:
        for row in range(self.rows):
            for at in range(self.vectors):
                yield elements.moved(slot, row * pitch + at * self.lanes)

    @property
    def _type(self) -> ir.Type:
        return ir.VectorType.get([self.lanes], scalars.register_type(self.element))
