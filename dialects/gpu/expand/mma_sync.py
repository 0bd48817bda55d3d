"""`tgpu.ldmatrix`, `tgpu.mma_sync` for one thread: its registers of each fragment, and the products piece by piece."""

import functools

from tinyc.codegen.words import AnyWord, Word, as_i32
from tinyc.dialects.gpu.dialect import GpuTile, accumulator_layout, fragment_tile
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.in_turn import loaded_in_turn
from tinyc.dialects.gpu.expand.swizzled_buffer import SwizzledBuffer
from tinyc.dialects.gpu.fragment_layout import PIECE_COLUMNS, PIECE_REGISTERS, PIECE_ROWS
from tinyc.dialects.gpu.shared_layout import CHUNK_BYTES
from tinyc.dialects.gpu.statements import LdmatrixOp, MmaSyncOp
from tinyc.dialects.gpu.statements.instruction import emit_ptx
from tinyc.mlir import ir
from tinyc.vocabulary.element_type import ElementType

#: Lines of a matrix that ldmatrix loads, a chunk each.
_LINES = 8
#: Bytes of the elements that it transposes.
_TRANSPOSED_BYTES = 2
#: Lanes that have the words of a line of k beside each other.
_LANES_OF_K = 4


def expand_ldmatrix(expansion: Expansion, op: LdmatrixOp) -> None:
    """Emit the loads: of A four matrices at a time (16 rows), of B four (16 columns), or the last two.

    ldmatrix transposes elements of 16 bits; of 32 bits each element is a word of a lane, which loads it by itself.
    """
    side, tile = op.side, fragment_tile(op.fragment.type, op.side)
    buffer, workers = expansion.swizzled[op.tiles], expansion.workers
    below, beside = op.warps
    staged = buffer.staged.tile
    tile_start = expansion.tile_start(op.tiles, op.stage)
    if side == "a":
        warp, along, of_warp = workers.warp // beside if beside > 1 else workers.warp, tile.rows, staged.rows // below
    else:
        warp, along, of_warp = workers.warp % beside, tile.columns, staged.columns // beside
    start: AnyWord = warp * of_warp + op.first.value
    registers: list[ir.Value] = []
    for offset in range(0, along, 2 * _LINES):
        matrices = 4 if along - offset >= 2 * _LINES else 2
        at = buffer, side, tile_start, start + offset, op.k.value, workers.lane, matrices
        if is_k_major(buffer, side) or tile.element.size_bytes == _TRANSPOSED_BYTES:
            loaded = load_matrices(*at)
            _note_fragment(loaded, side, len(registers), along // _LINES * 2)
        else:
            loaded = _load_words(*at)
        registers += loaded
    if tile.element is ElementType.F32:  # an MMA would drop the bits that tf32 lacks
        registers = [emit_ptx("cvt.tf32", each)[0] for each in registers]
    expansion.accumulators[op.fragment] = registers


def _note_fragment(loaded: list[ir.Value], side: str, first: int, size: int) -> None:
    """Note for those who print the load of which array its registers are a part: from `first` on, of `size`."""
    array, place = ir.StringAttr.get(side), ir.DenseI64ArrayAttr.get([first, size])
    load = loaded[0].owner
    assert not isinstance(load, ir.Block)  # it has been emitted just now
    load.attributes["tgpu.part_of"] = ir.DictAttr.get({"array": array, "place": place})


def load_matrices(
    buffer: SwizzledBuffer, side: str, tile_start: Word, start: AnyWord, k: int, lane: Word, matrices: int
) -> list[ir.Value]:
    """Emit the load of matrices: of 16 elements along m or n from `start` on, and two chunks along k.

    Matrices follow each other along m first in A, along k first in B: as the instruction's registers do.
    """
    chunk = CHUNK_BYTES // buffer.layout.element_bytes
    line, matrix = lane % _LINES, lane // _LINES
    first, second = matrix % 2, matrix // 2
    half, k_half = (first, second) if side == "a" else (second, first)
    along_k = is_k_major(buffer, side)
    if along_k:  # a line is one index along m or n, and a chunk along k
        at, depth = start + half * _LINES + line, k + k_half * chunk
    else:  # a line is one index along k, and a chunk along m or n
        at, depth = start + half * _LINES, k + k_half * _LINES + line
    row, column = (at, depth) if side == "a" else (depth, at)
    address = buffer.address(tile_start, row, column)
    return emit_ptx(f"ldmatrix.x{matrices}{'' if along_k else '.trans'}", as_i32(address))


def is_k_major(buffer: SwizzledBuffer, side: str) -> bool:
    """Whether neighbours in shared memory are those along k."""
    return (buffer.staged.order == "row") == (side == "a")


def _load_words(
    buffer: SwizzledBuffer, side: str, tile_start: Word, start: AnyWord, k: int, lane: Word, matrices: int
) -> list[ir.Value]:
    """Emit the loads of what `load_matrices` loads, of elements of 32 bits, whose neighbours are along m or n.

    A line is one index along k, which lanes l with l mod 4 alike read. Four lines after each other have half of their
    chunks in the same banks; so some lanes read the line 4 further on first.
    """
    at, layout = start + lane // _LANES_OF_K, buffer.layout

    def load(half: int, is_second: AnyWord) -> list[ir.Value]:
        along, depth = at + half * _LINES, lane % _LANES_OF_K + is_second * _LANES_OF_K + k
        row, column = (along, depth) if side == "a" else (depth, along)
        return emit_ptx("ld.shared.32", as_i32(buffer.address(tile_start, row, column)))

    # Lines that have their chunks in one order are in different banks.
    alike = layout.lines_of_one_chunk_order if layout.swizzle else _LANES_OF_K
    swaps = lane % _LANES_OF_K // alike % 2
    pairs: list[tuple[list[ir.Value], list[ir.Value]]] = []
    for half in range(matrices // 2):
        of_half = functools.partial(load, half)
        pairs.append(loaded_in_turn(swaps, of_half) if alike < _LANES_OF_K else (of_half(0), of_half(1)))
    ordered = zip(*pairs, strict=True) if side == "a" else pairs
    return [word for words in ordered for each in words for word in each]


def expand_mma_sync(expansion: Expansion, op: MmaSyncOp) -> None:
    """Emit a product for each piece of the warp's accumulators that has B's columns."""
    layout = accumulator_layout(op.accumulator.type)
    assert layout is not None  # the statement's rule
    lhs, rhs = fragment_tile(op.lhs.type, "a"), fragment_tile(op.rhs.type, "b")
    a, b, sums = (expansion.accumulators[each] for each in (op.lhs, op.rhs, op.accumulator))
    name = instruction_name(lhs, lhs.columns)
    output = list(sums)
    for number, (row, column) in enumerate(layout.pieces()):
        left, right = row // PIECE_ROWS * 4, (column - op.column.value) // PIECE_COLUMNS * 2
        if 0 <= right < len(b):
            piece = slice(PIECE_REGISTERS * number, PIECE_REGISTERS * (number + 1))
            output[piece] = emit_ptx(f"mma.sync.m16n8{name}", *sums[piece], *a[left : left + 4], *b[right : right + 2])
    assert rhs.element == lhs.element  # the statement's rule
    expansion.accumulators[op.output] = output


def instruction_name(tile: GpuTile, k: int) -> str:
    """What the name of a product's instruction says of its operands: k, the sums' type, the factors'."""
    return f"k{k}.{_FACTORS[tile.element]}"


_FACTORS = {
    ElementType.F16: "f32.f16",
    ElementType.BF16: "f32.bf16",
    ElementType.F32: "f32.tf32",
    ElementType.I8: "s32.s8",
}
