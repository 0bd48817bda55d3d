"""`tgpu.alloc_smem` for one thread: an array in shared memory, which the threads of a CTA share."""

from tinyc.codegen import scalars
from tinyc.codegen.identifiers import legal_identifier
from tinyc.dialects.gpu.dialect import SHARED, staged_tile
from tinyc.dialects.gpu.expand.circular_buffer import CircularBuffer
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.statements import AllocSmemOp
from tinyc.mlir import ir, memref
from tinyc.mlir.names import declared_symbols
from tinyc.vocabulary.element_type import ElementType


def shared_array(expansion: Expansion, element: ElementType, size: int) -> ir.Value:
    """Declare an array in shared memory, and emit the value that it is in the kernel."""
    kind = ir.MemRefType.get([size], scalars.storage_type(element), memory_space=ir.Attribute.parse(SHARED))
    taken = declared_symbols(expansion.written.operation.block)
    name = legal_identifier(f"{expansion.name}_shared", taken)
    with ir.InsertionPoint(expansion.written):
        memref.GlobalOp(name, ir.TypeAttr.get(kind), sym_visibility="private", initial_value=ir.UnitAttr.get())
    with ir.InsertionPoint.at_block_begin(expansion.block):
        return memref.get_global(kind, name)


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
    taken = declared_symbols(expansion.written.operation.block)
    name = legal_identifier(f"{expansion.name}_{letter}", taken)
    with ir.InsertionPoint(expansion.written):
        array = memref.GlobalOp(name, ir.TypeAttr.get(kind), sym_visibility="private", initial_value=ir.UnitAttr.get())
        array.attributes["tgpu.smem"] = ir.TypeAttr.get(op.tiles.type)
    expansion.buffers[op.tiles] = CircularBuffer(memref.get_global(kind, name), held.tile)
