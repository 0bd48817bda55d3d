"""The thread that runs a kernel: its place in the CTA and in the grid, and the loops by which threads share work."""

import contextlib
import math
from collections.abc import Generator

from tinyc.codegen.elements import Elements
from tinyc.expr.extents import Dim
from tinyc.mlir import arith, gpu, ir


class Threads:
    """One thread of a CTA of `cta_shape`; made where the kernel's body starts."""

    def __init__(self, elements: Elements, cta_shape: tuple[int, ...]) -> None:
        self.elements, self.cta_shape = elements, cta_shape
        self.count = math.prod(cta_shape)
        self.x, self.y, self.z = (gpu.thread_id(d) for d in (gpu.Dimension.x, gpu.Dimension.y, gpu.Dimension.z))
        self.linear = self._linear()

    def _linear(self) -> ir.Value:
        """The thread's number in its CTA, x fastest."""
        linear, below = self.x, self.cta_shape[0]
        for thread, size in ((self.y, self.cta_shape[1]), (self.z, self.cta_shape[2])):
            if size > 1:
                linear = arith.addi(arith.muli(thread, self.elements.index(below)), linear)
            below *= size
        return linear

    @contextlib.contextmanager
    def shared_in_cta(self, total: int) -> Generator[ir.Value, None, None]:
        """Emit the loop in which the threads of the CTA share the numbers below `total`."""
        with self.elements.loop(self.linear, total, self.count) as number:
            yield number

    @contextlib.contextmanager
    def shared_in_grid(self, total: Dim) -> Generator[ir.Value, None, None]:
        """Emit the loop in which the threads of a one-dimensional grid share the numbers below `total`."""
        size = self.elements.index(self.count)
        first = arith.addi(arith.muli(gpu.block_id(gpu.Dimension.x), size), self.linear)
        step = arith.muli(gpu.grid_dim(gpu.Dimension.x), size)
        with self.elements.loop(first, total, step) as number:
            yield number


def comment(text: str) -> None:
    """Write a comment at the loop or branch whose body is being written."""
    ir.InsertionPoint.current.block.owner.attributes["tgpu.comment"] = ir.StringAttr.get(text)
