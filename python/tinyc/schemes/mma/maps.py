"""Tensor maps of the template's kernels: of each operand that TMA loads, and of each output that it stores.

In: where a matrix is in its buffer, and the tile that is copied. Out: a map, with the coordinates of a tile in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tinyc.analysis.strided_access import AxisRun, StridedAccess
from tinyc.codegen.words import AnyWord, Word, as_index, parted
from tinyc.dialects.gpu.shared_layout import Order, SharedLayout
from tinyc.dialects.launch import TensorMapArgument
from tinyc.dialects.region.to_gpu.function import Frame
from tinyc.expr.extents import Dim
from tinyc.mlir import ir
from tinyc.runtime.tensor_map import MAP_ALIGNMENT_BYTES, Tiling


@dataclass(frozen=True)
class MatrixMap:
    """A map, and the runs of the batch, the fastest first: each a dimension behind the first two, or broadcast."""

    map: TensorMapArgument
    batch: tuple[AxisRun, ...]

    def place(self, order: Order, batch: AnyWord, row: AnyWord, column: AnyWord, frame: Frame) -> Sequence[ir.Value]:
        """Emit where a tile is in the map's tensor, innermost dimension first."""
        place = [column, row] if order == "row" else [row, column]
        for number, run in enumerate(self.batch):
            is_last = number == len(self.batch) - 1
            batch, inside = (0, batch) if is_last else parted(batch, dim_word(run.extent, frame))
            if run.stride != 0:
                place.append(inside)
        return [as_index(each) for each in place]


def map_of(access: StridedAccess, layout: SharedLayout, ctas: int = 1) -> MatrixMap:
    """The map for tiles of a layout, of which a copy takes one slab, or the part of it of one of so many CTAs.

    The innermost dimension is the side whose elements are neighbours; then the other side, then the batch.
    """
    inner, outer = (access.columns, access.rows) if layout.order == "row" else (access.rows, access.columns)
    size, batch = access.element.size_bytes, access.batch[::-1]
    read = [run for run in batch if run.stride != 0]
    behind = [_run(outer), *read]
    tiling = Tiling(
        dims=(_run(inner).extent, *(run.extent for run in behind)),
        strides=tuple(_bytes(run.stride, size) for run in behind),
        box=(layout.line_elements, layout.lines // ctas, *(1 for _ in read)),
        swizzle=layout.swizzle,
    )
    return MatrixMap(TensorMapArgument(access.buffer, tiling), batch)


def dim_word(dim: Dim, frame: Frame) -> AnyWord:
    """Emit an extent in a function."""
    return dim if isinstance(dim, int) else Word.of(frame.index(dim))


def _run(side: tuple[AxisRun, ...]) -> AxisRun:
    """The one run of a side; one of a single element has none, and any stride will do."""
    return side[0] if side else AxisRun(1, MAP_ALIGNMENT_BYTES)


def _bytes(stride: Dim, size: int) -> Dim:
    return stride * size
