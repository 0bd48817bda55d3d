"""`tgpu.store_partial`, `tgpu.add_partial`: accumulator tiles that are handed on through memory, sum by sum."""

from typing import Any

from tinyc.dialects.gpu.dialect import TgpuOp, accumulator_tile, ready_layout
from tinyc.dialects.gpu.statements.rules import require_indices
from tinyc.dialects.region import ops as region
from tinyc.mlir import ext
from tinyc.mlir.verifying import Malformed


class StorePartialOp(TgpuOp, name="store_partial"):
    """Write an accumulator tile to a workspace: from `row` and `column` of its plane `plane` on.

    The workspace is a tensor of planes, rows and columns, which has all of the tile.
    """

    accumulator: ext.Operand[Any]
    workspace: ext.Operand[Any]
    plane: ext.Operand[Any]
    row: ext.Operand[Any]
    column: ext.Operand[Any]

    def check(self) -> None:
        """The workspace holds accumulators, which are ready."""
        _require_planes(self)


class AddPartialOp(TgpuOp, name="add_partial"):
    """Add to an accumulator tile what a `tgpu.store_partial` of its place has written."""

    output: ext.Result[Any]
    accumulator: ext.Operand[Any]
    workspace: ext.Operand[Any]
    plane: ext.Operand[Any]
    row: ext.Operand[Any]
    column: ext.Operand[Any]

    def check(self) -> None:
        """The workspace holds accumulators, and what comes out is what goes in."""
        _require_planes(self)
        if self.output.type != self.accumulator.type:
            raise Malformed(f"makes {self.output.type} of {self.accumulator.type}; give both one type")


def _require_planes(op: StorePartialOp | AddPartialOp) -> None:
    kind = op.accumulator.type
    element = accumulator_tile(kind).element
    if ready_layout(kind) is None:
        raise Malformed(f"hands on {kind}; the threads of #tgpu.fragments have pairs of columns, which it takes")
    require_indices(op, "plane", "row", "column")
    if not isinstance(op.workspace.type, region.MemRefType):
        raise Malformed(f"takes a workspace of type {op.workspace.type}; it must be a !region.memref")
    held = region.held_tensor(op.workspace.type)
    if held.element != element or held.rank != 3:
        raise Malformed(f"takes a workspace of {held}; it must have planes, rows and columns of {element}")
