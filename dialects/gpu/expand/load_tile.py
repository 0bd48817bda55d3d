"""`tgpu.load_tile` for one thread: its share of the elements of a tile."""

import functools

from tinyc.codegen import scalars
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.place import TilePlace
from tinyc.dialects.gpu.expand.threads import comment
from tinyc.dialects.gpu.statements import LoadTileOp
from tinyc.mlir import arith, ir
from tinyc.vocabulary.attributes import tensor_type


def expand(expansion: Expansion, op: LoadTileOp) -> None:
    """Emit the loop by which the threads of the CTA share the elements of the tile."""
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
