"""Kernels of the template in the schedule "simple": each CTA has a tile, all of its threads load and multiply.

The loads of `stages - 1` tiles along k are under way while one is multiplied: by warps, where what a warp multiplies
next is loaded to its registers before the products of what it has, or by warpgroups from shared memory.
"""

import functools
from dataclasses import dataclass

from tinyc.codegen.words import AnyWord, Word, as_index, is_below, word_where
from tinyc.dialects.gpu import statements as tgpu
from tinyc.dialects.gpu.dialect import GpuTile, acc_type, frag_type, in_flight_type
from tinyc.dialects.gpu.fragment_layout import FragmentLayout
from tinyc.dialects.region.to_gpu.function import open_function
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.mlir import arith, gpu, ir, scf
from tinyc.mlir.locations import here
from tinyc.schemes.mma.frame import Parts, StatementWriter, TileCorner, place_of_tile, rolled
from tinyc.schemes.mma.maps import dim_word
from tinyc.schemes.mma.slices import hand_on, plane_of


def build_of_threads(parts: Parts) -> gpu.GPUFuncOp:
    """Write the function."""
    threads = (parts.tiling.threads, 1, 1)
    frame = open_function(parts.origin, parts.origin.name, _grid(parts), threads, workspaces=parts.workspaces)
    with ir.InsertionPoint(frame.body), here():
        _Kernel(StatementWriter(parts, frame)).write()
        gpu.ReturnOp([])
    assert isinstance(frame.body.owner, gpu.GPUFuncOp)  # it was opened
    return frame.body.owner


def _grid(parts: Parts) -> tuple[Dim, Dim, Dim]:
    """A CTA for each tile and slice of k: in two dimensions, or one after the other in bands; slices one by one."""
    tiles_m, tiles_n = parts.counts
    above = parts.product.batch * parts.tiling.slices
    if parts.is_one_walk:
        return extents.product([tiles_m, tiles_n]), 1, above
    bind = parts.origin.plan.bind or {}
    along = (tiles_m, tiles_n) if bind.get("m.o") == "block.x" else (tiles_n, tiles_m)
    return *along, above


