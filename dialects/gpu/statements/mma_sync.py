"""`tgpu.ldmatrix`, `tgpu.mma_sync`: products of warps, whose operands go through registers."""

from typing import Any

from tinyc.dialects.gpu.dialect import FragType, TgpuOp, fragment_side, fragment_tile, ready_layout, staged_tile
from tinyc.dialects.gpu.fragment_layout import PIECE_COLUMNS
from tinyc.dialects.gpu.shared_layout import CHUNK_BYTES
from tinyc.dialects.gpu.statements.rules import require_indices
from tinyc.mlir import ext, fields, ir
from tinyc.mlir.verifying import Malformed


class LdmatrixOp(TgpuOp, name="ldmatrix"):
    """Load what each warp multiplies next of a stage's tile: of A its rows, of B its columns, at `k` to k + 2 chunks.

    `warps` says how the warps lie in the accumulator tile: so many below each other, and beside each other. Of a warp's
    rows or columns the fragment has those from the warp's `first` on. Either side of the tile may be contiguous; of
    elements of 8 bits it is k.
    """

    fragment: ext.Result[Any]
    tiles: ext.Operand[Any]
    stage: ext.Operand[Any]
    k: ir.IntegerAttr
    first: ir.IntegerAttr
    warps: fields.I64Pair

    @property
    def side(self) -> str:
        """Which operand it is."""
        kind = self.fragment.type
        return fragment_side(kind) if isinstance(kind, FragType) else ""

    def check(self) -> None:
        """The fragment is a part of the tile, as long along k as an instruction multiplies."""
        require_indices(self, "stage")
        staged = staged_tile(self.tiles.type)
        if not isinstance(self.fragment.type, FragType):
            raise Malformed(f"gives {self.fragment.type}; it must be a !tgpu.frag")
        tile, side = fragment_tile(self.fragment.type, self.side), self.side
        depth, along = (tile.columns, tile.rows) if side == "a" else (tile.rows, tile.columns)
        whole, extent = (
            (staged.tile.columns, staged.tile.rows) if side == "a" else (staged.tile.rows, staged.tile.columns)
        )
        k = self.k.value
        if depth * tile.element.size_bytes != 2 * CHUNK_BYTES or k % depth or not 0 <= k <= whole - depth:
            raise Malformed(f"takes {depth} of {whole} elements along k, from {k} on; an MMA takes 32 bytes")
        count, first = list(self.warps)[0 if side == "a" else 1], self.first.value
        if count < 1 or extent % count or along % 8 or first % 8 or not 0 <= first <= extent // count - along:
            message = f"gives each of {count} warps {along} of {extent}, from its {first} on"
            raise Malformed(f"{message}; warps share the tile equally, and load multiples of 8")
        is_k_major = (staged.order == "row") == (side == "a")
        if not is_k_major and tile.element.size_bytes == 1:
            raise Malformed(f"transposes {tile.element}, and a word has several along k; store the tile along k")


class MmaSyncOp(TgpuOp, name="mma_sync"):
    """Add the product of two fragments to the accumulators of each warp: to those of its columns from `column` on."""

    lhs: ext.Operand[Any]
    rhs: ext.Operand[Any]
    accumulator: ext.Operand[Any]
    output: ext.Result[Any]
    column: ir.IntegerAttr

    def check(self) -> None:
        """The fragments are those of a warp of the accumulator tile, B's of a part of its columns."""
        lhs, rhs = fragment_tile(self.lhs.type, "a"), fragment_tile(self.rhs.type, "b")
        layout = ready_layout(self.accumulator.type)
        if self.output.type != self.accumulator.type:
            raise Malformed(f"gives {self.output.type}; it must be what it adds to, {self.accumulator.type}")
        if layout is None or layout.unit != "mma":
            raise Malformed(f"adds to {self.accumulator.type}; its accumulators are #tgpu.fragments of mma")
        column = self.column.value
        is_inside = column >= 0 and column % PIECE_COLUMNS == 0 and column + rhs.columns <= layout.unit_columns
        if lhs.rows != layout.unit_rows or lhs.columns != rhs.rows or not is_inside:
            warp = f"{layout.unit_rows}x{layout.unit_columns} for each warp, from column {column} on"
            raise Malformed(f"multiplies {lhs} by {rhs} into {warp}")
        if lhs.element != rhs.element:
            raise Malformed(f"multiplies {lhs.element} by {rhs.element}; operands of a product have one element type")
