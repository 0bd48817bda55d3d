"""`tgpu.cp_async` for one thread: its share of the copies, with zeros where the tile reaches beyond the matrix."""

import contextlib

from tinyc.codegen.words import Word, as_i32
from tinyc.dialects.gpu.expand.chunks import ChunkPlace, MatrixPlace, inside, shared_chunks, stage_of, word_if
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.statements import AddressOp, CpAsyncOp
from tinyc.dialects.gpu.statements.address import address_type
from tinyc.dialects.gpu.statements.instruction import emit_ptx
from tinyc.expr import extents
from tinyc.mlir import arith, ir


def expand(expansion: Expansion, op: CpAsyncOp) -> None:
    """Emit the copies; what lies outside is read nowhere, from an address that is one of the buffer's."""
    elements, buffer, size = expansion.elements, expansion.swizzled[op.tiles], op.bytes.value
    layout, place, stage = buffer.layout, MatrixPlace.of(expansion, op), stage_of(expansion, op.stage)
    memory = elements.buffers[op.buffer]
    for chunk in shared_chunks(expansion, layout, size // layout.element_bytes):
        with contextlib.nullcontext() if chunk.mine is None else elements.where(chunk.mine):
            at = inside(expansion, place, chunk)
            source = AddressOp(address_type(memory.type), memory, place.linear(expansion, at.row, at.column)).place
            target = as_i32(buffer.address(stage, chunk.row, chunk.column))
            emit_ptx(
                f"cp.async.{'cg' if size == 16 else 'ca'}.{size}", target, source, _bytes(expansion, op, place, at)
            )


def _bytes(expansion: Expansion, op: CpAsyncOp, place: MatrixPlace, at: ChunkPlace) -> ir.Value:
    """Emit how much of a copy is read; behind the last of the neighbours are zeros."""
    size, layout = op.bytes.value, expansion.swizzled[op.tiles].layout
    side = "columns" if layout.order == "row" else "rows"
    extent, width = place.extent(side), size // layout.element_bytes
    if side not in place.guarded or extents.divide(extent, width) is not None:
        return word_if(at.whole, size)
    position = at.column if side == "columns" else at.row
    left = arith.subi(expansion.elements.extent(extent), position)
    bytes_left = arith.muli(
        arith.minui(left, expansion.elements.index(width)), expansion.elements.index(layout.element_bytes)
    )
    there = Word.of(bytes_left).value
    return there if at.whole is None else arith.select(at.whole, there, as_i32(0))
