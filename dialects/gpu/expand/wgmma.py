"""`tgpu.wgmma` for one thread of a warpgroup: descriptors of the tiles, and an instruction for each step along k."""

from tinyc.codegen.words import AnyWord, Word, as_i32
from tinyc.dialects.gpu.dialect import accumulator_layout
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.mma_sync import instruction_name
from tinyc.dialects.gpu.expand.swizzled_buffer import SwizzledBuffer
from tinyc.dialects.gpu.fragment_layout import WARPGROUP_WARPS, WGMMA_ROWS
from tinyc.dialects.gpu.shared_layout import SharedLayout
from tinyc.dialects.gpu.statements import WgmmaOp
from tinyc.dialects.gpu.statements.instruction import emit_ptx
from tinyc.dialects.gpu.statements.wgmma import WGMMA_K_BYTES
from tinyc.mlir import arith, ir
from tinyc.mlir.constants import number

#: Lines after which a swizzle repeats, and the number of each in a descriptor.
_REPEAT = 8
_SWIZZLE_MODES = {128: 1, 64: 2, 32: 3}


def expand(expansion: Expansion, op: WgmmaOp) -> None:
    """Emit the products of the warpgroup's part of the tile, 64 rows at a time, step by step along k."""
    layout = accumulator_layout(op.accumulator.type)
    assert layout is not None  # the statement's rule
    lhs, rhs = expansion.swizzled[op.lhs], expansion.swizzled[op.rhs]
    stage = Word.of(expansion.values[op.stage])
    units_beside = layout.columns // layout.unit_columns
    unit = expansion.workers.warp // WARPGROUP_WARPS
    row, column = (Word.of(expansion.values[each]) for each in (op.row, op.column))
    if units_beside > 1:
        row, column = row + unit // units_beside * layout.unit_rows, column + unit % units_beside * layout.unit_columns
    elif layout.rows > layout.unit_rows:
        row = row + unit * layout.unit_rows
    k = WGMMA_K_BYTES // lhs.layout.element_bytes
    flags = f"{'.ta' if lhs.staged.order == 'col' else ''}{'.tb' if rhs.staged.order == 'row' else ''}"
    name = f"wgmma.m64n{layout.unit_columns}{instruction_name(lhs.staged.tile, k)}{flags}"
    sums = expansion.accumulators[op.accumulator]
    sums = emit_ptx(f"wgmma.fence.{len(sums)}x{sums[0].type}", *sums)
    i32 = ir.IntegerType.get_signless(32)
    accumulate = arith.extui(i32, expansion.values[op.accumulate])
    each = layout.registers * WGMMA_ROWS // layout.unit_rows
    blocks = [sums[first : first + each] for first in range(0, len(sums), each)]
    for step, start in enumerate(range(0, lhs.staged.tile.columns, k)):
        scale = accumulate if step == 0 else number(1, i32)
        b = descriptor(rhs, stage, (start, column), "b")
        for block, values in enumerate(blocks):
            a = descriptor(lhs, stage, (row + block * WGMMA_ROWS, start), "a")
            blocks[block] = emit_ptx(name, *values, a, b, scale)
    expansion.accumulators[op.output] = [each for values in blocks for each in values]


def descriptor(buffer: SwizzledBuffer, stage: Word, at: tuple[AnyWord, AnyWord], side: str) -> ir.Value:
    """Emit the descriptor of a part of a tile from a row and a column on."""
    fixed, offset = descriptor_parts(buffer.layout, at, side)
    address = buffer.stage(stage) + offset
    i64 = ir.IntegerType.get_signless(64)
    return arith.ori(arith.extui(i64, as_i32(address // 16)), number(fixed, i64))


def descriptor_parts(layout: SharedLayout, at: tuple[AnyWord, AnyWord], side: str) -> tuple[int, AnyWord]:
    """The fields of a descriptor but for the address, and how far from the tile's start the part begins, in bytes.

    Along k in lines ("K-major") 8 lines are `stride` apart, and a swizzle's lines hold all that a step takes. Along m
    or n in lines the slabs beside each other are `leading` apart, and 8 lines along k `stride`. The part begins where
    its first element would be without a swizzle: the hardware applies that to the address.
    """
    is_k_major = (layout.order == "row") == (side == "a")
    stride = _REPEAT * layout.line_bytes
    leading = 16 if is_k_major else layout.slab_bytes
    fixed = leading // 16 << 16 | stride // 16 << 32 | _SWIZZLE_MODES[layout.swizzle] << 62
    line, place = at if layout.order == "row" else at[::-1]
    slab, inside = divmod(place, layout.line_elements)
    return fixed, slab * layout.slab_bytes + line * layout.line_bytes + inside * layout.element_bytes
