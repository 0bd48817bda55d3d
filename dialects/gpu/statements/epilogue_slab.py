"""`tgpu.epilogue_slab`: finish some columns of an accumulator tile, into tiles in shared memory."""

from collections.abc import Mapping, Sequence
from typing import Any

from tinyc.analysis.result_places import result_places
from tinyc.dialects.gpu.dialect import TgpuOp, accumulator_tile, ready_layout, staged_tile
from tinyc.dialects.gpu.statements.load_tile import YieldOp
from tinyc.dialects.gpu.statements.rules import (
    require_body,
    require_guarded,
    require_indices,
    require_region_ops,
    require_sides,
    require_unordered,
)
from tinyc.expr.axes import Index
from tinyc.mlir import ext, ir
from tinyc.mlir.verifying import Malformed
from tinyc.vocabulary.attributes import tensor_type


class EpilogueSlabOp(TgpuOp, name="epilogue_slab"):
    """Finish the accumulators of `slab` (first column, columns, for each unit of the layout) into a stage of tiles.

    The body is that of a `tgpu.epilogue`, but ends in a `tgpu.yield` for each output: its elements go to the tile in
    shared memory of the same number, at the rows and columns of the accumulators, those of the slab beside each other.
    """

    accumulator: ext.Operand[Any]
    batch: ext.Operand[Any]
    row: ext.Operand[Any]
    column: ext.Operand[Any]
    stage: ext.Operand[Any]
    tiles: Sequence[ext.Operand[Any]]
    rows: Any
    columns: Any
    batches: Any
    guarded: ir.ArrayAttr
    slab: Any
    body: ext.Region

    @property
    def accumulated(self) -> ir.BlockArgument:
        """The accumulated tensor, which its body goes on from."""
        return self.body_block.arguments[0]

    @property
    def finished(self) -> list[ir.Value]:
        """The values of the outputs."""
        return [op.value for op in self.inner if isinstance(op, YieldOp)]

    @property
    def places(self) -> Mapping[ir.Value, Index] | str:
        """For each value that it yields, where an element of the accumulated tensor is in it; or why it is nowhere."""
        return result_places(self, self.accumulated)

    def check(self) -> None:
        """The tiles have the slab's elements in the types of the outputs."""
        layout, tile = ready_layout(self.accumulator.type), accumulator_tile(self.accumulator.type)
        require_indices(self, "batch", "row", "column", "stage")
        ops = require_body(self, arguments=1)
        first, width = list(self.slab)
        if layout is None or first % 8 or width % 8 or first + width > layout.unit_columns:
            raise Malformed(f"finishes columns {first} to {first + width} of {self.accumulator.type}")
        value = tensor_type(self.accumulated.type)
        if tile.element != value.element.accumulator:
            raise Malformed(f"makes {value.element} of an accumulator in {tile.element}; accumulate in {value.element.accumulator}")
        yields = [op for op in ops if isinstance(op, YieldOp)]
        require_region_ops(ops[: len(ops) - len(yields)])
        require_unordered(ops)
        if len(require_sides(self, value.rank)) != value.rank:
            raise Malformed(f"has not all {value.rank} axes of the accumulated tensor in rows, columns and batches")
        require_guarded(self)
        if len(yields) != len(self.tiles) or not yields:
            raise Malformed(f"yields {len(yields)} values to {len(self.tiles)} tiles; give each output a tile")
        if isinstance(self.places, str):
            raise Malformed(f"has no one place in its results for an element of {value}: {self.places}")
        units_beside = layout.columns // layout.unit_columns
        for each, held in zip(yields, self.tiles, strict=True):
            wanted, staged = tensor_type(each.value.type).element, staged_tile(held.type).tile
            if staged.element != wanted or staged.shape != (layout.rows, width * units_beside):
                raise Malformed(f"writes {layout.rows}x{width * units_beside} {wanted} to {held.type}")
