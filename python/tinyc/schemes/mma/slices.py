"""Slices of k: which tiles along k a CTA has of a product's, and how the sums of all slices come together.

All slices have as many tiles; what the last ones have beyond k counts as zeros. The CTAs of an output's tile have
partial sums. In "splitk_serial" they take turns: each adds what the one before has
left in a workspace, and the last one has the whole sums. In "splitk_parallel" each leaves its own, and a kernel behind
adds them in the order of the slices. Both orders are the same, and so are the sums, in every run.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from tinyc.codegen.words import AnyWord, Word, as_i32, as_index, equals, parted, smaller
from tinyc.dialects.gpu import statements as tgpu
from tinyc.dialects.gpu.dialect import GpuTile, acc_type
from tinyc.dialects.gpu.fragment_layout import PIECE_ROWS, WARP_LANES, FragmentLayout
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.to_gpu.function import Frame, close_body, open_function
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import extents
from tinyc.mlir import arith, gpu, ir, scf
from tinyc.mlir.locations import here
from tinyc.schemes.mma.maps import dim_word
from tinyc.schemes.mma.parts import Parts
from tinyc.schemes.mma.tiling import PARTIAL_SUMS, SEMAPHORES
from tinyc.schemes.mma.writer import StatementWriter, TileCorner, rolled
from tinyc.vocabulary.element_type import ElementType

#: Sides of the tiles in which partial sums are added, the largest first, and those of a warp.
_SUM_ROWS, _SUM_COLUMNS = (32, 16), (64, 32, 16, 8)
_WARP_COLUMNS = 32
#: Threads of a CTA that zeroes semaphores, one for each thread.
_ZEROING_THREADS = 256
#: Slices whose sums are loaded at a time.
_AT_A_TIME = 8


def plane_of(number: AnyWord, tiles: AnyWord, writer: StatementWriter) -> tuple[AnyWord, AnyWord, AnyWord]:
    """Emit the slice of k and the batch of a tile's number, of `tiles` for each, and its number among these.

    Slices are the slowest: who waits for other slices waits for lower numbers, which have been begun.
    """
    parts = writer.parts
    slice_of_k: AnyWord = 0
    batch: AnyWord = 0
    if parts.tiling.slices > 1:
        slice_of_k, number = parted(number, dim_word(parts.product.batch, writer.frame) * tiles)
    if parts.product.batch != 1:
        batch, number = parted(number, tiles)
    return slice_of_k, batch, number


def hand_on(
    writer: StatementWriter,
    sums: ir.Value,
    corner: TileCorner,
    slice_number: AnyWord,
    barrier: Callable[[], object],
    finish: Callable[[ir.Value], None],
) -> None:
    """Emit what becomes of the sums of a slice; `finish` emits what becomes of whole ones.

    `barrier` emits one of the threads that have the accumulators; `corner` is where these begin.
    """
    parts, frame = writer.parts, writer.frame
    if parts.tiling.slices == 1:
        finish(sums)
        return
    partial, place = _workspace(parts, frame, PARTIAL_SUMS), (corner.m, corner.n)
    if not parts.tiling.finishes:
        plane = slice_number * dim_word(parts.product.batch, writer.frame) + Word.of(corner.batch)
        tgpu.StorePartialOp(sums, partial, as_index(plane), *place)
        return
    semaphore = _workspace(parts, frame, SEMAPHORES), as_index(_semaphore(writer, corner))
    tgpu.SemaphoreWaitOp(*semaphore, as_index(slice_number))
    barrier()
    loop = rolled(scf.ForOp(as_i32(0), as_i32(smaller(slice_number, 1)), as_i32(1), [sums], loc=here("acc")))
    with ir.InsertionPoint(loop.body):
        earlier = tgpu.AddPartialOp(sums.type, loop.inner_iter_args[0], partial, corner.batch, *place, loc=here("acc"))
        scf.yield_([earlier.output])
    branch = scf.IfOp(equals(slice_number, parts.tiling.slices - 1), has_else=True)
    with ir.InsertionPoint(branch.then_block):
        finish(loop.results[0])
        scf.yield_([])
    with ir.InsertionPoint(branch.regions[1].blocks[0]):
        tgpu.StorePartialOp(loop.results[0], partial, corner.batch, *place)
        barrier()
        tgpu.SemaphoreReleaseOp(*semaphore)
        scf.yield_([])


def _workspace(parts: Parts, frame: Frame, name: str) -> ir.Value:
    return frame.workspaces[list(parts.workspaces).index(name)]


def _semaphore(writer: StatementWriter, corner: TileCorner) -> AnyWord:
    """Emit the number of the semaphore of the accumulators that begin at a place: one for each unit's."""
    parts = writer.parts
    _, rows, columns = parts.workspaces[PARTIAL_SUMS].shape
    unit_rows, unit_columns = parts.tiling.unit_tile
    down, beside = (
        dim_word(extents.floordiv(*each), writer.frame) for each in ((rows, unit_rows), (columns, unit_columns))
    )
    m, n = Word.of(corner.m) // unit_rows, Word.of(corner.n) // unit_columns
    return (Word.of(corner.batch) * down + m) * beside + n


