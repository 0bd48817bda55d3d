"""`tgpu.st_global_vec` for one thread: its share of a tile's chunks, from shared memory to the output."""

import contextlib

from tinyc.codegen.words import as_i32
from tinyc.dialects.gpu.expand.chunks import MatrixPlace, shared_chunks
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.statements import StGlobalVecOp
from tinyc.dialects.gpu.statements.instruction import emit_ptx
from tinyc.mlir import arith, ir


def expand(expansion: Expansion, op: StGlobalVecOp) -> None:
    """Emit the loads, and the stores of the chunks that are inside of the output: without branches around them."""
    elements, buffer, width = expansion.elements, expansion.swizzled[op.tiles], op.width.value
    layout, place, start = buffer.layout, MatrixPlace.of(expansion, op), expansion.tile_start(op.tiles, op.stage)
    memory, bits = elements.buffers[op.buffer], 8 * width * layout.element_bytes
    for chunk in shared_chunks(expansion, layout, width):
        with contextlib.nullcontext() if chunk.mine is None else elements.where(chunk.mine):
            words = emit_ptx(f"ld.shared.{bits}", as_i32(buffer.address(start, chunk.row, chunk.column)))
            address, inside = place.address(memory, chunk), place.has(chunk)
            if inside is None:
                emit_ptx(f"st.global.{bits}", address, *words)
            else:
                done = arith.extui(ir.IntegerType.get_signless(32), inside)
                emit_ptx(f"st.global.{bits}.if", address, *words, done)
