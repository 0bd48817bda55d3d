"""`tgpu.alloc_smem` for one thread: an array in shared memory, which the threads of a CTA share."""

from tinyc.codegen import scalars
from tinyc.dialects.gpu.dialect import SHARED, staged_tile
from tinyc.dialects.gpu.expand.circular_buffer import CircularBuffer
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.statements import AllocSmemOp
from tinyc.mlir import ir, memref


def expand(expansion: Expansion, op: AllocSmemOp) -> None:
    """Declare a `memref.global` of the module, which remembers the tiles in it as `tgpu.smem`."""
    held = staged_tile(op.tiles.type)
    kind = ir.MemRefType.get(
        [held.stages * held.tile.elements],
        scalars.storage_type(held.tile.element),
        memory_space=ir.Attribute.parse(SHARED),
    )
    count = len(expansion.buffers)
    letter = f"{chr(ord('A') + count % 26)}{count // 26 or ''}"
    name = _free_name(expansion, f"{expansion.name}_{letter}")
    with ir.InsertionPoint(expansion.written):
        array = memref.GlobalOp(name, ir.TypeAttr.get(kind), sym_visibility="private", initial_value=ir.UnitAttr.get())
        array.attributes["tgpu.smem"] = ir.TypeAttr.get(op.tiles.type)
    expansion.buffers[op.tiles] = CircularBuffer(memref.get_global(kind, name), held.tile)


def _free_name(expansion: Expansion, name: str) -> str:
    """`name`, with underscores behind it if something else in the module has it."""
    named = (op.attributes.get("sym_name", None) for op in expansion.written.operation.block.operations)
    taken = {symbol.value for symbol in named if isinstance(symbol, ir.StringAttr)}
    while name in taken:
        name += "_"
    return name
