"""`tgpu.wgmma`: the product of two tiles in shared memory, by warpgroups, while the threads may go on."""

from typing import Any

from tinyc.dialects.gpu.dialect import InFlightType, TgpuOp, accumulator_layout, staged_tile
from tinyc.dialects.gpu.fragment_layout import FragmentLayout
from tinyc.dialects.gpu.statements.rules import require_indices
from tinyc.mlir import ext, ir
from tinyc.mlir.verifying import Malformed

#: Bytes along k that one instruction multiplies.
WGMMA_K_BYTES = 32


class WgmmaOp(TgpuOp, name="wgmma"):
    """Add the product of the tiles of a stage, [BM, BK] and [BK, BN], to an accumulator tile; it is then in flight.

    The accumulators are those of the rows of the one tile from `row` on, and the columns of the other from `column` on.
    Where `accumulate` (an i1) is false, the accumulators are set instead: what was in them does not count.
    """

    lhs: ext.Operand[Any]
    rhs: ext.Operand[Any]
    stage: ext.Operand[Any]
    row: ext.Operand[Any]
    column: ext.Operand[Any]
    accumulate: ext.Operand[Any]
    accumulator: ext.Operand[Any]
    output: ext.Result[Any]

    def check(self) -> None:
        """The tiles fit the accumulators, and the hardware reads them."""
        left, right = staged_tile(self.lhs.type), staged_tile(self.rhs.type)
        require_indices(self, "stage", "row", "column")
        layout = require_step_sums(self.accumulate.type, self.accumulator.type)
        lhs, rhs = left.tile, right.tile
        if rhs.rows != lhs.columns or lhs.rows % layout.rows or rhs.columns % layout.columns:
            raise Malformed(
                f"multiplies {lhs} by {rhs} into {layout.rows}x{layout.columns}; tiles are MxK, KxN and MxN"
            )
        if left.stages != right.stages or lhs.element != rhs.element:
            raise Malformed(
                f"multiplies {self.lhs.type} by {self.rhs.type}; give both one element type and as many stages"
            )
        if not left.swizzle or not right.swizzle:
            raise Malformed("reads tiles without a swizzle, which is the layout that its descriptors have here")
        size = lhs.element.size_bytes
        if size != 2 and (left.order, right.order) != ("row", "col"):
            raise Malformed(f"reads {lhs.element} across k; only elements of 16 bits may lie along m or n")
        if lhs.columns * size % WGMMA_K_BYTES:
            raise Malformed(f"multiplies {lhs.columns} elements along k; an instruction takes {WGMMA_K_BYTES} bytes")
        if not isinstance(self.output.type, InFlightType) or accumulator_layout(self.output.type) != layout:
            raise Malformed(f"gives {self.output.type}; it must be the same accumulators, as a !tgpu.in_flight")


def require_step_sums(accumulate: ir.Type, accumulator: ir.Type) -> FragmentLayout:
    """Check the types of a product's accumulator, and of what says whether that counts; return its layout."""
    layout = accumulator_layout(accumulator)
    if str(accumulate) != "i1":
        raise Malformed(f"accumulates where {accumulate} says so; it must be an i1")
    if layout is None or layout.unit != "wgmma" or layout.unit_columns > 256:
        raise Malformed(f"adds to {accumulator}; its accumulators are #tgpu.fragments of wgmma, 256 wide at most")
    return layout
