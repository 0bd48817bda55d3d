"""What a thread owns of an accumulator tile: rows and columns of each repeat of `THREAD_TILE`."""

from tinyc.dialects.gpu.dialect import THREAD_TILE, GpuTile
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.mlir import arith, ir, math
from tinyc.vocabulary.element_type import ElementType


def owned_rows(expansion: Expansion, tile: GpuTile) -> list[ir.Value]:
    """Emit the rows of a tile that the thread owns; its accumulators are these times its columns, row-major."""
    threads = expansion.threads
    return _owned(expansion, threads.y, threads.cta_shape[1], tile.rows, THREAD_TILE[0])


def owned_columns(expansion: Expansion, tile: GpuTile) -> list[ir.Value]:
    """Emit the columns of a tile that the thread owns."""
    threads = expansion.threads
    return _owned(expansion, threads.x, threads.cta_shape[0], tile.columns, THREAD_TILE[1])


def _owned(expansion: Expansion, thread: ir.Value, threads: int, extent: int, near: int) -> list[ir.Value]:
    index = expansion.elements.index
    first = arith.muli(thread, index(near))
    offsets = [repeat + number for repeat in range(0, extent, near * threads) for number in range(near)]
    return [first if offset == 0 else arith.addi(first, index(offset)) for offset in offsets]


def multiply_add(element: ElementType, left: ir.Value, right: ir.Value, total: ir.Value) -> ir.Value:
    """Emit ``left * right + total``, in one rounding where the type is a float."""
    return math.fma(left, right, total) if element.is_float else arith.addi(arith.muli(left, right), total)