# --- the kernels beside -----------------------------------------------------------------------------------------------


def build_zero_semaphores(parts: Parts, name: str) -> None:
    """Write the function that goes before one whose CTAs take turns."""
    shape = parts.workspaces[SEMAPHORES].shape
    grid = extents.ceildiv(extents.product(shape), _ZEROING_THREADS), 1, 1
    frame = open_function(parts.origin, name, grid, (_ZEROING_THREADS, 1, 1), workspaces=parts.workspaces)
    with ir.InsertionPoint(frame.body), here():
        statement = tgpu.MapOp()
        with ir.InsertionPoint(statement.body.blocks.append()):
            zeros = tiny.build("const", [], {"value": 0, "element": ElementType.I32, "shape": shape}).results[0]
            region.YieldOp(zeros, _workspace(parts, frame, SEMAPHORES), ir.StringAttr.get("gmem"))
        close_body(statement)
        gpu.ReturnOp([])


def build_of_sums(parts: Parts) -> gpu.GPUFuncOp:
    """Write the function that adds the sums of all slices and finishes them, in tiles of its own."""
    (bm, bn, bk), product = parts.tiling.tile, parts.product
    tile = next(each for each in _SUM_ROWS if bm % each == 0), next(each for each in _SUM_COLUMNS if bn % each == 0)
    warp = PIECE_ROWS, min(tile[1], _WARP_COLUMNS)
    layout = FragmentLayout("mma", *tile, *warp)
    tiling = replace(parts.tiling, tile=(*tile, bk), unit_tile=warp, unit_threads=WARP_LANES, schedule="simple")
    tiles = tiling.tiles_of(product)
    grid = extents.product(tiles), 1, product.batch
    threads = (layout.threads, 1, 1)
    frame = open_function(parts.origin, parts.origin.name, grid, threads, workspaces=parts.workspaces)
    writer = StatementWriter(replace(parts, tiling=tiling, pieces=0), frame)
    with ir.InsertionPoint(frame.body), here():
        m, n = parted(Word.of(gpu.block_id(gpu.Dimension.x)), dim_word(tiles[1], writer.frame))
        corner = TileCorner(gpu.block_id(gpu.Dimension.z), as_index(m * tile[0]), as_index(n * tile[1]))
        writer.finish(_summed(writer, corner, layout), writer.result_tiles(layout), {}, corner, layout)
        gpu.ReturnOp([])
    assert isinstance(frame.body.owner, gpu.GPUFuncOp)  # it was opened
    return frame.body.owner


def _summed(writer: StatementWriter, corner: TileCorner, layout: FragmentLayout) -> ir.Value:
    """Emit the sums of all slices in their order, some of them loaded at a time."""
    parts, index = writer.parts, writer.frame.index
    kind = acc_type(GpuTile(parts.unit.accumulator, layout.rows, layout.columns), layout)
    slices, batch = parts.tiling.slices, index(parts.product.batch)
    zero = tgpu.ZeroOp(kind, loc=here("acc")).result
    whole = slices - slices % _AT_A_TIME if slices > 2 * _AT_A_TIME else 0
    if whole == 0:
        return _added(writer, zero, corner, [index(each) for each in range(slices)], batch)
    loop = rolled(scf.ForOp(index(0), index(whole), index(_AT_A_TIME), [zero], loc=here("acc")))
    with ir.InsertionPoint(loop.body):
        numbers = [arith.addi(loop.induction_variable, index(each)) for each in range(_AT_A_TIME)]
        scf.yield_([_added(writer, loop.inner_iter_args[0], corner, numbers, batch)])
    return _added(writer, loop.results[0], corner, [index(each) for each in range(whole, slices)], batch)


def _added(
    writer: StatementWriter, sums: ir.Value, corner: TileCorner, slices: Sequence[ir.Value], batch: ir.Value
) -> ir.Value:
    partial = _workspace(writer.parts, writer.frame, PARTIAL_SUMS)
    for each in slices:
        plane = arith.addi(arith.muli(each, batch), corner.batch)
        added = tgpu.AddPartialOp(sums.type, sums, partial, plane, corner.m, corner.n, loc=here("acc"))
        sums = added.output
    return sums
