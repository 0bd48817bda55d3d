"""Footprints: the box of elements of a tensor that the instances of one tile read, the largest over all tiles.

The closed form for a row ``Σ c_i*i + e`` is ``1 + Σ |c_i|*(B_i - 1)``, clipped by the pads that guard it; rows of one
axis with floor divisions (merged axes) are enumerated. isl answers for the rest, and where it does not get to an
answer, the tensor's extent bounds the width. Recipe on polyhedral analysis, §3.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tinyc.analysis import axis as axes
from tinyc.analysis import extents
from tinyc.analysis.axis import Shape
from tinyc.analysis.extents import Dim
from tinyc.analysis.poly_block import PolyAccess, PolyBlock
from tinyc.analysis.poly_core.row import Row, core_width, row_of
from tinyc.analysis.poly_core.tile import Tile, kept_axes, reduce_axes


@dataclass(frozen=True)
class Footprint:
    """The elements `widths` along each row that a tile reads; `core` of them would be its own without windows.

    `reads` bounds the elements that are really read, where the box has gaps. `unproved` says that isl did not get to
    an answer, so that some widths are the tensor's extents.
    """

    widths: tuple[Dim, ...]
    core: tuple[Dim, ...]
    most: Dim
    reads: tuple[PolyAccess, ...]
    unproved: bool = False

    @property
    def elements(self) -> Dim:
        """The elements of the box."""
        return extents.product(self.widths)

    @property
    def halo(self) -> tuple[Dim, ...]:
        """What a tile reads beyond its core along each row."""
        return tuple(beyond(width, core) for width, core in zip(self.widths, self.core, strict=True))


def beyond(width: Dim, core: Dim) -> Dim:
    """Return ``max(0, width - core)``; the difference where it is not known which is greater."""
    return 0 if extents.is_nonnegative(core - width) else width - core


def footprints(consumer: PolyBlock, reads: Sequence[PolyAccess], tensor: Shape, tile: Tile) -> tuple[Footprint, ...]:
    """Return the footprint of a tile of `consumer` in a tensor, by its `reads` of it.

    Reads that move alike have one footprint together (a stencil written as several operands), others one each. A read
    whose pads leave nothing of it counts as if an instance passed them.
    """
    alike: dict[tuple, list[PolyAccess]] = {}
    for read in reads:
        alike.setdefault(tuple((row.terms, _symbolic(row.constant)) for row in read.index), []).append(read)
    return tuple(_footprint(consumer, tuple(dict.fromkeys(group)), tensor, tile) for group in alike.values())


def _symbolic(constant: Dim) -> Dim:
    """Return a constant without its number."""
    return 0 if isinstance(constant, int) else constant - dict(constant.terms).get((), 0)


def _footprint(consumer: PolyBlock, reads: Sequence[PolyAccess], tensor: Shape, tile: Tile) -> Footprint:
    if 0 in consumer.statement.shape:
        return Footprint((0,) * len(tensor), (0,) * len(tensor), 0, tuple(reads))
    rows = [row_of(reads, number, consumer.statement.shape) for number in range(len(tensor))]
    widths: list[Dim | None] = [None if row is None else row.width(tile) for row in rows]
    cores = [
        None if row is None else _core(consumer, row, width, tile) for row, width in zip(rows, widths, strict=True)
    ]
    unproved = False
    if None in widths or None in cores:
        widths, cores, unproved = _by_isl(consumer, reads, tile, widths, cores)
    known = tuple(extent if width is None else width for width, extent in zip(widths, tensor, strict=True))
    core = tuple(width if each is None else each for each, width in zip(cores, known, strict=True))
    moving = frozenset().union(*(axes.positions(row) for read in reads for row in read.index))
    instances = extents.product(tile.sizes[position] for position in moving) * len(reads)
    box = extents.product(known)
    most = box if extents.is_nonnegative(instances - box) else instances
    return Footprint(known, core, most, tuple(reads), unproved)


def _core(consumer: PolyBlock, row: Row, width: Dim | None, tile: Tile) -> Dim | None:
    """Return what the kept axes of a row span with the gaps between them, or None where that is not a closed form."""
    if width is None:
        return None
    if not row.positions & kept_axes(consumer):
        return width
    if row.terms is None:
        return None if row.positions & reduce_axes(consumer) else width
    return core_width(row.terms, kept_axes(consumer), tile)


def _by_isl(
    consumer: PolyBlock,
    reads: Sequence[PolyAccess],
    tile: Tile,
    widths: Sequence[Dim | None],
    cores: Sequence[Dim | None],
) -> tuple[list[Dim | None], list[Dim | None], bool]:
    """Complete widths and cores; the last says whether isl gave up."""
    from tinyc.analysis.poly_core import proof
    from tinyc.analysis.polyhedra import TooHard  # islpy takes its time to load

    still = [replace(read, index=_without_windows(consumer, read), guards=()) for read in reads]
    mine, own = list(widths), list(cores)
    try:
        for row in range(len(mine)):
            mine[row] = proof.widths(consumer, reads, tile, [row])[0] if mine[row] is None else mine[row]
            own[row] = proof.widths(consumer, still, tile, [row])[0] if own[row] is None else own[row]
    except TooHard:
        return mine, own, True
    return mine, own, False


def _without_windows(consumer: PolyBlock, read: PolyAccess) -> axes.Index:
    """Return the index with the reduce axes at 0 where a row has kept ones, too."""
    shape, reduced, kept = consumer.statement.shape, reduce_axes(consumer), kept_axes(consumer)
    fixed = [axes.constant(0) if k in reduced else axes.axis(k, shape) for k in range(len(shape))]
    return tuple(axes.substitute(row, fixed, shape) if axes.positions(row) & kept else row for row in read.index)
