"""`tgpu.st_global_vec` for one thread: its share of a tile's chunks, from shared memory to the output."""

import contextlib

from tinyc.codegen.words import as_i32
from tinyc.dialects.gpu.expand.chunks import MatrixPlace, inside, shared_chunks, stage_of
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.statements import AddressOp, StGlobalVecOp
from tinyc.dialects.gpu.statements.address import address_type
from tinyc.dialects.gpu.statements.instruction import emit_ptx


def expand(expansion: Expansion, op: StGlobalVecOp) -> None:
    """Emit the loads and the stores of the chunks that are inside of the output."""
    elements, buffer, width = expansion.elements, expansion.swizzled[op.tiles], op.width.value
    layout, place, stage = buffer.layout, MatrixPlace.of(expansion, op), stage_of(expansion, op.stage)
    memory, bits = elements.buffers[op.buffer], 8 * width * layout.element_bytes
    for chunk in shared_chunks(expansion, layout, width):
        at = inside(expansion, place, chunk)
        with contextlib.nullcontext() if at.whole is None else elements.where(at.whole):
            words = emit_ptx(f"ld.shared.{bits}", as_i32(buffer.address(stage, chunk.row, chunk.column)))
            address = AddressOp(address_type(memory.type), memory, place.linear(expansion, at.row, at.column)).place
            emit_ptx(f"st.global.{bits}", address, *words)
