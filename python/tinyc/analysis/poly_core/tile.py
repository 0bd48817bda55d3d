"""Tiles: how many instances of each axis of a block one step of the outer loops computes.

In: a block, and sizes by the names of axes. Out: a `Tile`. An axis that no size is given for is *whole*: it runs
inside of the tile, as does one whose size covers it. Specification 000 §1.6.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tinyc.analysis import axes
from tinyc.analysis.axes import Index, Shape
from tinyc.analysis.poly.block import PolyBlock

#: The largest size of a tile along an axis: sums and products of a few stay in 64 bits.
MAX_SIZE = 2**31 - 1


@dataclass(frozen=True)
class Tile:
    """`sizes[k]` instances of axis k at a time; of an axis that is not in `cut`, all."""

    sizes: Shape
    cut: frozenset[int]

    def number(self, shape: Shape) -> Index:
        """Return in which tile an instance over `shape` is: one row for each cut axis, in order."""
        rows = []
        for position in sorted(self.cut):
            size = self.sizes[position]
            assert isinstance(size, int), "only numbers cut"
            rows.append(axes.floordiv(axes.axis(position, shape), size, shape))
        return tuple(rows)


def tile_of(block: PolyBlock, sizes: Mapping[str, int]) -> Tile:
    """Return the tile of `block` that has these sizes; names that are not its axes' are passed over.

    Raises:
        ValueError: a size is no whole number from 1 to `MAX_SIZE`.
    """
    found, cut = list(block.statement.shape), set()
    for position, (name, extent) in enumerate(zip(block.statement.axes, block.statement.shape, strict=True)):
        if name not in sizes:
            continue
        require_size(sizes[name], name, block)
        if not isinstance(extent, int) or sizes[name] < extent:
            found[position] = sizes[name]
            cut.add(position)
    return Tile(tuple(found), frozenset(cut))


def kept_axes(block: PolyBlock) -> frozenset[int]:
    """Return the axes that tell which element an instance writes; an axis of extent 1 tells nothing."""
    return frozenset().union(*map(axes.positions, block.write))


def reduce_axes(block: PolyBlock) -> frozenset[int]:
    """Return the axes over which instances of the same element run."""
    moving = {position for position, extent in enumerate(block.statement.shape) if extent != 1}
    return frozenset(moving) - kept_axes(block)


def scan_axis(block: PolyBlock) -> int | None:
    """Return the kept axis along which a scan runs, or None for what is no scan."""
    if block.kind != "scan":
        return None
    return min(axes.positions(block.write[block.attributes["axis"]]), default=None)


def row_names(block: PolyBlock) -> tuple[str, ...]:
    """Return a name for each row of the tensor that a block writes: that of the axis, or `dim<row>`."""
    rows = enumerate(map(axes.positions, block.write))
    return tuple(block.statement.axes[min(found)] if found else f"dim{number}" for number, found in rows)


def require_size(size: object, name: str, block: PolyBlock) -> None:
    """Check the size of a tile along an axis.

    Raises:
        ValueError: it is no whole number from 1 to `MAX_SIZE`.
    """
    if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= MAX_SIZE:
        raise ValueError(f"tile {size!r} of axis {name} of '{block.name}' is no whole number in 1 … {MAX_SIZE}")
