"""The sides of tiles: the rows or the columns that are computed together, along some loops of a kernel.

In: the loops of a kernel. Out: `TileSide`s, of at most so many lines, or of just as many.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tinyc.analysis.kernel_loops import KernelLoops
from tinyc.expr import extents
from tinyc.expr.axes import Shape
from tinyc.expr.extents import Dim


@dataclass(frozen=True)
class TileSide:
    """The rows or the columns of tiles: `size` turns of the first of some loops, and all of the loops inside it.

    `loops` are their positions, outermost first, and `extents` how long they are. With no loop there is one line.
    """

    loops: tuple[int, ...]
    extents: Shape
    size: int

    @property
    def inside(self) -> int:
        """The lines of a turn of the first loop."""
        inner = extents.product(self.extents[1:])
        assert isinstance(inner, int)  # only the first loop may be of any length
        return max(1, inner)

    @property
    def lines(self) -> Dim:
        """How many lines there are."""
        return extents.product(self.extents)

    @property
    def most(self) -> int:
        """The lines of a tile, at most."""
        return self.size * self.inside


def tiled_loops(kernel: KernelLoops, sides: Sequence[TileSide]) -> Shape:
    """The tiles along each loop of a kernel, of one element along those that are of no side."""
    found = list(kernel.loops.extents)
    for side in filter(lambda each: each.loops, sides):
        first, *inside = side.loops
        found[first] = extents.ceildiv(side.extents[0], side.size)
        for place in inside:
            found[place] = 1
    return tuple(found)


def tile_side(loops: Shape, places: Sequence[int], most: int, unit: int) -> TileSide:
    """The rows or columns of tiles of at most so many: the loops of the last `places` are inside as far as they fit."""
    around = _largest_side(loops, places, most)
    if not places:
        return around
    return replace(around, size=even_part(around.extents[0], around.size, unit if around.inside == 1 else 1))


def sized_side(loops: Shape, places: Sequence[int], most: int) -> TileSide:
    """The rows or columns of tiles of just so many, or of all that there are, or as many as loops have together."""
    found = _largest_side(loops, places, most)
    extent = found.extents[0] if places else 1
    return replace(found, size=min(found.size, max(1, extent))) if isinstance(extent, int) else found


def _largest_side(loops: Shape, places: Sequence[int], most: int) -> TileSide:
    """As many turns of a loop as make at most so many lines, with as many whole loops inside as fit."""
    lengths = [loops[place] for place in places]
    first, inside = len(places), 1
    while first > 1 and isinstance(length := lengths[first - 1], int) and inside * length <= most:
        inside *= max(1, length)
        first -= 1
    if not places:
        return TileSide((), (), 1)
    return TileSide(tuple(places[first - 1 :]), tuple(lengths[first - 1 :]), most // inside)


def even_part(extent: Dim, most: int, unit: int) -> int:
    """The size of parts of an extent, all about the same, of at most `most`; of several parts whole units."""
    if not isinstance(extent, int):
        return most
    parts = max(1, -(-extent // most))
    return max(1, extent) if parts == 1 else min(most, -(-extent // (parts * unit)) * unit)
