"""Instances of a block looked at one by one, as numpy arrays: exact, where their number is known and small.

Only the axes that matter are run through; the others stay at 0.
"""

import math
from collections.abc import Sequence

import numpy as np

from tinyc.analysis.poly.block import PolyAccess
from tinyc.analysis.poly_core.tile import Tile
from tinyc.expr import extents
from tinyc.expr.axes import Shape
from tinyc.expr.axes.evaluation import evaluate_at

#: Instances that are enumerated.
_MAX_INSTANCES = 2**15


def elements_by_tile(
    reads: Sequence[PolyAccess], positions: frozenset[int], shape: Shape, tile: Tile
) -> tuple[np.ndarray, np.ndarray] | None:
    """(tiles, elements): for each read of each instance that passes its guards, in which tile it is, and where.

    `tiles` has one number a read, `elements` a row for each row of the index; the instances are those of the axes
    `positions` of `shape`. None where these are too many, or have no known number, or rows or guards have symbols.
    """
    extent_of = (extent if position in positions else 1 for position, extent in enumerate(shape))
    sizes = [extent for extent in extent_of if isinstance(extent, int)]
    if len(sizes) < len(shape) or math.prod(sizes) > _MAX_INSTANCES:
        return None
    try:
        columns = np.concatenate([_columns(read, sorted(tile.cut & positions), sizes, tile) for read in reads], axis=1)
    except extents.ExtentError:  # a row or a guard has a symbol
        return None
    return columns[0], columns[1:]


def _columns(read: PolyAccess, cut: Sequence[int], sizes: Sequence[int], tile: Tile) -> np.ndarray:
    """The number of the tile and the element of each instance that passes the guards, a column each."""
    grid = np.indices(sizes, sparse=True)
    passed = np.ones(sizes, bool)
    for guard in read.guards:
        value = evaluate_at(guard.expression, grid, {})
        passed &= (value >= 0) & (value < extents.evaluate(guard.size, {}))
    number: np.ndarray | int = 0
    for position in cut:
        size = extents.evaluate(tile.sizes[position], {})
        number = number * -(-sizes[position] // size) + grid[position] // size
    rows = (number, *(evaluate_at(row, grid, {}) for row in read.index))
    return np.stack([np.broadcast_to(row, sizes)[passed] for row in rows])


def distinct_elements(tiles: np.ndarray, elements: np.ndarray) -> int | None:
    """How many pairs of a tile and an element there are, or None where their numbers are too large."""
    if not tiles.size:
        return 0
    columns = np.concatenate([tiles[None], elements])
    columns = columns - columns.min(axis=1, keepdims=True)
    spans = tuple(int(span) + 1 for span in columns.max(axis=1))
    return int(np.unique(np.ravel_multi_index(tuple(columns), spans)).size) if math.prod(spans) < 2**63 else None


def widest_range(tiles: np.ndarray, values: np.ndarray) -> int:
    """The largest width, over the tiles, of the range that holds a tile's `values`."""
    if not tiles.size:
        return 0
    count = int(tiles.max()) + 1
    low, high = np.full(count, np.iinfo(np.int64).max), np.full(count, np.iinfo(np.int64).min)
    np.minimum.at(low, tiles, values)
    np.maximum.at(high, tiles, values)
    used = low <= high
    return int((high[used] - low[used]).max()) + 1
