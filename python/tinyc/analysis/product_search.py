"""The tiles that a product may have on a CPU, by their predicted time: what its plan is chosen from.

In: what a product is like, once for each operand that may have the columns, and what a plan says of it. Out: all tiles,
the fastest first. There are a few sizes along each side, of whole micro-kernels, with the loops that fit inside; of
several tiles along a loop all are about the same. Of a size that is not known tiles are those that formation counts
with: they suit whatever size there is. Whether there is memory for a tile is asked of the product in these
tiles (`planned_tiles`).
"""

import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tinyc.analysis.product_cost import ProductModel, ProductShape, ProductTile, ProductTime, SideLines
from tinyc.analysis.tile_sides import TileSide, even_part, sized_side, tile_side
from tinyc.expr.axes import Shape
from tinyc.target import GENERIC_CPU

#: Lines of a tile at most, and bytes of a line of a panel: rows are of whole micro-kernels of most CPUs.
_ROWS, _ROW_UNIT = (84, 168, 336, 672, 1344), 14
_COLUMNS, _COLUMN_UNIT = (32, 64, 96, 128, 192, 256, 512), 16
_DEPTHS = (1024, 2048)
#: Fewer rows read the right operand in place if they can: their micro-kernels wait for sums, and panels do not help.
#: With panels, a decoder of one row (`gpt2_decoder` of `bench/models.py`) took 6 % more time on one thread.
_FEWEST_ROWS = 6


@dataclass(frozen=True)
class GivenTile:
    """What a plan says of the tiles of a product, None where it says nothing."""

    tile: tuple[int, int, int] | None = None
    packs_left: bool | None = None
    packs_right: bool | None = None


@dataclass(frozen=True)
class RankedTile:
    """A tile of the product with its columns on one of the sides that there are, and its time."""

    side: int
    tile: ProductTile
    time: ProductTime


@functools.lru_cache(maxsize=1024)
def ranked_tiles(shapes: Sequence[ProductShape], given: GivenTile) -> tuple[RankedTile, ...]:
    """All tiles that a plan leaves, the fastest first."""
    found = (RankedTile(side, *each) for side, shape in enumerate(shapes) for each in _timed_tiles(shape, given))
    return tuple(sorted(found, key=_rank))


def _rank(ranked: RankedTile) -> tuple[float, bool, bool]:
    """The time in four digits; of those that take the same, such as that of memory, the one that packs less."""
    return float(f"{ranked.time.seconds:.4g}"), ranked.tile.packs_left, ranked.tile.packs_right


def _timed_tiles(shape: ProductShape, given: GivenTile) -> Iterator[tuple[ProductTile, ProductTime]]:
    model = ProductModel(shape, GENERIC_CPU)
    rights = _packings(given.packs_right, can_be_in_place=shape.has_right_in_place)
    if given.packs_right is None and shape.has_right_in_place and shape.rows < _FEWEST_ROWS:
        rights = (False,)
    lefts = _packings(given.packs_left, can_be_in_place=shape.has_left_in_place)
    for packs_right in rights:
        every_rows, every_columns, depths = _sizes(shape, given, packs_right)
        rows_of = [(each, SideLines(shape, shape.sides.rows, each)) for each in every_rows]
        columns_of = [(each, SideLines(shape, shape.sides.columns, each)) for each in every_columns]
        for packs_left, (rows, all_rows), (columns, all_columns), depth in itertools.product(
            lefts, rows_of, columns_of, depths
        ):
            tile = ProductTile(rows, columns, depth, packs_left, packs_right)
            yield tile, model.time(tile, all_rows, all_columns)


def _packings(given: bool | None, *, can_be_in_place: bool) -> tuple[bool, ...]:
    """Whether an operand is packed, or both."""
    if given is not None:
        return (given,)
    return (False, True) if can_be_in_place else (True,)


def _sizes(
    shape: ProductShape, given: GivenTile, packs_right: bool
) -> tuple[Iterable[TileSide], Iterable[TileSide], Iterable[int]]:
    """The rows, the columns, and the products of a panel that there are."""
    loops, sides = shape.loops, shape.sides
    if given.tile is not None:
        rows, columns, depth = given.tile
        return [sized_side(loops, sides.rows, rows)], [sized_side(loops, sides.columns, columns)], [depth]
    heights = _ROWS if _is_known(loops, sides.rows) else (GENERIC_CPU.tile_rows,)
    widths = _COLUMNS if _is_known(loops, sides.columns) else (GENERIC_CPU.tile_columns,)
    if not packs_right and not _are_few_products(shape):
        widths = (GENERIC_CPU.columns_in_place,)
    every_rows = (tile_side(loops, sides.rows, most, _ROW_UNIT) for most in heights)
    every_columns = (tile_side(loops, sides.columns, most, _COLUMN_UNIT) for most in widths)
    return dict.fromkeys(every_rows), dict.fromkeys(every_columns), _depths(shape, packs_right)


def _is_known(loops: Shape, places: Iterable[int]) -> bool:
    """Whether all loops of a side are numbers: else tiles have the size that formation counts with."""
    return all(isinstance(loops[place], int) for place in places)


def _are_few_products(shape: ProductShape) -> bool:
    """Whether the right operand is read in place as it is packed: all products of some columns for rows after rows."""
    is_known = isinstance(shape.depth, int)
    return is_known and shape.rows >= _FEWEST_ROWS and shape.products * shape.element_bytes <= _DEPTHS[0]


def _depths(shape: ProductShape, packs_right: bool) -> Iterable[int]:
    """The products of a panel, all panels being about the same, or one of all."""
    if not packs_right:
        return [shape.products if _are_few_products(shape) else even_part(shape.depth, GENERIC_CPU.rows_in_place, 1)]
    # of several panels of words the last one alone is filled up to a whole step
    unit = shape.packed_together if shape.dot is None else shape.dot.step_products
    is_known = isinstance(shape.depth, int)
    sizes = [shape.group * size // shape.element_bytes for size in (_DEPTHS if is_known else _DEPTHS[:1])]
    found = [even_part(shape.depth, max(1, size // unit) * unit, unit) for size in sizes]
    return dict.fromkeys([*found, shape.products] if is_known else found)
