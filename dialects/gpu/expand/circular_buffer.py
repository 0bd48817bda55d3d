"""A circular buffer of tiles in shared memory, as one thread addresses it: row-major, one stage after the other."""

from dataclasses import dataclass

from tinyc.codegen import scalars
from tinyc.dialects.gpu.dialect import GpuTile
from tinyc.dialects.gpu.expand.thread_elements import ThreadElements
from tinyc.mlir import arith, ir, memref


@dataclass(frozen=True)
class CircularBuffer:
    """Tiles in the memref `memory`, a row of elements of their storage type."""

    memory: ir.Value
    tile: GpuTile

    def load(self, elements: ThreadElements, stage: ir.Value, row: ir.Value, column: ir.Value) -> ir.Value:
        """Emit the load of an element in its register type."""
        number = arith.addi(arith.muli(row, elements.index(self.tile.columns)), column)
        stored = memref.load(self.memory, [self._position(elements, stage, number)])
        return scalars.from_storage(self.tile.element, stored)

    def store(self, elements: ThreadElements, stage: ir.Value, number: ir.Value, stored: ir.Value) -> None:
        """Emit the store of element `number` of a stage's tile, which is in its storage type."""
        memref.store(stored, self.memory, [self._position(elements, stage, number)])

    def _position(self, elements: ThreadElements, stage: ir.Value, number: ir.Value) -> ir.Value:
        return arith.addi(arith.muli(stage, elements.index(self.tile.elements)), number)
