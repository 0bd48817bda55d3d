"""`tgpu.load_fragment`, `tgpu.wgmma_fragment`: products of warpgroups whose operand A goes through registers."""

from typing import Any

from tinyc.analysis.elementwise_reads import elementwise_reads
from tinyc.dialects.gpu.dialect import (
    FragType,
    InFlightType,
    TgpuOp,
    accumulator_layout,
    fragment_tile,
    staged_tile,
)
from tinyc.dialects.gpu.fragment_layout import WGMMA_ROWS
from tinyc.dialects.gpu.statements.load_tile import ComputedTileOp
from tinyc.dialects.gpu.statements.rules import require_indices
from tinyc.dialects.gpu.statements.wgmma import WGMMA_K_BYTES, require_step_sums
from tinyc.mlir import ext, fields, ir
from tinyc.mlir.verifying import Malformed
from tinyc.vocabulary.attributes import tensor_type

#: Bytes of the widest element that a word of factors is made of.
_WIDEST_SOURCE_BYTES = 4


class LoadFragmentOp(ComputedTileOp, name="load_fragment"):
    """Make in registers what each warpgroup multiplies next of A, of the elements of a tile that it is computed from.

    The body computes A from its argument, a tensor of which it reads one element for each of A's, and yields it. The
    stage's tile has the elements of the argument that belong to elements (`row` + r, `column` + c) of A, in batch
    `batch`; the sides of A are those of a `tgpu.load_tile`, and outside of A are zeros along k. Taken are the columns
    from `k` on, and the rows from `first` on: so many for each of the `units`, warpgroups that lie so in the
    accumulator tile, below and beside each other.
    """

    fragment: ext.Result[Any]
    tiles: ext.Operand[Any]
    stage: ext.Operand[Any]
    batch: ext.Operand[Any]
    row: ext.Operand[Any]
    column: ext.Operand[Any]
    first: ext.Operand[Any]
    k: ir.IntegerAttr
    units: fields.I64Pair
    rows: fields.I64Array
    columns: fields.I64Array
    batches: fields.I64Array
    guarded: ir.ArrayAttr
    body: ext.Region

    @property
    def source(self) -> ir.BlockArgument:
        """The tensor of whose elements the tile is."""
        return self.body_block.arguments[0]

    def check(self) -> None:
        """The fragment is a part of the tile, as long along k as an instruction multiplies; the body is of elements."""
        require_indices(self, "first")
        if not isinstance(self.fragment.type, FragType):
            raise Malformed(f"gives {self.fragment.type}; it must be a !tgpu.frag")
        factors, held = fragment_tile(self.fragment.type, "a"), staged_tile(self.tiles.type).tile
        value = self.require_value(arguments=1)
        if value.element != factors.element:
            raise Malformed(f"makes a fragment of {factors.element} of {value.element}; give both one element type")
        depth, first = factors.columns, self.k.value
        if (
            depth * factors.element.size_bytes != WGMMA_K_BYTES
            or first % depth
            or not 0 <= first <= held.columns - depth
        ):
            raise Malformed(
                f"takes {depth} of {held.columns} elements along k, from {first} on; an MMA takes {WGMMA_K_BYTES} bytes"
            )
        below, beside = self.units
        if min(below, beside) < 1:
            raise Malformed(
                f"has units = {self.units}; it must be warpgroups, at least one below and beside each other"
            )
        if factors.rows % WGMMA_ROWS or held.rows % (below * factors.rows):
            raise Malformed(
                f"gives {below} warpgroups {factors.rows} rows each of {held.rows}; they are multiples of {WGMMA_ROWS}"
            )
        read = tensor_type(self.source.type).element
        if held.element != read or read.size_bytes > _WIDEST_SOURCE_BYTES:
            raise Malformed(f"reads {read} from tiles of {held.element}; give both one type, of at most 32 bits")
        access = elementwise_reads(self.loaded).get(self.source)
        if access is None or access.guards:
            raise Malformed(f"has no one element of {self.source.type} for each that it computes")


class WgmmaFragmentOp(TgpuOp, name="wgmma_fragment"):
    """Add the product of a fragment of A, and of the rows from `k` on of a stage's tile of B, to an accumulator tile.

    It is otherwise a step of a `tgpu.wgmma`. The fragment's registers are read until the product's group has been
    waited for: that has to be in the same block, for in the next turn of a loop they are others' (`verify_asynchrony`).
    """

    lhs: ext.Operand[Any]
    rhs: ext.Operand[Any]
    stage: ext.Operand[Any]
    column: ext.Operand[Any]
    accumulate: ext.Operand[Any]
    accumulator: ext.Operand[Any]
    k: ir.IntegerAttr
    output: ext.Result[Any]

    def check(self) -> None:
        """The fragment and the tile fit the accumulators, and the hardware reads them."""
        require_indices(self, "stage", "column")
        lhs, right = fragment_tile(self.lhs.type, "a"), staged_tile(self.rhs.type)
        layout = require_step_sums(self.accumulate.type, self.accumulator.type)
        if lhs.rows != layout.unit_rows or right.tile.columns % layout.columns:
            raise Malformed(
                f"multiplies {lhs} by {right.tile} into {layout.unit_rows}x{layout.unit_columns} for each warpgroup"
            )
        if lhs.element != right.tile.element:
            raise Malformed(f"multiplies {lhs.element} by {right.tile.element}; operands have one element type")
        size, first = lhs.element.size_bytes, self.k.value
        if (
            lhs.columns * size != WGMMA_K_BYTES
            or first % lhs.columns
            or not 0 <= first <= right.tile.rows - lhs.columns
        ):
            raise Malformed(
                f"multiplies {lhs.columns} of {right.tile.rows} elements along k, from {first} on; an instruction "
                f"takes {WGMMA_K_BYTES} bytes"
            )
        if not right.swizzle:
            raise Malformed("reads tiles without a swizzle, which is the layout that its descriptors have here")
        if size != 2 and right.order != "col":
            raise Malformed(f"reads {lhs.element} across k; only elements of 16 bits may lie along n")
        if not isinstance(self.output.type, InFlightType) or accumulator_layout(self.output.type) != layout:
            raise Malformed(f"gives {self.output.type}; it must be the same accumulators, as a !tgpu.in_flight")
