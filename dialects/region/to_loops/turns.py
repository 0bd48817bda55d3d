"""The turns of the parallel outer loop, whose range is given to a kernel, and the loops inside of it."""

from contextlib import ExitStack
from dataclasses import dataclass

from tinyc.codegen.elements import Elements, IndexValues
from tinyc.expr import extents
from tinyc.expr.axes import Shape
from tinyc.mlir import ir
from tinyc.target import GENERIC_CPU

#: Neighbours that are computed together.
TILE = GENERIC_CPU.tile_elements


@dataclass(frozen=True)
class Neighbours:
    """Elements that are computed together: `count` from `first` on, along an axis."""

    first: ir.Value
    count: ir.Value | int


def loops_over(
    elements: Elements, stack: ExitStack, parallel: Shape, shape: Shape, low: ir.Value, high: ir.Value
) -> IndexValues:
    """Open the loops over `shape`, which begins with the axes `parallel` of the parallel loop; give the index."""
    turn = stack.enter_context(elements.loop(low, high, below=extents.product(parallel)))
    inner = stack.enter_context(elements.loops(shape[len(parallel) :]))
    return (*elements.delinearized(turn, parallel), *inner)
