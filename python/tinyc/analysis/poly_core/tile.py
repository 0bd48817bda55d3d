"""Tiles: how many instances of each axis of a block one step of the outer loops computes.

In: a block, and sizes by the names of axes. Out: a `Tile`. An axis that no size is given for is *whole*: it runs
inside of the tile, as does one whose size covers it. Specification 000 §1.6.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from tinyc.analysis.poly.block import PolyBlock
from tinyc.expr import axes
from tinyc.expr.axes import AxisExpr, Index, Shape

#: The largest size of a tile along an axis: sums and products of a few stay in 64 bits.
MAX_SIZE = 2**31 - 1


@dataclass(frozen=True)
class Tile:
    """`sizes[k]` instances of axis k at a time; of an axis that is not in `cut`, all."""

    sizes: Shape
    cut: frozenset[int]

    def number(self, shape: Shape) -> Index:
        """In which tile an instance over `shape` is: one row for each cut axis, in order."""
        rows: list[AxisExpr] = []
        for position in sorted(self.cut):
            size = self.sizes[position]
            assert isinstance(size, int), "only numbers cut"
            rows.append(axes.floordiv_within(axes.axis(position, shape), size, shape))
        return tuple(rows)


def tile_of(block: PolyBlock, sizes: Mapping[str, int]) -> Tile:
    """The tile of `block` that has these sizes; names that are not its axes' are passed over.

    Raises:
        ValueError: a size is not a whole number from 1 to `MAX_SIZE`.
    """
    found = list(block.statement.shape)
    cut: set[int] = set()
    for position, (name, extent) in enumerate(zip(block.statement.axes, block.statement.shape, strict=True)):
        if name not in sizes:
            continue
        require_size(sizes[name], name, block)
        if not isinstance(extent, int) or sizes[name] < extent:
            found[position] = sizes[name]
            cut.add(position)
    return Tile(tuple(found), frozenset(cut))


def kept_axes(block: PolyBlock) -> frozenset[int]:
    """The axes that tell which element an instance writes; an axis of extent 1 tells nothing."""
    return _positions(block.write)


@functools.lru_cache(maxsize=1 << 12)
def _positions(rows: Index) -> frozenset[int]:
    return frozenset[int]().union(*map(axes.positions, rows))


def reduction_axes(block: PolyBlock) -> frozenset[int]:
    """The axes over which instances of the same element run."""
    moving = {position for position, extent in enumerate(block.statement.shape) if extent != 1}
    return frozenset(moving) - kept_axes(block)


def scan_axis(block: PolyBlock) -> int | None:
    """The kept axis along which a scan runs; None for what is not a scan."""
    if block.kind != "scan":
        return None
    row: int = block.attributes["axis"]
    return min(axes.positions(block.write[row]), default=None)


def row_names(block: PolyBlock) -> tuple[str, ...]:
    """A name for each row of the tensor that a block writes: that of the axis, or `dim<row>`."""
    rows = enumerate(map(axes.positions, block.write))
    return tuple(block.statement.axes[min(found)] if found else f"dim{number}" for number, found in rows)


def require_size(size: object, name: str, block: PolyBlock) -> None:
    """Check the size of a tile along an axis.

    Raises:
        ValueError: it is not a whole number from 1 to `MAX_SIZE`.
    """
    if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= MAX_SIZE:
        raise ValueError(f"tile {size!r} of axis {name} of '{block.name}' is not a whole number in 1 … {MAX_SIZE}")
