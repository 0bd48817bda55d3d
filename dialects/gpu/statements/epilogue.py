"""`tgpu.epilogue`: what a region makes of what it accumulates, on an accumulator tile in registers."""

from collections.abc import Mapping
from typing import Any

from tinyc.analysis.result_places import result_places
from tinyc.dialects.gpu.dialect import OutputOp, accumulator_tile
from tinyc.dialects.gpu.statements.rules import (
    require_body,
    require_guarded,
    require_indices,
    require_sides,
    require_unordered,
    require_words,
    require_yields,
)
from tinyc.dialects.region import ops as region
from tinyc.expr.axes import Index
from tinyc.mlir import ext, fields, ir
from tinyc.mlir.verifying import Malformed
from tinyc.vocabulary.attributes import tensor_type
from tinyc.vocabulary.broadcast import Broadcast


class EpilogueOp(OutputOp, name="epilogue"):
    """Finish an accumulator tile in registers and write it.

    The body is what the region does with the accumulated tensor: that is its argument (in the type that the region's
    `tiny.reduce` gives it), and it ends in a `region.yield` for each output, in which each element has one place.
    `rows`, `columns` and `batches` are all axes of that tensor, as in `tgpu.load_tile`; where a side of `guarded`
    reaches beyond it nothing is written. `kinds` are the broadcast kinds of the `region.read`s in the body, how their
    elements follow the tile: "row" (one for each row), "column", "full", "scalar", or "gather" (any other way).
    """

    accumulator: ext.Operand[Any]
    batch: ext.Operand[Any]
    row: ext.Operand[Any]
    column: ext.Operand[Any]
    rows: fields.I64Array
    columns: fields.I64Array
    batches: fields.I64Array
    guarded: ir.ArrayAttr
    kinds: ir.ArrayAttr
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
        """Accumulator and accumulated tensor have one type, elements a place in outputs, axes a side, reads a kind."""
        tile = accumulator_tile(self.accumulator.type)
        require_indices(self, "batch", "row", "column")
        ops = require_body(self, arguments=1)
        value = tensor_type(self.accumulated.type)
        if tile.element != value.element.accumulator:
            raise Malformed(
                f"makes {value.element} of an accumulator in {tile.element}; accumulate in {value.element.accumulator}"
            )
        axes = require_sides(self, value.rank)
        if len(axes) != value.rank:
            raise Malformed(
                f"has {len(axes)} axes in rows, columns and batches, and the accumulated tensor has {value.rank}"
            )
        require_guarded(self)
        require_unordered(ops)
        require_yields(ops)
        places = self.places
        if isinstance(places, str):
            raise Malformed(f"has no one place in its results for an element of {value}: {places}")
        reads = sum(isinstance(op, region.ReadOp) for op in ops)
        if len(require_words(self, "kinds", tuple(Broadcast))) != reads:
            raise Malformed(f"has kinds = {self.kinds}, and reads {reads} buffers; give a broadcast kind for each")