@dataclass(frozen=True)
class _Kernel:
    """Writes the statements of one function."""

    writer: StatementWriter

    def write(self) -> None:
        """Emit the statements."""
        writer, parts = self.writer, self.writer.parts
        stages = parts.tiling.stages
        slice_of_k, batch, _ = plane_of(Word.of(gpu.block_id(gpu.Dimension.z)), 1, writer)
        corner = self._corner(as_index(batch))
        operands = [writer.circular_buffer(side, stages) for side in (0, 1)]
        layout = self._layout()
        tile = GpuTile(parts.unit.accumulator, *parts.tiling.tile[:2])
        zero = tgpu.ZeroOp(acc_type(tile, layout), loc=here("acc")).result
        index = writer.frame.index
        for stage in range(stages - 1):
            self._load(operands, index(stage), corner, self._k(slice_of_k, stage))
        loop = rolled(scf.ForOp(index(0), index(parts.steps), index(1), [zero, index(0)], loc=here("acc")))
        with ir.InsertionPoint(loop.body):
            step, (sums, stage) = loop.induction_variable, loop.inner_iter_args
            self._wait()
            if stages > 1:
                ahead = self._wrapped(arith.addi(stage, index(stages - 1)))
                self._load(operands, ahead, corner, self._k(slice_of_k, Word.of(step) + (stages - 1)))
                sums = self._multiply(operands, stage, sums, layout)
            else:
                self._load(operands, stage, corner, self._k(slice_of_k, Word.of(step)))
                self._wait()
                sums = self._multiply(operands, stage, sums, layout)
            scf.yield_([sums, self._wrapped(arith.addi(stage, index(1)))])
        self._finish(loop.results[0], slice_of_k, corner, layout)

    def _layout(self) -> FragmentLayout:
        parts = self.writer.parts
        unit = "wgmma" if parts.unit.is_wgmma else "mma"
        return FragmentLayout(unit, *parts.tiling.tile[:2], *parts.tiling.unit_tile)

    def _k(self, slice_of_k: AnyWord, step: AnyWord) -> ir.Value:
        """Emit where a tile along k begins; those behind the slice are behind all of k, where nothing is read."""
        parts, steps = self.writer.parts, dim_word(self.writer.parts.steps, self.writer.frame)
        at = slice_of_k * steps + step
        if parts.tiling.slices > 1 and parts.tiling.stages > 1:
            at = word_where(is_below(step, steps), at, steps * parts.tiling.slices)
        return as_index(at * parts.tiling.tile[2])

    def _corner(self, batch: ir.Value) -> TileCorner:
        """Emit where the CTA's tile begins."""
        parts, index = self.writer.parts, self.writer.frame.index
        x = gpu.block_id(gpu.Dimension.x)
        bm, bn, _ = parts.tiling.tile
        if parts.is_one_walk:
            down, across = (dim_word(each, self.writer.frame) for each in parts.counts)
            m, n = map(as_index, place_of_tile(Word.of(x), (down, across), parts.tiling))
        else:
            y = gpu.block_id(gpu.Dimension.y)
            bind = parts.origin.plan.bind or {}
            m, n = (x, y) if bind.get("m.o") == "block.x" else (y, x)
        return TileCorner(batch, arith.muli(m, index(bm), loc=here("m")), arith.muli(n, index(bn), loc=here("n")))

    def _load(self, operands: list[ir.Value], stage: ir.Value, corner: TileCorner, k: ir.Value) -> None:
        for side, tiles in enumerate(operands):
            self.writer.load(side, tiles, stage, corner, k)
        if self._copies:
            tgpu.CommitGroupOp(ir.StringAttr.get("cp_async"))

    @property
    def _copies(self) -> bool:
        return any(load.kind != "registers" for load in self.writer.parts.loads)

    def _wait(self) -> None:
        """Emit the wait for the oldest loads, which are there for all threads behind the barrier."""
        if self._copies:
            pending = max(self.writer.parts.tiling.stages - 2, 0)
            tgpu.WaitGroupOp([], [], ir.StringAttr.get("cp_async"), _i64(pending))
        if self.writer.parts.unit.is_wgmma:
            tgpu.FenceAsyncOp()
        gpu.barrier()

    def _wrapped(self, stage: ir.Value) -> ir.Value:
        """Emit a stage that is at most one round ahead as one of the circular buffer."""
        stages = self.writer.frame.index(self.writer.parts.tiling.stages)
        beyond = arith.cmpi(arith.CmpIPredicate.uge, stage, stages)
        return arith.select(beyond, arith.subi(stage, stages), stage, loc=here("stage"))

    def _multiply(self, operands: list[ir.Value], stage: ir.Value, sums: ir.Value, layout: FragmentLayout) -> ir.Value:
        """Emit the products of a stage's tiles; the fragments of a step are loaded before the products of the last."""
        parts = self.writer.parts
        if parts.unit.is_wgmma:
            return self._multiply_in_place(operands, stage, sums, layout)
        depth, bk = parts.unit.depth, parts.tiling.tile[2]
        fragments = self._fragments(operands, stage, layout, 0)
        for k in range(0, bk, depth):
            following = self._fragments(operands, stage, layout, k + depth) if k + depth < bk else []
            sums = tgpu.MmaSyncOp(*fragments, sums, sums.type, loc=here("acc")).output
            fragments = following
        return sums

    def _multiply_in_place(
        self, operands: list[ir.Value], stage: ir.Value, sums: ir.Value, layout: FragmentLayout
    ) -> ir.Value:
        """Emit the product of warpgroups, and the wait for it: behind the next barrier the stage is filled anew."""
        zero, kind = self.writer.zero, ir.StringAttr.get("wgmma")
        adds = arith.constant(ir.IntegerType.get_signless(1), ir.BoolAttr.get(True))
        flying = in_flight_type(GpuTile(self.writer.parts.unit.accumulator, layout.rows, layout.columns), layout)
        product = tgpu.WgmmaOp(*operands, stage, zero, zero, adds, sums, flying, loc=here("acc")).output
        tgpu.CommitGroupOp(kind)
        return tgpu.WaitGroupOp([sums.type], [product], kind, _i64(0), loc=here("acc")).results[0]

    def _fragments(self, operands: list[ir.Value], stage: ir.Value, layout: FragmentLayout, k: int) -> list[ir.Value]:
        parts = self.writer.parts
        rows, columns = parts.tiling.unit_tile
        factor, depth = parts.unit.factor, parts.unit.depth
        warps = ir.DenseI64ArrayAttr.get(parts.tiling.units)
        kinds = frag_type(GpuTile(factor, rows, depth), "a"), frag_type(GpuTile(factor, depth, columns), "b")
        pairs = zip(kinds, operands, strict=True)
        return [tgpu.LdmatrixOp(kind, tiles, stage, _i64(k), warps).fragment for kind, tiles in pairs]

    def _finish(self, sums: ir.Value, slice_of_k: AnyWord, corner: TileCorner, layout: FragmentLayout) -> None:
        """Emit epilogue and stores: the tile goes through shared memory, in the place of what was multiplied."""
        writer = self.writer
        if self._copies:
            tgpu.WaitGroupOp([], [], ir.StringAttr.get("cp_async"), _i64(0))
        gpu.barrier()
        tiles = writer.result_tiles(layout) if writer.parts.tiling.finishes else []
        finish = functools.partial(writer.finish, tiles=tiles, corner=corner, layout=layout)
        hand_on(writer, sums, corner, slice_of_k, gpu.barrier, finish)


def _i64(value: int) -> ir.IntegerAttr:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
