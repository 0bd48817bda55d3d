"""Accesses at regular distances: where the elements of a matrix are in a buffer, all as far from the next one.

Frozen data and closed forms, without IR. What copies whole tiles or vectors needs such an access; what has none is
computed element by element.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tinyc.expr import extents
from tinyc.expr.axes import Axis, Index, Shape
from tinyc.expr.extents import Dim, ExtentError
from tinyc.vocabulary.element_type import ElementType


@dataclass(frozen=True)
class AxisRun:
    """Axes that are like one in memory: how many elements, and how many elements of the buffer each is from the next.

    A broadcast has the stride 0.
    """

    extent: Dim
    stride: Dim


#: The axes of one side of a tile, taken together row-major, as few runs as they are; none where the extent is 1.
Side = tuple[AxisRun, ...]


@dataclass(frozen=True)
class StridedAccess:
    """Where the elements of a matrix are, or those of a batch of them: in one buffer, at regular distances.

    `buffer` counts among the kernel's buffers, and `element` is what it holds; `offset` is that of the first element.
    Offset and strides are in elements.
    """

    buffer: int
    element: ElementType
    offset: Dim
    rows: Side
    columns: Side
    batch: Side

    @property
    def contiguous(self) -> Literal["rows", "columns"] | None:
        """The side whose elements are neighbours in memory; one of extent 1 only where the other one's are not."""
        if self.columns and self.columns[-1].stride == 1:
            return "columns"
        if self.rows and self.rows[-1].stride == 1:
            return "rows"
        return "columns" if not self.columns else "rows" if not self.rows else None

    @property
    def transposed(self) -> "StridedAccess":
        """The same elements as those of the transposed matrix."""
        return replace(self, rows=self.columns, columns=self.rows)


@dataclass(frozen=True)
class BufferAccess:
    """An access at `index` to the buffer of a number, which holds a tensor of an element type and a shape."""

    buffer: int
    element: ElementType
    shape: Shape
    index: Index


def strided_access(
    access: BufferAccess, domain: Shape, sides: tuple[Sequence[int], Sequence[int], Sequence[int]]
) -> StridedAccess | str:
    """An access, whose index is a function of the axes of `domain`, as one at regular distances; or why it is none.

    `sides` are the axes of rows, of columns and of the batch; the reason completes "since …".
    """
    strides: dict[int, Dim] = {}
    offset: Dim = 0
    try:
        for row, stride in zip(access.index, extents.row_major_strides(access.shape), strict=True):
            offset = offset + row.constant * stride
            for atom, coefficient in row.terms:
                if not isinstance(atom, Axis):
                    return f"its index {row} has a floor division"
                if coefficient < 0:
                    return f"it is read backwards ({row})"
                strides[atom.position] = strides.get(atom.position, 0) + stride * coefficient
        rows, columns, batch = (_side(positions, domain, strides) for positions in sides)
    except ExtentError as error:
        return f"its strides are not representable extents: {error}"
    return StridedAccess(access.buffer, access.element, offset, rows, columns, batch)


def _side(positions: Sequence[int], domain: Shape, strides: dict[int, Dim]) -> Side:
    """The runs of axes that are taken together."""
    runs: list[AxisRun] = []
    for position in positions:
        run = AxisRun(domain[position], strides.get(position, 0))
        if run.extent == 1:
            continue
        if runs and runs[-1].stride == run.extent * run.stride:
            run = AxisRun(runs.pop().extent * run.extent, run.stride)
        runs.append(run)
    return tuple(runs)
