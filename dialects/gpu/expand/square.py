"""A square of elements in shared memory that is written along one side and read along the other.

A row has the elements along the side that accesses of `width` elements take. A *chunk* is such an access, or a word
where that is more; the chunks of a row stand in an order that the row's number k says: chunk q is at

    q xor ((k mod width) * (chunks / width)) xor (k / width)

So chunks at one q of `width` neighbouring rows lie in different banks, which wide accesses of neighbouring threads may
take, and so do those of rows that are `width` apart, which single elements are taken from.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tinyc.codegen import scalars
from tinyc.dialects.gpu.expand.vector_elements import VectorElements
from tinyc.dialects.gpu.statements import StoreVectorOp
from tinyc.mlir import arith, ir, memref
from tinyc.vocabulary.element_type import ElementType

#: What a bank of shared memory holds.
_BANK_BYTES = 4


@dataclass(frozen=True)
class Square:
    """A square of `side` × `side` elements in `memory`, which accesses take `width` of."""

    elements: VectorElements
    memory: ir.Value
    element: ElementType
    side: int
    width: int

    def store(self, row: ir.Value, column: ir.Value, values: Sequence[ir.Value]) -> None:
        """Emit the store of `width` values beside each other in a row, from `column` on."""
        stored = [scalars.to_storage(self.element, value) for value in values]
        place = self._place(row, column)
        if self.width == 1:
            memref.store(stored[0], self.memory, [place])
        else:
            StoreVectorOp(self.memory, place, stored)

    def load(self, row: ir.Value, column: ir.Value) -> ir.Value:
        """Emit the load of an element."""
        return scalars.from_storage(self.element, memref.load(self.memory, [self._place(row, column)]))

    def _place(self, row: ir.Value, column: ir.Value) -> ir.Value:
        index = self.elements.index
        together = min(max(self.width, _BANK_BYTES // self.element.size_bytes), self.side)
        chunks = self.side // together
        near = arith.muli(arith.remui(row, index(self.width)), index(max(chunks // self.width, 1)))
        turn = arith.remui(arith.xori(near, arith.divui(row, index(self.width))), index(chunks))
        chunk = arith.xori(arith.divui(column, index(together)), turn)
        at = arith.addi(arith.muli(row, index(chunks)), chunk)
        return arith.addi(arith.muli(at, index(together)), arith.remui(column, index(together)))
