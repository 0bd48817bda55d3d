"""The thread that runs a kernel: its place in the block and in the grid, and the loops by which threads share work."""

import contextlib
import math
from collections.abc import Iterator
from typing import Any

from tinyc.codegen.elements import Elements
from tinyc.mlir import arith, gpu, ir


class Threads:
    """One thread of the block that `function` declares; made where its body starts."""

    def __init__(self, elements: Elements, function: Any) -> None:
        self.elements = elements
        self.block_size = tuple(function.operation.attributes["known_block_size"])
        self.count = math.prod(self.block_size)
        self.x, self.y, self.z = (gpu.thread_id(d) for d in (gpu.Dimension.x, gpu.Dimension.y, gpu.Dimension.z))
        self.linear = self._linear()

    def _linear(self) -> Any:
        """Return the thread's number in its block, x fastest."""
        linear, below = self.x, self.block_size[0]
        for thread, size in ((self.y, self.block_size[1]), (self.z, self.block_size[2])):
            if size > 1:
                linear = arith.addi(arith.muli(thread, self.elements.index(below)), linear)
            below *= size
        return linear

    @contextlib.contextmanager
    def shared_in_block(self, total: int) -> Iterator[Any]:
        """Emit the loop in which the threads of the block share the numbers below `total`."""
        with self.elements.loop(self.linear, self.elements.index(total), self.count) as number:
            yield number

    @contextlib.contextmanager
    def shared_in_grid(self, total: Any) -> Iterator[Any]:
        """Emit the loop in which the threads of a one-dimensional grid share the numbers below `total`."""
        size = self.elements.index(self.count)
        first = arith.addi(arith.muli(gpu.block_id(gpu.Dimension.x), size), self.linear)
        step = arith.muli(gpu.grid_dim(gpu.Dimension.x), size)
        with self.elements.loop(first, total, step) as number:
            yield number


def comment(text: str) -> None:
    """Say at the loop or branch whose body is being written what it is for."""
    ir.InsertionPoint.current.block.owner.attributes["tgpu.comment"] = ir.StringAttr.get(text)
