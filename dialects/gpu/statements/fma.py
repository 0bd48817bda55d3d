"""`tgpu.fma`: add the product of two tiles to an accumulator tile."""

from typing import Any

from tinyc.dialects.gpu.dialect import TgpuOp, accumulator_tile, staged_tile
from tinyc.dialects.gpu.statements.rules import require_indices
from tinyc.mlir import ext
from tinyc.mlir.verifying import Malformed


class FmaOp(TgpuOp, name="fma"):
    """Add the product of the tiles in one stage of shared memory, [BM, BK] and [BK, BN], to an accumulator [BM, BN]."""

    lhs: ext.Operand[Any]
    rhs: ext.Operand[Any]
    stage: ext.Operand[Any]
    accumulator: ext.Operand[Any]
    output: ext.Result[Any]

    def check(self) -> None:
        """The tiles fit, share their stages and their element type, and the accumulator holds their products."""
        left, right = staged_tile(self.lhs.type), staged_tile(self.rhs.type)
        accumulator = accumulator_tile(self.accumulator.type)
        require_indices(self, "stage")
        lhs, rhs = left.tile, right.tile
        if rhs.rows != lhs.columns or accumulator.shape != (lhs.rows, rhs.columns):
            raise Malformed(f"multiplies {lhs} by {rhs} into an accumulator {accumulator}; tiles are MxK, KxN and MxN")
        if left.stages != right.stages:
            raise Malformed(f"reads one stage of buffers of {left.stages} and {right.stages} stages; give both as many")
        if lhs.element != rhs.element:
            raise Malformed(f"multiplies {lhs.element} by {rhs.element}; operands of a product have one element type")
        if lhs.element.is_float != accumulator.element.is_float:
            raise Malformed(
                f"accumulates products of {lhs.element} in {accumulator.element}; use floats for both, or integers"
            )
        if self.output.type != self.accumulator.type:
            raise Malformed(f"gives {self.output.type}, and adds to {self.accumulator.type}; give both one type")
