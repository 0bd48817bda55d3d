"""How often an element of a producer is computed, on average, when each tile of the consumer computes what it reads.

The rows of a read fall into parts that share no axis: what the tiles read is the product of what they read along each.
A part of one row that takes every step in each tile is a closed form, a small one is enumerated, others are bounded.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tinyc.analysis.poly.block import PolyAccess, PolyBlock
from tinyc.analysis.poly_core.enumeration import distinct_elements, elements_by_tile
from tinyc.analysis.poly_core.footprint import Footprint, connected
from tinyc.analysis.poly_core.subscript import Subscript, subscript_of
from tinyc.analysis.poly_core.tile import Tile
from tinyc.expr import axes, extents
from tinyc.expr.axes import AxisExpr, Shape
from tinyc.expr.extents import Dim


def recompute_factor(producer: PolyBlock, consumer: PolyBlock, tile: Tile, found: Sequence[Footprint]) -> float | None:
    """The elements that all tiles read, with repetition, over those of the tensor.

    Each of the footprints `found` counts by itself. The factor is below 1 where elements are not read, and 0 where the
    tensor or the consumer has none. It is exact where the sizes are numbers and each part is a closed form or small;
    otherwise it is an upper bound, at symbolic sizes for large ones, and None where it grows with a symbolic size.
    """
    if 0 in (*consumer.statement.shape, *producer.written_shape):
        return 0.0
    factor = 0.0
    for footprint in found:
        parts = _parts(footprint.reads, producer.written_shape, consumer.statement.shape, tile)
        factors = [part.factor() for part in parts]
        known = [each for each in factors if each is not None]
        if len(known) < len(factors):
            return None
        factor += math.prod(known)
    return factor


@dataclass(frozen=True)
class _Part:
    """The rows and guards of `reads` that have to do with the axes `positions` of `shape`, and with no others.

    `tensor` are the extents along the rows. There are none where axes matter only to guards, or to the tiles alone.
    """

    reads: tuple[PolyAccess, ...]
    positions: frozenset[int]
    tensor: Shape
    shape: Shape
    tile: Tile

    def factor(self) -> float | None:
        """How often the tiles read an element along the rows, or a bound of that, or None."""
        if self._is_as_it_is():
            return 1.0
        elements, count = extents.product(self.tensor), self.count()
        if count is not None and isinstance(elements, int):
            return count / elements
        bounds = (self._bound_by_row(), self._bound_by_instances(), self._bound_by_tiles())
        return min((bound for bound in bounds if bound is not None), default=None)

    def _is_as_it_is(self) -> bool:
        """Whether every instance reads, along the one row, the element that has its own index: most do."""
        plain = {axes.plain_axis(row) for read in self.reads for row in read.index}
        extents_read = tuple(self.shape[position] for position in self.positions)
        return (
            plain == {*self.positions} and extents_read == self.tensor and not any(each.guards for each in self.reads)
        )

    def count(self) -> int | None:
        """How many elements the tiles read, with repetition, or None where that is not known."""
        if not self.positions and len(self.reads) == 1 and not self.reads[0].guards:
            return 1
        row = self._row()
        count = row.count(self.tile) if row is not None and len(self.reads) == 1 else None
        return self._enumerated() if count is None else count

    def _row(self) -> Subscript | None:
        return subscript_of(self.reads, 0, self.shape) if len(self.tensor) == 1 else None

    def _cut(self) -> list[int]:
        return sorted(self.tile.cut & self.positions)

    def _instances(self) -> Dim:
        return extents.product(self.shape[position] for position in self.positions)

    def _enumerated(self) -> int | None:
        found = elements_by_tile(self.reads, self.positions, self.shape, self.tile)
        return None if found is None else distinct_elements(*found)

    def _bound_by_row(self) -> float | None:
        """The sum of the widths over the extent, or the width over the step from tile to tile."""
        row, cut = self._row(), self._cut()
        terms = None if row is None else row.terms
        if row is None or terms is None or len(cut) != 1 or cut[0] not in terms:
            return None
        (extent,), total = self.tensor, row.total(self.tile)
        if isinstance(extent, int) and (total is not None or row.low is not None):
            return None if total is None else total / extent
        width, step = replace(row, low=None, high=None).width(self.tile), self.tile.sizes[cut[0]] * abs(terms[cut[0]])
        return max(width / step, 1.0) if isinstance(width, int) and isinstance(step, int) else None

    def _bound_by_instances(self) -> float | None:
        reads, elements = self._instances() * len(self.reads), extents.product(self.tensor)
        if isinstance(reads, int) and isinstance(elements, int):
            return reads / elements
        quotient = extents.divide(reads, elements)
        return float(quotient) if isinstance(quotient, int) else None

    def _bound_by_tiles(self) -> float | None:
        tiles = extents.product(extents.ceildiv(self.shape[k], self.tile.sizes[k]) for k in self._cut())
        return float(tiles) if isinstance(tiles, int) else None


def _parts(reads: Sequence[PolyAccess], tensor: Shape, shape: Shape, tile: Tile) -> list[_Part]:
    """The parts of reads that move alike.

    Where several reads differ in more than one part, these are one part as far as that is known; their product bounds
    it otherwise.
    """
    expressions = [row for read in reads for row in (*read.index, *(guard.expression for guard in read.guards))]
    apart = connected([*map(axes.positions, expressions), *(frozenset({position}) for position in tile.cut)])
    parts = {positions: _part((positions,), reads, tensor, shape, tile) for positions in (frozenset[int](), *apart)}
    differing = [positions for positions, part in parts.items() if len(part.reads) > 1]
    if len(differing) > 1:
        together = _part(differing, reads, tensor, shape, tile)
        if together.count() is not None:
            return [together, *(part for positions, part in parts.items() if positions not in differing)]
    return list(parts.values())


def _part(
    chosen: Sequence[frozenset[int]], reads: Sequence[PolyAccess], tensor: Shape, shape: Shape, tile: Tile
) -> _Part:
    """The part that is over some of the sets of axes; constants are over the empty one."""

    def is_inside(expression: AxisExpr) -> bool:
        moved = axes.positions(expression)
        return any(moved <= positions if moved else not positions for positions in chosen)

    rows = [number for number in range(len(tensor)) if is_inside(reads[0].index[number])]
    slim = (
        replace(
            read,
            index=tuple(read.index[number] for number in rows),
            guards=tuple(guard for guard in read.guards if is_inside(guard.expression)),
        )
        for read in reads
    )
    positions = frozenset[int]().union(*chosen)
    return _Part(tuple(dict.fromkeys(slim)), positions, tuple(tensor[number] for number in rows), shape, tile)
