"""Subscripts: the footprint of a tile along one dimension of a tensor, in closed form.

A subscript is one row of an access map, an affine expression of the axes. Over a tile of B_i instances along each axis
i, ``Σ c_i*i + e`` takes values in a range of width ``1 + Σ |c_i|*(B_i - 1)``, less what a pad's guard clips. The width
over the tiles of one cut axis is a concave, piecewise linear function of the tile's number: its maximum lies beside a
breakpoint, so that a handful of tiles tells it. Recipe on polyhedral analysis, §3.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tinyc.analysis.movement import Guard
from tinyc.analysis.poly.block import PolyAccess
from tinyc.analysis.poly_core.tile import Tile
from tinyc.expr import axes, extents
from tinyc.expr.axes import Axis, AxisExpr, Shape
from tinyc.expr.axes.evaluation import evaluate_at
from tinyc.expr.extents import Dim

#: Stands for a symbolic extent where the largest width over all sizes is asked for.
_ENDLESS = 2**62
#: Instances of an axis that are enumerated.
_MAX_ENUMERATED = 2**16


@dataclass(frozen=True)
class Subscript:
    """The subscript of one dimension of a tensor: ``expression + [0, spread]`` over the iteration domain `shape`.

    `spread` is the distance between reads that move alike, as of a stencil written as several operands. Where guards
    bound the subscript, only values in [low, high] are read.
    """

    expression: AxisExpr
    shape: Shape
    spread: int = 0
    low: Dim | None = None
    high: Dim | None = None

    @property
    def terms(self) -> Mapping[int, int] | None:
        """The coefficient of each axis; None where there is a floor division, and no closed form."""
        pairs = [(atom.position, c) for atom, c in self.expression.terms if isinstance(atom, Axis)]
        return dict(pairs) if len(pairs) == len(self.expression.terms) else None

    @property
    def positions(self) -> frozenset[int]:
        """The axes that appear."""
        return axes.positions(self.expression)

    def width(self, tile: Tile) -> Dim | None:
        """The footprint of the tile with the largest one, in elements; None where there is no closed form."""
        terms = self.terms
        if terms is None:
            return self._enumerated(tile)
        free = 1 + self.spread + _span(terms, tile)
        if self.low is None or self.high is None:
            return free
        if len(tile.cut & terms.keys()) > 1 or not _is_gapless(terms, self.shape, tile):
            return None
        tiles = self.tiles(tile)
        if tiles is None:
            room = self.high - self.low + 1
            return room if extents.is_nonnegative(free - room) else free
        return max(0, *map(tiles.width, tiles.candidates()))

    def total(self, tile: Tile) -> int | None:
        """The footprints of all tiles along the one axis that is cut, summed; None where that is not known."""
        terms = self.terms or {}
        tiles = self.tiles(tile) if len(tile.cut & terms.keys()) == 1 else None
        clipped_with_gaps = self.low is not None and not _is_gapless(terms, self.shape, tile)
        return None if tiles is None or clipped_with_gaps else tiles.total()

    def count(self, tile: Tile) -> int | None:
        """The elements that all tiles read, with repetition; None where there is no closed form."""
        terms = self.terms
        if not terms or self.spread or len(tile.cut & terms.keys()) > 1 or not _is_gapless(terms, self.shape, tile):
            return None
        tiles = self.tiles(tile)
        return None if tiles is None else tiles.total(math.gcd(*terms.values()))

    def tiles(self, tile: Tile) -> "TileRanges | None":
        """The ranges of a subscript with one cut axis or none, tile by tile; None where they are not numbers.

        A symbolic extent of the cut axis, and then of what is read, is endless.
        """
        terms = self.terms or {}
        cut = min(tile.cut & terms.keys(), default=None)
        coefficient, size, extent = (0, 1, 1) if cut is None else (terms[cut], tile.sizes[cut], self.shape[cut])
        whole = {position: c for position, c in terms.items() if position != cut}
        first = self.expression.constant + sum(((tile.sizes[k] - 1) * min(c, 0) for k, c in whole.items()), start=0)
        last = first + _span(whole, tile) + self.spread
        high = self.high if isinstance(self.high, int) or self.high is None or cut is None else _ENDLESS
        extent = extent if isinstance(extent, int) else _ENDLESS
        if not (isinstance(size, int) and isinstance(first, int) and isinstance(last, int)):
            return None
        if self.low is None or high is None:
            return TileRanges(coefficient, size, extent, first, last, None)
        if not (isinstance(self.low, int) and isinstance(high, int)):
            return None
        step = math.gcd(*terms.values()) or 1
        return TileRanges(
            coefficient, size, extent, first, last, (self.low + (first - self.low) % step, high - (high - first) % step)
        )

    def _enumerated(self, tile: Tile) -> int | None:
        """The width, by enumeration, where all floor divisions are of one axis of a known extent and nothing clips."""
        inside = frozenset[int]().union(*(axes.positions(each.numerator) for each in axes.divisions(self.expression)))
        if len(inside) != 1 or self.low is not None:
            return None
        (position,) = inside
        extent, size = self.shape[position], tile.sizes[position]
        plain = {a.position: c for a, c in self.expression.terms if isinstance(a, Axis) and a.position != position}
        rest = _span(plain, tile)
        if not isinstance(extent, int) or not isinstance(size, int) or not isinstance(rest, int):
            return None
        if not 0 < extent <= _MAX_ENUMERATED or not isinstance(self.expression.constant, int):
            return None
        indices: list[object] = [0] * len(self.shape)
        indices[position] = np.arange(extent)
        values = evaluate_at(self.expression, indices, {})
        starts = np.arange(0, extent, size)
        spans = np.maximum.reduceat(values, starts) - np.minimum.reduceat(values, starts)
        return 1 + self.spread + rest + int(spans.max())


@dataclass(frozen=True)
class TileRanges:
    """The range of tile t: ``c*i + [first, last]`` for i in [t*size, (t+1)*size) and below `extent`, within `clip`."""

    coefficient: int
    size: int
    extent: int
    first: int
    last: int
    clip: tuple[int, int] | None

    @property
    def count(self) -> int:
        """How many tiles there are."""
        return -(-self.extent // self.size)

    def width(self, number: int) -> int:
        """The width of tile `number`; not positive where nothing of it is inside."""
        begin, end = number * self.size, min((number + 1) * self.size, self.extent) - 1
        low, high = sorted((self.coefficient * begin, self.coefficient * end))
        low, high = low + self.first, high + self.last
        if self.clip is not None:
            low, high = max(low, self.clip[0]), min(high, self.clip[1])
        return high - low + 1

    def candidates(self) -> list[int]:
        """The tiles beside the breakpoints: the widest is among them."""
        step, last = self.coefficient * self.size, self.count - 1
        meet = [0, last, (self.extent - self.size) // self.size]
        if self.clip is not None and step:
            for bound in self.clip:
                for edge in (self.first, self.last, self.first + step, self.last + step):
                    meet.append((bound - edge) // step)
        return sorted({min(max(each + beside, 0), last) for each in meet for beside in (-1, 0, 1, 2)})

    def total(self, step: int = 1) -> int | None:
        """The values of all tiles, `step` apart, counted with repetition; None where there are too many tiles."""
        greatest = abs(self.coefficient) * self.extent + abs(self.first) + abs(self.last)
        if self.count > _MAX_ENUMERATED or greatest >= 2**63:
            return None
        begin = np.arange(self.count) * self.size
        ends = np.stack((begin, np.minimum(begin + self.size, self.extent) - 1)) * self.coefficient
        low, high = ends.min(axis=0) + self.first, ends.max(axis=0) + self.last
        if self.clip is not None:
            low, high = np.maximum(low, self.clip[0]), np.minimum(high, self.clip[1])
        return int(np.maximum((high - low) // step + 1, 0).sum())


def _span(terms: Mapping[int, int], tile: Tile) -> Dim:
    """How far a sum of axes moves within a tile."""
    return sum(((tile.sizes[position] - 1) * abs(c) for position, c in terms.items()), start=0)


def _is_gapless(terms: Mapping[int, int], shape: Shape, tile: Tile) -> bool:
    """Whether a subscript takes every multiple of its step in every tile: clipped, it then ends at the clip."""
    step, span = math.gcd(*terms.values()), 0
    for position, coefficient in sorted(terms.items(), key=lambda term: abs(term[1])):
        if abs(coefficient) > span + step:
            return False
        size, extent = tile.sizes[position], shape[position]
        least = size
        if position in tile.cut and isinstance(extent, int) and isinstance(size, int):
            least = extent % size or size
        span = span + (least - 1) * abs(coefficient) if isinstance(least, int) else _ENDLESS
    return True


def width_without_halo(terms: Mapping[int, int], kept: frozenset[int], tile: Tile) -> Dim:
    """The width that the kept axes span, the gaps that their step leaves included: ``|c|*B`` for one axis."""
    own = {position: c for position, c in terms.items() if position in kept}
    return min(map(abs, own.values())) + _span(own, tile)


def subscript_of(reads: Sequence[PolyAccess], number: int, shape: Shape) -> Subscript | None:
    """Subscript `number` of reads that move alike; None where their guards do not bound the subscript itself."""
    rows = [read.index[number] for read in reads]
    distances = [(row - rows[0]).constant for row in rows]
    offsets = [distance for distance in distances if isinstance(distance, int)]
    if len(offsets) < len(rows):
        return None
    row = Subscript(rows[0] + min(offsets), shape, max(offsets) - min(offsets))
    bounds = [list(_bounds(read, row.positions, read.index[number])) for read in reads]
    if not any(bounds):
        return row
    if len(reads) > 1 or None in bounds[0]:
        return None
    lows, highs = zip(*(each for each in bounds[0] if each is not None), strict=True)
    low, high = _extreme(lows, 1), _extreme(highs, -1)
    return None if low is None or high is None else Subscript(row.expression, shape, 0, low, high)


def _bounds(read: PolyAccess, moved: frozenset[int], row: AxisExpr) -> Iterator[tuple[Dim, Dim] | None]:
    """The range in which each guard keeps a subscript, None where it bounds something else of the same axes."""
    for guard in read.guards:
        if axes.positions(guard.expression) & moved:
            yield _range(guard, row)


def _range(guard: Guard, row: AxisExpr) -> tuple[Dim, Dim] | None:
    distance = guard.expression - row
    return None if distance.terms else (-distance.constant, guard.size - 1 - distance.constant)


def _extreme(dims: Sequence[Dim], sign: int) -> Dim | None:
    """The greatest of `dims` (the least for a sign of -1); None where it is not known which that is."""
    best = dims[0]
    for dim in dims[1:]:
        if extents.is_nonnegative((dim - best) * sign):
            best = dim
        elif not extents.is_nonnegative((best - dim) * sign):
            return None
    return best
