"""`tgpu.epilogue_slab`: finish some columns of an accumulator tile, into a tile in shared memory."""

from collections.abc import Mapping, Sequence
from typing import Any

from tinyc.analysis.result_places import result_places
from tinyc.dialects.gpu.dialect import OutputOp, accumulator_tile, ready_layout, staged_tile
from tinyc.dialects.gpu.statements.rules import (
    require_body,
    require_guarded,
    require_indices,
    require_sides,
    require_unordered,
    require_yields,
)
from tinyc.expr.axes import Index
from tinyc.mlir import ext, fields, ir
from tinyc.mlir.verifying import Malformed
from tinyc.vocabulary.attributes import tensor_type


class EpilogueSlabOp(OutputOp, name="epilogue_slab"):
    """Finish the accumulators of `slab` (first column, columns, for each unit of the layout) into the tile of a stage.

    The body is that of a `tgpu.epilogue` with one output. But its elements go to the tile in shared memory, at the rows
    and columns of the accumulators, those of the slab beside each other; a statement behind it writes them to the
    buffer. `residuals` are tiles of the same rows and columns, in the same stage, of tensors that have an element for
    each of the accumulated one: these are the body's further arguments. Behind each `pieces` of 16 x 8 accumulators,
    which are finished two at a time, the warp waits: what threads read for the next ones is not read before, and takes
    no registers. 0: it does not wait.
    """

    accumulator: ext.Operand[Any]
    batch: ext.Operand[Any]
    row: ext.Operand[Any]
    column: ext.Operand[Any]
    tiles: ext.Operand[Any]
    stage: ext.Operand[Any]
    residuals: Sequence[ext.Operand[Any]]
    rows: fields.I64Array
    columns: fields.I64Array
    batches: fields.I64Array
    guarded: ir.ArrayAttr
    slab: fields.I64Pair
    pieces: ir.IntegerAttr
    body: ext.Region

    @property
    def accumulated(self) -> ir.BlockArgument:
        """The accumulated tensor, which its body goes on from."""
        return self.body_block.arguments[0]

    @property
    def places(self) -> Mapping[ir.Value, Index] | str:
        """For each value that it yields, where an element of the accumulated tensor is in it; or why it is nowhere."""
        return result_places(self, self.accumulated)

    def check(self) -> None:
        """The tiles have the slab's elements in the types of the outputs."""
        layout, tile = ready_layout(self.accumulator.type), accumulator_tile(self.accumulator.type)
        require_indices(self, "batch", "row", "column", "stage")
        ops = require_body(self, arguments=1 + len(self.residuals))
        first, width = list(self.slab)
        if layout is None or first % 8 or width % 8 or not 0 <= first < first + width <= layout.unit_columns:
            raise Malformed(
                f"finishes columns {first} to {first + width} of {self.accumulator.type}; a slab is columns of a "
                "unit's #tgpu.fragments, whose numbers 8 divides"
            )
        if (pieces := self.pieces.value) < 0 or pieces % 2:
            raise Malformed(f"has pieces = {pieces}; they are finished two at a time: give an even number, or 0")
        value = tensor_type(self.accumulated.type)
        if tile.element != value.element.accumulator:
            raise Malformed(
                f"makes {value.element} of an accumulator in {tile.element}; accumulate in {value.element.accumulator}"
            )
        yields = require_yields(ops)
        require_unordered(ops)
        if len(require_sides(self, value.rank)) != value.rank:
            raise Malformed(f"has not all {value.rank} axes of the accumulated tensor in rows, columns and batches")
        require_guarded(self)
        if len(yields) != 1:
            raise Malformed(f"has {len(yields)} outputs; give each a statement and a tile of its own")
        if isinstance(self.places, str):
            raise Malformed(f"has no one place in its result for an element of {value}: {self.places}")
        wanted, staged = tensor_type(yields[0].value.type).element, staged_tile(self.tiles.type).tile
        shape = layout.rows, width * (layout.columns // layout.unit_columns)
        if staged.element != wanted or staged.shape != shape:
            raise Malformed(f"writes {shape[0]}x{shape[1]} {wanted} to {self.tiles.type}; give the tile this type")
        for tiles, argument in zip(self.residuals, list(self.body_block.arguments)[1:], strict=True):
            held, read = staged_tile(tiles.type).tile, tensor_type(argument.type)
            if read.shape != value.shape or (held.element, held.shape) != (read.element, shape):
                raise Malformed(
                    f"reads {argument.type} from {tiles.type}; a residual has the accumulated tensor's shape, and "
                    f"tiles of {shape[0]}x{shape[1]}"
                )
