"""The turns of the parallel outer loop, whose range is given to a kernel, the loops in one, and tiles of them."""

from contextlib import ExitStack
from dataclasses import dataclass

from tinyc.codegen.elements import Elements, IndexValues
from tinyc.expr import extents
from tinyc.expr.axes import Shape
from tinyc.expr.extents import Dim
from tinyc.mlir import arith, ir
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


def tile_along(elements: Elements, stack: ExitStack, start: ir.Value, end: ir.Value, extent: Dim) -> Neighbours:
    """Open the loop over the tiles from `start` below `end` along an axis."""
    first = stack.enter_context(elements.loop(start, end, TILE, below=extent))
    if extents.divide(extent, TILE) is not None:
        return Neighbours(first, TILE)
    return Neighbours(first, arith.minsi(elements.index(TILE), arith.subi(end, first)))


def count_from(elements: Elements, first: ir.Value, size: int, extent: ir.Value | Dim) -> ir.Value | int:
    """How many there are of an extent from `first` on, a multiple of `size`, at most as many."""
    if not isinstance(extent, ir.Value) and extents.divide(extent, size) is not None:
        return size
    if isinstance(extent, int) and extent < size:
        return extent
    return arith.minsi(elements.index(size), arith.subi(elements.extent(extent), first))
