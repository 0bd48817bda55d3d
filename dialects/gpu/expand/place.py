"""Where a tile stands in a tensor: which axes are its rows and columns, from where on, and in which batch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tinyc.codegen.elements import IndexValues
from tinyc.dialects.gpu.expand.flat_elements import FlatElements
from tinyc.dialects.gpu.expand.thread_elements import ThreadElements
from tinyc.dialects.gpu.statements import EpilogueOp, EpilogueSlabOp, LoadFragmentOp, LoadTileOp
from tinyc.dialects.gpu.statements.rules import SIDES
from tinyc.expr import axes, extents
from tinyc.expr.extents import Dim
from tinyc.mlir import ir
from tinyc.vocabulary.attributes import decode, tensor_type
from tinyc.vocabulary.types import TensorType

#: What says where a tile stands.
PlacedOp: TypeAlias = LoadTileOp | LoadFragmentOp | EpilogueOp | EpilogueSlabOp


@dataclass(frozen=True)
class TilePlace:
    """The axes of each side, in a tensor of `shape`, and the batch, row and column at which the tile starts."""

    shape: tuple[Dim, ...]
    axes: Mapping[str, tuple[int, ...]]
    guarded: frozenset[str]
    batch: ir.Value
    row: ir.Value
    column: ir.Value

    @classmethod
    def of(cls, op: PlacedOp, tensor: TensorType, start: Sequence[ir.Value]) -> "TilePlace":
        """The place that a statement gives; `start` is its batch, row and column now."""
        guarded = frozenset(side.value for side in op.guarded if isinstance(side, ir.StringAttr))
        return cls(tensor.shape, sides_of(op), guarded, *start)

    def inside(self, elements: ThreadElements, side: str, position: ir.Value) -> ir.Value | None:
        """Emit whether a row or column is one of the tensor's; None where it is known to be."""
        if side not in self.guarded:
            return None
        return elements.within(position, self.extent(side))

    def extent(self, side: str) -> Dim:
        """How many elements there are along a side."""
        return extents.product(self.shape[axis] for axis in self.axes[side])

    def index(self, elements: ThreadElements, row: ir.Value, column: ir.Value) -> IndexValues:
        """Emit the tensor's index of the element in a row and a column."""
        parts = (("batches", self.batch), ("rows", row), ("columns", column))
        return elements.taken_apart(self.shape, [(self.axes[side], number) for side, number in parts])


def store_results(elements: FlatElements, op: EpilogueOp | EpilogueSlabOp, index: IndexValues) -> None:
    """Emit what becomes of element `index` of the accumulated tensor, and write it to its place in each output."""
    shape, places = tensor_type(op.accumulated.type).shape, op.places
    assert not isinstance(places, str)  # the layer's rule
    for each in op.yields:
        place = places[each.value]
        moved = place != axes.identity(shape)
        at = tuple(elements.position(row, index, shape) for row in place) if moved else index
        elements.store_outputs([each], at)


def sides_of(op: PlacedOp) -> dict[str, tuple[int, ...]]:
    """The axes of each side of a statement's tile."""
    return {side: decode(op.attributes[side]) for side in SIDES}
