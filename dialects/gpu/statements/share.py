"""`tgpu.share`: operands that a CTA reads once, into shared memory, where the statements behind it read them."""

from collections.abc import Sequence
from typing import Any

from tinyc.dialects.gpu.dialect import TgpuOp
from tinyc.dialects.gpu.statements.rules import require_width
from tinyc.dialects.region import ops as region
from tinyc.mlir import ext, ir
from tinyc.mlir.verifying import Malformed


class ShareOp(TgpuOp, name="share"):
    """Copy operands, all of one type, to the CTA's shared memory, for the statements behind it.

    Threads are to take `width` neighbours at a time, which begin at multiples of `aligned_to`.
    """

    buffers: Sequence[ext.Operand[Any]]
    width: ir.IntegerAttr
    aligned_to: ir.IntegerAttr

    def check(self) -> None:
        """The operands are buffers of known extents, and the attributes have meanings."""
        for buffer in self.buffers:
            if not isinstance(buffer.type, region.MemRefType):
                raise Malformed(f"takes a buffer of the kernel, not {buffer.type}")
            tensor = region.held_tensor(buffer.type)
            if not all(isinstance(extent, int) and extent > 0 for extent in tensor.shape):
                raise Malformed(f"shares {tensor}; an array in shared memory has known extents above 0")
        require_width(self)
        if self.aligned_to.value < 1 or self.width.value % self.aligned_to.value:
            raise Malformed(f"has aligned_to = {self.aligned_to}; it must divide the width, {self.width.value}")
