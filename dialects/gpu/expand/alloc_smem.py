"""`tgpu.alloc_smem` for one thread: an array in shared memory, which the threads of a CTA share."""

from tinyc.codegen import scalars
from tinyc.codegen.identifiers import legal_identifier
from tinyc.codegen.words import Word, as_index
from tinyc.dialects.gpu.dialect import SHARED, staged_tile
from tinyc.dialects.gpu.dynamic_memory import dynamic_bytes
from tinyc.dialects.gpu.expand.circular_buffer import CircularBuffer
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.swizzled_buffer import SwizzledBuffer
from tinyc.dialects.gpu.statements import AddressOp, AllocSmemOp
from tinyc.dialects.gpu.statements.address import address_type
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


def dynamic_address(expansion: Expansion, value: ir.Value) -> Word:
    """The address of tiles or mbarriers in dynamic shared memory, which is declared where it is first asked for."""
    offset = expansion.dynamic_offsets[value]
    with ir.InsertionPoint.at_block_begin(expansion.block):
        if expansion.dynamic is None:
            expansion.dynamic = _dynamic_memory(expansion)
    return expansion.dynamic + offset


def _dynamic_memory(expansion: Expansion) -> Word:
    size = dynamic_bytes(expansion.kernel)
    kind = ir.MemRefType.get([size], ir.IntegerType.get_signless(8), memory_space=ir.Attribute.parse(SHARED))
    name = legal_identifier(f"{expansion.name}_dynamic", declared_symbols(expansion.written.operation.block))
    with ir.InsertionPoint(expansion.written):
        memory = memref.GlobalOp(name, ir.TypeAttr.get(kind), sym_visibility="private", initial_value=ir.UnitAttr.get())
        memory.attributes["tgpu.dynamic"] = ir.UnitAttr.get()
    array = memref.get_global(kind, name)
    return Word(AddressOp(address_type(kind), array, as_index(0)).place)


def expand(expansion: Expansion, op: AllocSmemOp) -> None:
    """Declare a `memref.global` of the module, which remembers the tiles in it as `tgpu.smem`."""
    held = staged_tile(op.tiles.type)
    if op.tiles in expansion.dynamic_offsets:
        expansion.swizzled[op.tiles] = SwizzledBuffer(dynamic_address(expansion, op.tiles), held)
        return
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
