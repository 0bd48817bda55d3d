"""Footprints: the box of elements of a tensor that the instances of one tile read, the largest over all tiles.

The closed form for a subscript ``Σ c_i*i + e`` is ``1 + Σ |c_i|*(B_i - 1)``, clipped by the pads that guard it. Other
subscripts are enumerated where the instances are few; isl answers for the rest, and where it does not, the footprint is
unproved.
Recipe on polyhedral analysis, §3.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tinyc.analysis.poly.block import PolyAccess, PolyBlock
from tinyc.analysis.poly_core.enumeration import elements_by_tile, widest_range
from tinyc.analysis.poly_core.subscript import Subscript, subscript_of, width_without_halo
from tinyc.analysis.poly_core.tile import Tile, kept_axes, reduction_axes
from tinyc.expr import axes, extents
from tinyc.expr.axes import Shape
from tinyc.expr.extents import Dim
from tinyc.expr.isl import TooHard


@dataclass(frozen=True)
class Footprint:
    """The elements `widths` along each row that a tile reads; `core` of them would be its own without windows.

    `most` bounds the elements that are really read by `reads`, where the box has gaps. `unproved` says why some widths
    or cores are not known; the tensor's extents bound the widths then. What is symbolic holds for sizes at which the
    consumer has instances.
    """

    widths: tuple[Dim, ...]
    core: tuple[Dim, ...]
    most: Dim
    reads: tuple[PolyAccess, ...]
    unproved: str | None = None

    @property
    def elements(self) -> Dim:
        """The elements of the box."""
        return extents.product(self.widths)

    @property
    def halo(self) -> tuple[Dim, ...]:
        """The elements that a tile reads beyond its core, along each row."""
        return tuple(beyond(width, core) for width, core in zip(self.widths, self.core, strict=True))


def beyond(width: Dim, core: Dim) -> Dim:
    """``max(0, width - core)``; the difference where it is not known which is greater."""
    return 0 if extents.is_nonnegative(core - width) else width - core


def footprints(consumer: PolyBlock, reads: Sequence[PolyAccess], tensor: Shape, tile: Tile) -> tuple[Footprint, ...]:
    """The footprint of a tile of `consumer` in a tensor, by its `reads` of it.

    Reads that move alike have one footprint together (a stencil written as several operands), others one each. A read
    whose pads leave nothing of it counts as if an instance passed them.
    """
    alike: dict[object, list[PolyAccess]] = {}
    for read in reads:
        alike.setdefault(tuple((row.terms, _symbolic(row.constant)) for row in read.index), []).append(read)
    return tuple(_footprint(consumer, tuple(dict.fromkeys(group)), tensor, tile) for group in alike.values())


def _symbolic(constant: Dim) -> Dim:
    """A constant without its number."""
    return 0 if isinstance(constant, int) else constant - dict(constant.terms).get((), 0)


def _footprint(consumer: PolyBlock, reads: Sequence[PolyAccess], tensor: Shape, tile: Tile) -> Footprint:
    if 0 in consumer.statement.shape:
        return Footprint((0,) * len(tensor), (0,) * len(tensor), 0, tuple(reads))
    rows = [subscript_of(reads, number, consumer.statement.shape) for number in range(len(tensor))]
    widths: list[Dim | None] = [None if row is None else row.width(tile) for row in rows]
    cores = [
        None if row is None else _core(consumer, row, width, tile) for row, width in zip(rows, widths, strict=True)
    ]
    undecided = [row for row in range(len(tensor)) if widths[row] is None or cores[row] is None]
    unproved: str | None = None
    for row in undecided:
        if unproved is None:
            unproved = _decide(consumer, reads, tile, row, widths, cores)
    known = tuple(extent if width is None else width for width, extent in zip(widths, tensor, strict=True))
    core = tuple(width if each is None else each for each, width in zip(cores, known, strict=True))
    moving = frozenset[int]().union(*(axes.positions(row) for read in reads for row in read.index))
    instances = extents.product(tile.sizes[position] for position in moving) * len(reads)
    box = extents.product(known)
    most = box if extents.is_nonnegative(instances - box) else instances
    return Footprint(known, core, most, tuple(reads), unproved)


def _core(consumer: PolyBlock, row: Subscript, width: Dim | None, tile: Tile) -> Dim | None:
    """The width that the kept axes of a row span, gaps included, or None where that is not a closed form."""
    if width is None:
        return None
    if not row.positions & kept_axes(consumer):
        return width
    if row.terms is None:
        return None if row.positions & reduction_axes(consumer) else width - row.spread
    return width_without_halo(row.terms, kept_axes(consumer), tile)


def _decide(
    consumer: PolyBlock,
    reads: Sequence[PolyAccess],
    tile: Tile,
    row: int,
    widths: list[Dim | None],
    cores: list[Dim | None],
) -> str | None:
    """Complete the width and the core of a row that has no closed form; return why that cannot be done, or None.

    They stay None where no number bounds them because the tiles do not cut what moves the row.
    """
    try:
        if widths[row] is None:
            widths[row] = _width(consumer, reads, tile, row)
        if cores[row] is None:
            cores[row] = _width(consumer, [_without_window(consumer, reads[0], row)], tile, row)
    except TooHard as error:
        return str(error)
    moving = frozenset[int]().union(*(axes.positions(read.index[row]) for read in reads))
    if cores[row] is None and moving & tile.cut:
        return "no number bounds it"
    return None


def _width(consumer: PolyBlock, reads: Sequence[PolyAccess], tile: Tile, row: int) -> int | None:
    """The largest width of a row by enumeration or by isl, None where no number bounds it.

    Raises:
        TooHard: isl does not get to an answer.
    """
    block, part = along(consumer, reads, tile, row)
    found = elements_by_tile(block.accesses, _tied(reads, row), block.statement.shape, part)
    if found is not None:
        tiles, (values,) = found
        return widest_range(tiles, values)
    from tinyc.analysis.poly_core import proof

    return proof.width(block, part)


def along(consumer: PolyBlock, reads: Sequence[PolyAccess], tile: Tile, row: int) -> tuple[PolyBlock, Tile]:
    """A block that has the one row of `reads`, over the axes that matter to it, and the part of the tile."""
    moving = _tied(reads, row)
    slim = (
        replace(
            read,
            index=(read.index[row],),
            guards=tuple(guard for guard in read.guards if axes.positions(guard.expression) <= moving),
        )
        for read in reads
    )
    shape = tuple(size if position in moving else 1 for position, size in enumerate(consumer.statement.shape))
    statement = replace(consumer.statement, shape=shape)
    return replace(consumer, statement=statement, accesses=tuple(slim)), replace(tile, cut=tile.cut & moving)


def _tied(reads: Sequence[PolyAccess], row: int) -> frozenset[int]:
    """The axes that move a row, and those that guards tie to them: what others do does not matter to it."""
    moving = frozenset[int]().union(*(axes.positions(read.index[row]) for read in reads))
    bounds = (axes.positions(guard.expression) for read in reads for guard in read.guards)
    return next((each for each in connected((moving, *bounds)) if each & moving), moving)


def connected(sets: Iterable[frozenset[int]]) -> list[frozenset[int]]:
    """The unions of the sets that overlap."""
    found: list[frozenset[int]] = []
    for each in filter(None, sets):
        joined = each.union(*(other for other in found if other & each))
        found = [*(other for other in found if not other & each), joined]
    return found


def _without_window(consumer: PolyBlock, read: PolyAccess, row: int) -> PolyAccess:
    """A read without guards, and with the reduce axes of a row at 0 where it has kept ones, too."""
    shape, reduced, expression = consumer.statement.shape, reduction_axes(consumer), read.index[row]
    if axes.positions(expression) & kept_axes(consumer):
        fixed = [axes.constant(0) if k in reduced else axes.axis(k, shape) for k in range(len(shape))]
        expression = axes.substitute_axes(expression, fixed, shape)
    return replace(read, index=(*read.index[:row], expression, *read.index[row + 1 :]), guards=())
