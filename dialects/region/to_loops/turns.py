"""The turns of the parallel outer loop, whose range is given to a kernel, the loops in one, and tiles of them."""

from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from tinyc.analysis.tile_sides import TileSide
from tinyc.codegen.elements import Elements, IndexValues
from tinyc.expr import extents
from tinyc.expr.axes import Shape, constant
from tinyc.expr.extents import Dim
from tinyc.mlir import arith, ir
from tinyc.target import GENERIC_CPU

#: Neighbours that are computed together.
TILE = GENERIC_CPU.tile_elements


@dataclass(frozen=True)
class Neighbours:
    """Elements that are computed together: `count` from `first` on, along an axis, and at `most` so many."""

    first: ir.Value
    count: ir.Value | int
    most: int


@dataclass(frozen=True)
class TileLines:
    """The rows or the columns of one tile: `count` of them, of as many turns of the first loop of a side as there are.

    `starts` has the first place along each loop of the side. Lines are numbered as they lie in places of the extents
    `held`: where these are longer than the loops, there are numbers between them that are of no line.
    """

    elements: Elements
    side: TileSide
    starts: tuple[ir.Value, ...]
    turns: ir.Value | int
    held: Shape

    @classmethod
    def of(cls, elements: Elements, side: TileSide, turn: IndexValues, held: Shape | None = None) -> "TileLines":
        """The lines of the tile that is the `turn` of all loops, as many as there are or those that are `held`."""
        if not side.loops:
            return cls(elements, side, (), 1, ())
        counters = elements.counters
        first = counters.value(counters.expression(turn[side.loops[0]]) * side.size)
        inside = [elements.index(0) for _ in side.loops[1:]]
        turns = count_from(elements, first, side.size, side.extents[0])
        return cls(elements, side, (first, *inside), turns, held or (side.size, *side.extents[1:]))

    @property
    def count(self) -> ir.Value | int:
        """How many there are."""
        if isinstance(self.turns, int):
            return self.turns * self.side.inside
        counters = self.elements.counters
        return counters.value(counters.expression(self.turns) * self.side.inside)

    @property
    def end(self) -> ir.Value | int:
        """The number behind that of the last line."""
        if self.held[1:] == self.side.extents[1:]:
            return self.count
        counters, inner = self.elements.counters, self.side.extents[1:]
        turns = counters.expression(self.elements.extent(self.turns))
        last = counters.linear((turns - 1, *(constant(size - 1) for size in inner)), self.held)
        return counters.value(last + 1)

    def places(self, line: ir.Value) -> tuple[ir.Value, ...]:
        """Where a line is along each loop."""
        inside = self.elements.delinearized(line, self.held) if self.starts else ()
        return tuple(map(self.elements.moved, self.starts, inside))

    def number(self, places: Sequence[ir.Value]) -> ir.Value:
        """The number in the tile of the line at places along each loop."""
        counters = self.elements.counters
        pairs = zip(places, self.starts, strict=True)
        apart = tuple(counters.expression(place) - counters.expression(start) for place, start in pairs)
        return counters.value(counters.linear(apart, self.held))

    @contextmanager
    def each(self) -> Generator[ir.Value]:
        """Open loops over all lines; give the number of one."""
        counters, shape = self.elements.counters, (self.side.size, *self.side.extents[1:])
        with ExitStack() as stack:
            first = stack.enter_context(self.elements.loop(0, self.turns, below=self.side.size))
            index = (first, *stack.enter_context(self.elements.loops(shape[1:])))
            yield counters.value(counters.linear(counters.expressions(index, shape), self.held))


@dataclass(frozen=True)
class LineRun:
    """Lines of a tile from `start` up to `end`, in micro-kernels of `size` lines, which they fill if it `is_whole`."""

    start: ir.Value | int
    end: ir.Value | int
    size: int
    is_whole: bool


def line_runs(count: ir.Value | int, size: int, unit: int) -> list[LineRun]:
    """The runs of so many lines in micro-kernels of a size; the last one, if it is not whole, is of fewer units."""
    if not isinstance(count, int) or unit == size:
        return [LineRun(0, count, size, is_whole=isinstance(count, int) and count % size == 0)]
    rest = count % size
    last = LineRun(count - rest, count, -(-rest // unit) * unit, is_whole=rest % unit == 0)
    runs = (LineRun(0, count - rest, size, is_whole=True), last)
    return [run for run in runs if run.start != run.end]


def loops_over(
    elements: Elements, stack: ExitStack, parallel: Shape, shape: Shape, low: ir.Value, high: ir.Value
) -> IndexValues:
    """Open the loops over `shape`, which begins with the axes `parallel` of the parallel loop; give the index."""
    turn = stack.enter_context(elements.loop(low, high, below=extents.product(parallel)))
    inner = stack.enter_context(elements.loops(shape[len(parallel) :]))
    return (*elements.delinearized(turn, parallel), *inner)


def tile_along(
    elements: Elements, stack: ExitStack, start: ir.Value, end: ir.Value, extent: Dim, size: int = TILE
) -> Neighbours:
    """Open the loop over the tiles of `size` elements from `start` below `end` along an axis."""
    first = stack.enter_context(elements.loop(start, end, size, below=extent))
    if extents.divide(extent, size) is not None:
        return Neighbours(first, size, size)
    return Neighbours(first, arith.minsi(elements.index(size), arith.subi(end, first)), size)


def count_from(elements: Elements, first: ir.Value, size: int, extent: ir.Value | Dim) -> ir.Value | int:
    """How many there are of an extent from `first` on, a multiple of `size`, at most as many."""
    if not isinstance(extent, ir.Value) and extents.divide(extent, size) is not None:
        return size
    if isinstance(extent, int) and extent < size:
        return extent
    return arith.minsi(elements.index(size), arith.subi(elements.extent(extent), first))
