"""What a tile of a convolution reads of its image: a box of places, each of which all windows over it share.

In: the phase of a sum over products, its right operand, and the columns of a tile. Out: a `WindowBox`, where windows
are at neighbouring places: each product of a window is then as far from the first one for every column.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tinyc.analysis.elementwise_reads import ElementIndices, element_indices
from tinyc.analysis.kernel_loops import KernelLoops, whole_dimensions
from tinyc.analysis.poly_core.fused_loops import Phase
from tinyc.analysis.tile_sides import TileSide
from tinyc.dialects.region.ops import PANEL_COLUMNS
from tinyc.expr.axes import Shape
from tinyc.expr.extents import Dim
from tinyc.mlir import ir
from tinyc.target import GENERIC_CPU


@dataclass(frozen=True)
class WindowBox:
    """The places of a tile whose columns are `columns` places along each axis, and where its windows are in them.

    Along each axis a window has `window` products, each `steps` places behind the last. Products of the sum are windows
    one after the other, each in a box of its own. Columns are numbered by their places in the box, row-major: between
    the last one of a row and the first one of the next there are some that nobody reads.
    """

    columns: tuple[int, ...]
    window: tuple[int, ...]
    steps: tuple[int, ...]

    @property
    def extents(self) -> tuple[int, ...]:
        """The places along each axis."""
        sides = zip(self.columns, self.window, self.steps, strict=True)
        return tuple(columns + (window - 1) * step for columns, window, step in sides)

    @property
    def places(self) -> int:
        """All places."""
        return math.prod(self.extents)

    @property
    def products(self) -> int:
        """The products of a window."""
        return math.prod(self.window)

    @property
    def span(self) -> int:
        """The columns up to the last one of a tile, with those that nobody reads."""
        return sum((size - 1) * pitch for size, pitch in zip(self.columns, self.pitches, strict=True)) + 1

    def span_of(self, turns: int) -> int:
        """The columns up to the last one of a tile that is so many places along the first axis."""
        return self.span - (self.columns[0] - turns) * self.pitches[0]

    @property
    def pitches(self) -> tuple[int, ...]:
        """How far neighbours along each axis are apart."""
        return tuple(math.prod(self.extents[axis + 1 :]) for axis in range(len(self.extents)))

    @property
    def written_out(self) -> int:
        """The last axes of the window whose products are written out, so that their distances are numbers."""
        return written_out_axes(self.window)


def written_out_axes(extents: Shape) -> int:
    """Of some axes of products the last ones, so many, whose products are few enough to be written out."""
    count, products = 0, 1
    for extent in reversed(extents):
        if not isinstance(extent, int) or products * extent > GENERIC_CPU.taps:
            break
        count, products = count + 1, products * extent
    return count


class AxisWindow(NamedTuple):
    """The products that windows have along an axis, each `step` places behind the last."""

    products: int
    step: int


def windows_along(kernel: KernelLoops, phase: Phase, right: ir.Value, places: Sequence[int]) -> tuple[AxisWindow, ...]:
    """The windows of the right operand along the loops at the positions `places`; none where they share no places.

    They have the last products of the sum, and are not at a stride.
    """
    domain, whole = phase.block.statement.shape, whole_dimensions(kernel, right)
    columns, reduced = [phase.loops[place] for place in places], list(phase.reduced)
    lengths = [domain[axis] for axis in (*columns, *reduced)]
    if not all(axis in whole for axis in (*columns, *reduced)):
        return ()
    if not all(isinstance(length, int) and length > 1 for length in lengths):
        return ()
    reads = element_indices(right)
    if reads is None:
        return ()
    found: list[AxisWindow] = []
    for axis in reversed(columns):
        step = _step(reads, whole[axis], whole[reduced[-1]]) if reduced else 0
        found.insert(0, AxisWindow(_number(domain[reduced.pop()]), step) if step else AxisWindow(1, 1))
    return tuple(found) if any(each.products > 1 for each in found) else ()


def longest_window(element_bytes: int) -> int:
    """The products that a window in a box has at the most: a panel has room for some."""
    return GENERIC_CPU.window_bytes // element_bytes


def window_box(windows: Sequence[AxisWindow], columns: TileSide, rows: int, most: int) -> WindowBox | None:
    """The box that tiles of so many columns and rows are packed in; None where lines are packed.

    Windows have at `most` so many products. Lines are packed where there are so many rows that what nobody reads would
    take them longer.
    """
    if not windows:
        return None
    inside = windows[-len(columns.loops) :]
    lengths = (columns.size, *map(_number, columns.extents[1:]))
    box = WindowBox(lengths, tuple(each.products for each in inside), tuple(each.step for each in inside))
    if not 1 < box.products <= most:
        return None
    lines, slots = (-(-count // PANEL_COLUMNS) for count in (columns.most, box.span))
    return box if (slots - lines) * rows <= GENERIC_CPU.rows_worth_packing_lines * lines else None


def _step(reads: ElementIndices, column: int, product: int) -> int:
    """How many columns further the first product of a window reads what the next one reads here; 0 where none does."""
    strides = reads.strides(column, product)
    if any(by_product % by_column for by_column, by_product in strides):
        return 0
    steps = {by_product // by_column for by_column, by_product in strides}
    return steps.pop() if len(steps) == 1 else 0


def _number(length: Dim) -> int:
    assert isinstance(length, int)  # `windows_along` has seen to it
    return length
