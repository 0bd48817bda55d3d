"""`tgpu.load_tile` for one thread: its share of the elements of a tile."""

import contextlib
import functools

from tinyc.codegen import scalars
from tinyc.codegen.words import as_i32
from tinyc.dialects.gpu.expand.chunks import Chunk, inside, shared_chunks
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.packing import packed_words
from tinyc.dialects.gpu.expand.place import TilePlace
from tinyc.dialects.gpu.expand.threads import comment
from tinyc.dialects.gpu.shared_layout import CHUNK_BYTES
from tinyc.dialects.gpu.statements import LoadTileOp
from tinyc.dialects.gpu.statements.instruction import emit_ptx
from tinyc.mlir import arith, ir
from tinyc.vocabulary.attributes import tensor_type
from tinyc.vocabulary.element_type import ElementType


def expand(expansion: Expansion, op: LoadTileOp) -> None:
    """Emit the loop by which the threads of the CTA share the elements of the tile."""
    if op.tiles in expansion.swizzled:
        _expand_chunks(expansion, op)
        return
    elements, threads, buffer = expansion.elements, expansion.threads, expansion.buffers[op.tiles]
    value, tile, stage = op.loaded, buffer.tile, expansion.values[op.stage]
    start = [expansion.values[each] for each in (op.batch, op.row, op.column)]
    place = TilePlace.of(op, tensor_type(value.type), start)
    with threads.shared_in_cta(tile.elements) as number:
        comment(f"load_tile: {tile.rows} x {tile.columns} elements, shared by {threads.count} threads")
        row, column = elements.delinearized(number, tile.shape)
        row, column = arith.addi(place.row, row), arith.addi(place.column, column)

        def stored() -> ir.Value:
            return scalars.to_storage(tile.element, elements.at(value, place.index(elements, row, column)))

        def zero() -> ir.Value:
            return scalars.to_storage(tile.element, scalars.element_constant(tile.element, 0))

        sides = [place.inside(elements, side, at) for side, at in (("rows", row), ("columns", column))]
        conditions = [side for side in sides if side is not None]
        if conditions:
            inside = functools.reduce(arith.andi, conditions)
            element = elements.choose(inside, scalars.storage_type(tile.element), stored, zero)
        else:
            element = stored()
        buffer.store(elements, stage, number, element)


def _expand_chunks(expansion: Expansion, op: LoadTileOp) -> None:
    """Emit a thread's share of the chunks of a tile that tensor cores read: computed in registers, stored at once."""
    elements, buffer = expansion.elements, expansion.swizzled[op.tiles]
    layout, start = buffer.layout, expansion.tile_start(op.tiles, op.stage)
    tensor, element = tensor_type(op.loaded.type), buffer.staged.tile.element
    place = TilePlace.of(op, tensor, [expansion.values[each] for each in (op.batch, op.row, op.column)])
    width = min(CHUNK_BYTES // layout.element_bytes, layout.line_elements)
    for chunk in shared_chunks(expansion, layout, width):
        mine = contextlib.nullcontext() if chunk.mine is None else elements.where(chunk.mine)
        with mine:
            stored = [_element(expansion, place, op, chunk, lane) for lane in range(width)]
            target = as_i32(buffer.address(start, chunk.row, chunk.column))
            words = packed_words(element, stored)
            if element is ElementType.F32:  # tensor cores multiply it as tf32, and drop the bits that this lacks
                words = [emit_ptx("cvt.tf32", each)[0] for each in words]
            emit_ptx(f"st.shared.{8 * width * layout.element_bytes}", target, *words)


def _element(expansion: Expansion, place: TilePlace, op: LoadTileOp, chunk: Chunk, lane: int) -> ir.Value:
    """Emit an element of a chunk in its register type, or 0 where it is outside: computed at a place that is inside."""
    elements, is_row = expansion.elements, expansion.swizzled[op.tiles].staged.order == "row"
    at = Chunk(chunk.row + (0 if is_row else lane), chunk.column + (lane if is_row else 0), None)
    found = inside(expansion, place, at)
    value = elements.at(op.loaded, place.index(elements, found.row, found.column))
    if found.whole is None:
        return value
    return arith.select(found.whole, value, scalars.number(0, value.type))
