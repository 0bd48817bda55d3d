"""`tgpu.tma_load`, `tgpu.tma_store`: a copy for each slab of a tile, by one thread."""

from tinyc.codegen.words import AnyWord, Word, as_i32
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.groups import emit_by_first
from tinyc.dialects.gpu.statements import MapAddressOp, TmaLoadOp, TmaStoreOp
from tinyc.dialects.gpu.statements.instruction import emit_ptx
from tinyc.mlir import ir


def expand_tma_load(expansion: Expansion, op: TmaLoadOp) -> None:
    """Emit the copies; those of a cluster's CTAs bring some of the lines each, to all of them."""
    buffer, ctas = expansion.swizzled[op.tiles], op.multicast.value
    layout, stage = buffer.layout, Word.of(expansion.values[op.stage])
    place = _place(expansion, op)
    barrier = as_i32(expansion.barriers[op.barriers].address(stage))
    target: AnyWord = buffer.stage(stage)
    shared: list[ir.Value] = []
    if ctas > 1:
        lines = layout.lines // ctas
        rank = Word(emit_ptx("cluster.rank")[0])
        target = target + rank * (lines * layout.line_bytes)
        place = [place[0], place[1] + rank * lines, *place[2:]]
        shared = [as_i32(2**ctas - 1)]
    name = f"tma.load.{len(place)}d{'.multicast' if ctas > 1 else ''}"
    for slab in range(layout.slabs):
        at = [place[0] + slab * layout.line_elements, *place[1:]]
        to = as_i32(target + slab * layout.slab_bytes)
        emit_by_first(expansion, name, to, _map(expansion, op), barrier, *map(as_i32, at), *shared)


def expand_tma_store(expansion: Expansion, op: TmaStoreOp) -> None:
    """Emit the copies."""
    buffer = expansion.swizzled[op.tiles]
    layout, place = buffer.layout, _place(expansion, op)
    source = buffer.stage(Word.of(expansion.values[op.stage]))
    for slab in range(layout.slabs):
        at = [place[0] + slab * layout.line_elements, *place[1:]]
        to = as_i32(source + slab * layout.slab_bytes)
        emit_by_first(expansion, f"tma.store.{len(place)}d", to, _map(expansion, op), *map(as_i32, at))


def _place(expansion: Expansion, op: TmaLoadOp | TmaStoreOp) -> list[AnyWord]:
    return [Word.of(expansion.values[each]) for each in op.place]


def _map(expansion: Expansion, op: TmaLoadOp | TmaStoreOp) -> ir.Value:
    return MapAddressOp(ir.IntegerType.get_signless(64), expansion.values[op.map]).place
