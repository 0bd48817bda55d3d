"""How often an element of a producer is computed, on average, when each tile of the consumer computes what it reads."""

import math
from collections.abc import Sequence

from tinyc.analysis import axis as axes
from tinyc.analysis.poly_block import PolyBlock
from tinyc.analysis.poly_core.footprint import Footprint
from tinyc.analysis.poly_core.row import row_of
from tinyc.analysis.poly_core.tile import Tile


def recompute_factor(producer: PolyBlock, consumer: PolyBlock, tile: Tile, found: Sequence[Footprint]) -> float | None:
    """Return the elements that all tiles read, with repetition, over those of the tensor.

    It is below 1 where elements are not read, and None where it grows with a symbolic size. It is exact where each row
    has one cut axis and the sizes are known; otherwise it is the ratio of a tile's width to its core.
    """
    moving = frozenset().union(*(axes.positions(row) for each in found for read in each.reads for row in read.index))
    factor = 1.0
    for position in tile.cut - moving:
        extent, size = consumer.statement.shape[position], tile.sizes[position]
        if not (isinstance(extent, int) and isinstance(size, int)):
            return None
        factor *= -(-extent // size)
    each = [_factor(producer, consumer, tile, footprint) for footprint in found]
    known = [one for one in each if one is not None]
    return factor * sum(known) if len(known) == len(each) else None


def _factor(producer: PolyBlock, consumer: PolyBlock, tile: Tile, footprint: Footprint) -> float | None:
    factors = []
    for number, (extent, width, core) in enumerate(
        zip(producer.written_shape, footprint.widths, footprint.core, strict=True)
    ):
        row = row_of(footprint.reads, number, consumer.statement.shape)
        total = row.total(tile) if row is not None else None
        if total is not None and isinstance(extent, int) and extent:
            factors.append(total / extent)
        elif width == core:
            factors.append(1.0)
        elif isinstance(width, int) and isinstance(core, int) and core:
            factors.append(max(width / core, 1.0))
        else:
            return None
    return math.prod(factors)
