"""`tgpu.cp_async` for one thread: its share of the copies, which bring zeros where the tile reaches beyond the matrix."""

import contextlib

from tinyc.codegen.words import as_i32
from tinyc.dialects.gpu.expand.chunks import MatrixPlace, inside, shared_chunks, stage_of, word_if
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.statements import AddressOp, CpAsyncOp
from tinyc.dialects.gpu.statements.address import address_type
from tinyc.dialects.gpu.statements.instruction import emit


def expand(expansion: Expansion, op: CpAsyncOp) -> None:
    """Emit the copies; what lies outside is read nowhere, from an address that is one of the buffer's."""
    elements, buffer, size = expansion.elements, expansion.swizzled[op.tiles], op.attributes["bytes"].value
    layout, place, stage = buffer.layout, MatrixPlace.of(expansion, op), stage_of(expansion, op.stage)
    memory = elements.buffers[op.buffer]
    for chunk in shared_chunks(expansion, layout, size // layout.element_bytes):
        with contextlib.nullcontext() if chunk.mine is None else elements.where(chunk.mine):
            at = inside(expansion, place, chunk)
            source = AddressOp(address_type(memory.type), memory, place.linear(expansion, at.row, at.column)).place
            target = as_i32(buffer.address(stage, chunk.row, chunk.column))
            emit(f"cp.async.{'cg' if size == 16 else 'ca'}.{size}", target, source, word_if(at.whole, size))
