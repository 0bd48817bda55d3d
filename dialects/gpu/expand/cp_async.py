"""`tgpu.cp_async` for one thread: its share of the copies, with zeros where the tile reaches beyond the matrix."""

import contextlib

from tinyc.codegen.words import as_i32, smaller
from tinyc.dialects.gpu.expand.chunks import Chunk, MatrixPlace, left_of, shared_chunks
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.statements import CpAsyncOp
from tinyc.dialects.gpu.statements.instruction import emit_ptx
from tinyc.mlir import arith, ir


def expand(expansion: Expansion, op: CpAsyncOp) -> None:
    """Emit the copies; of what lies outside no byte is copied, so that its address, which advances, is not read."""
    elements, buffer, size = expansion.elements, expansion.swizzled[op.tiles], op.bytes.value
    place, start = MatrixPlace.of(expansion, op), expansion.tile_start(op.tiles, op.stage)
    name = f"cp.async.{'cg' if size == 16 else 'ca'}.{size}"
    for chunk in shared_chunks(expansion, buffer.layout, op.width):
        with contextlib.nullcontext() if chunk.mine is None else elements.where(chunk.mine):
            target = as_i32(buffer.address(start, chunk.row, chunk.column))
            emit_ptx(name, target, place.address(elements.buffers[op.buffer], chunk), _bytes(op, place, chunk))


def _bytes(op: CpAsyncOp, place: MatrixPlace, chunk: Chunk) -> ir.Value:
    """Emit how much of a copy is read; behind the last of the neighbours are zeros.

    Where copies are whole it is one of two numbers, of which ptxas makes a predicate.
    """
    size, there = as_i32(op.bytes.value), place.has(chunk)
    if there is None:
        return size
    side = op.contiguous
    if side in place.guarded and not place.matrix.is_whole(side, op.width):
        left = left_of(place.expansion, place.start(side), place.extent(side))
        left = left - (chunk.column if side == "columns" else chunk.row)
        size = as_i32(smaller(left, op.width) * (op.bytes.value // op.width))
    return arith.select(there, size, as_i32(0))
