"""Kernels of the template in the schedule "simple": each CTA has a tile, all of its threads load and multiply.

The loads of `stages - 1` tiles along k are under way while one is multiplied: by warps, where what a warp multiplies
next is loaded to its registers before the products of what it has, also from one stage to the next, or by warpgroups
from shared memory.
"""

import functools
from dataclasses import dataclass

from tinyc.codegen.words import AnyWord, Word, as_i32, as_index, equals, is_below, word_where
from tinyc.dialects.gpu import statements as tgpu
from tinyc.dialects.gpu.dialect import GpuTile, acc_type, frag_type, fragment_tile, in_flight_type
from tinyc.dialects.gpu.fragment_layout import PIECE_COLUMNS, FragmentLayout
from tinyc.dialects.region.to_gpu.function import open_function
from tinyc.mlir import arith, gpu, ir, scf
from tinyc.mlir.constants import i64
from tinyc.mlir.locations import here
from tinyc.schemes.mma.fragments import FragmentWriter
from tinyc.schemes.mma.maps import dim_word
from tinyc.schemes.mma.parts import Parts
from tinyc.schemes.mma.slices import hand_on, plane_of
from tinyc.schemes.mma.writer import StatementWriter, TileCorner, place_of_tile, rolled


def build_of_threads(parts: Parts) -> gpu.GPUFuncOp:
    """Write the function."""
    threads = (parts.tiling.threads, 1, 1)
    frame = open_function(parts.origin, parts.origin.name, parts.grid, threads, workspaces=parts.workspaces)
    with ir.InsertionPoint(frame.body), here():
        _Kernel(StatementWriter(parts, frame)).write()
        gpu.ReturnOp([])
    assert isinstance(frame.body.owner, gpu.GPUFuncOp)  # it was opened
    return frame.body.owner


@dataclass(frozen=True)
class _Kernel:
    """Writes the statements of one function."""

    writer: StatementWriter

    def write(self) -> None:
        """Emit the statements."""
        writer, parts = self.writer, self.writer.parts
        slice_of_k, batch, _ = plane_of(Word.of(gpu.block_id(gpu.Dimension.z)), 1, writer)
        corner = self._corner(as_index(batch))
        operands = [writer.circular_buffer(side) for side in (0, 1)]
        layout = self._layout()
        tile = GpuTile(parts.unit.accumulator, *parts.tiling.tile[:2])
        zero = tgpu.ZeroOp(acc_type(tile, layout), loc=here("acc")).result
        loop = self._step_by_step if self._runs_ahead else self._stage_by_stage
        self._finish(loop(operands, corner, slice_of_k, zero, layout), slice_of_k, corner, layout)

    @property
    def _runs_ahead(self) -> bool:
        """Whether fragments are loaded ahead of a stage: elements that pass through registers leave no room there."""
        parts = self.writer.parts
        copied = all(load.kind != "registers" for load in parts.loads)
        return copied and not parts.unit.is_wgmma

    def _step_by_step(
        self, operands: list[ir.Value], corner: TileCorner, slice_of_k: AnyWord, zero: ir.Value, layout: FragmentLayout
    ) -> ir.Value:
        """Emit the loop along k in which warps have the fragments of a step before the products of the last one.

        Those of a stage's first step are loaded before the last products of the stage before: the wait for the copies,
        and the barrier behind which a stage is filled anew, are then in front of these products, not of loads. The last
        columns of B are left to the next turn: their registers would be the ones too many for ptxas, which takes three
        times as long with them and uses 20 more.
        """
        parts, index = self.writer.parts, self.writer.frame.index
        stages, bk, depth = parts.tiling.stages, parts.tiling.tile[2], parts.unit.depth
        for stage in range(stages - 1):
            self._load(operands, index(stage), corner, self._k(slice_of_k, index(stage)))
        self._wait()
        start = [zero, *self._ahead(operands, index(0), 0), as_i32(0), as_i32(stages - 1)]
        loop = rolled(scf.ForOp(index(0), index(parts.steps), index(1), start, loc=here("acc")))
        with ir.InsertionPoint(loop.body):
            step, (sums, *carried, stage, filled) = loop.induction_variable, loop.inner_iter_args
            following = self._following(Word(stage))
            k_filled = self._k(slice_of_k, arith.addi(step, index(stages - 1)))
            fragments = [*carried, self._last_of_b(operands, as_index(Word(stage)), 0)]
            for k in range(0, bk, depth):
                for side in self._copied_at(k // depth):
                    self.writer.load(side, operands[side], as_index(Word(filled)), corner, k_filled)
                if k + depth < bk:
                    at = operands, as_index(Word(stage)), k + depth
                    next_fragments = [*self._ahead(*at), self._last_of_b(*at)]
                else:
                    self._commit()
                    self._wait()
                    next_fragments = self._ahead(operands, as_index(following), 0)
                sums = self._product(fragments, sums)
                fragments = next_fragments
            scf.yield_([sums, *fragments, as_i32(following), stage])
        return loop.results[0]

    def _copied_at(self, step: int) -> list[int]:
        """The operands that are copied at a step of a stage: one in each, as far as there are before the last one."""
        steps = self.writer.parts.tiling.tile[2] // self.writer.parts.unit.depth
        return [side for side in (0, 1) if step == min(side, max(steps - 2, 0))]

    def _following(self, stage: Word) -> Word:
        """Emit the stage behind one."""
        is_last = equals(stage, self.writer.parts.tiling.stages - 1)
        return word_where(is_last, 0, stage + 1)

    def _stage_by_stage(
        self, operands: list[ir.Value], corner: TileCorner, slice_of_k: AnyWord, zero: ir.Value, layout: FragmentLayout
    ) -> ir.Value:
        """Emit the loop along k in which a stage is waited for, then multiplied."""
        parts, index = self.writer.parts, self.writer.frame.index
        stages = parts.tiling.stages
        first = rolled(scf.ForOp(index(0), index(stages - 1), index(1)))  # unrolled, its loads would all be under way
        with ir.InsertionPoint(first.body):
            stage = first.induction_variable
            self._load(operands, stage, corner, self._k(slice_of_k, stage))
            scf.yield_([])
        start = [zero, as_i32(0), as_i32(stages - 1)]
        loop = rolled(scf.ForOp(index(0), index(parts.steps), index(1), start, loc=here("acc")))
        with ir.InsertionPoint(loop.body):
            step, (sums, stage, filled) = loop.induction_variable, loop.inner_iter_args
            k_filled = self._k(slice_of_k, arith.addi(step, index(stages - 1)))
            self._wait()
            self._load(operands, as_index(Word(filled)), corner, k_filled)
            at = corner, self._k(slice_of_k, step)
            sums = self._multiply(operands, as_index(Word(stage)), at, sums, layout)
            scf.yield_([sums, as_i32(self._following(Word(stage))), stage])
        return loop.results[0]

    def _layout(self) -> FragmentLayout:
        parts = self.writer.parts
        unit = "wgmma" if parts.unit.is_wgmma else "mma"
        return FragmentLayout(unit, *parts.tiling.tile[:2], *parts.tiling.unit_tile)

    def _k(self, slice_of_k: AnyWord, number: ir.Value) -> ir.Value:
        """Emit where a tile along k begins; those behind the slice are behind all of k, where nothing is read."""
        parts, step = self.writer.parts, Word.of(number)
        if parts.tiling.slices == 1:
            return arith.muli(number, self.writer.frame.index(parts.tiling.tile[2]))
        steps = dim_word(parts.steps, self.writer.frame)
        at = slice_of_k * steps + step
        if parts.tiling.stages > 1:
            at = word_where(is_below(step, steps), at, steps * parts.tiling.slices)
        return as_index(at * parts.tiling.tile[2])

    def _corner(self, batch: ir.Value) -> TileCorner:
        """Emit where the CTA's tile begins."""
        parts, index = self.writer.parts, self.writer.frame.index
        x = gpu.block_id(gpu.Dimension.x)
        bm, bn, _ = parts.tiling.tile
        if parts.rows_along_x is None:
            down, across = (dim_word(each, self.writer.frame) for each in parts.counts)
            m, n = map(as_index, place_of_tile(Word.of(x), (down, across), parts.tiling))
        else:
            y = gpu.block_id(gpu.Dimension.y)
            m, n = (x, y) if parts.rows_along_x else (y, x)
        return TileCorner(batch, arith.muli(m, index(bm), loc=here("m")), arith.muli(n, index(bn), loc=here("n")))

    def _load(self, operands: list[ir.Value], stage: ir.Value, corner: TileCorner, k: ir.Value) -> None:
        for side, tiles in enumerate(operands):
            self.writer.load(side, tiles, stage, corner, k)
        self._commit()

    def _commit(self) -> None:
        if self._copies:
            tgpu.CommitGroupOp(ir.StringAttr.get("cp_async"))

    @property
    def _copies(self) -> bool:
        return any(load.kind != "registers" for load in self.writer.parts.loads)

    def _wait(self) -> None:
        """Emit the wait for the oldest loads, which are there for all threads behind the barrier."""
        if self._copies:
            pending = max(self.writer.parts.tiling.stages - 2, 0)
            tgpu.WaitGroupOp([], [], ir.StringAttr.get("cp_async"), i64(pending))
        if self.writer.parts.unit.is_wgmma:
            tgpu.FenceAsyncOp()
        gpu.barrier()

    def _multiply(
        self,
        operands: list[ir.Value],
        stage: ir.Value,
        at: tuple[TileCorner, ir.Value],
        sums: ir.Value,
        layout: FragmentLayout,
    ) -> ir.Value:
        """Emit the products of a stage's tiles; the fragments of a step are loaded before the products of the last.

        `at` is where the tiles begin.
        """
        parts = self.writer.parts
        if parts.unit.is_wgmma:
            return self._multiply_in_place(operands, stage, at, sums, layout)
        depth, bk = parts.unit.depth, parts.tiling.tile[2]
        fragments = self._fragments(operands, stage, 0)
        for k in range(0, bk, depth):
            following = self._fragments(operands, stage, k + depth) if k + depth < bk else []
            sums = self._product(fragments, sums)
            fragments = following
        return sums

    def _multiply_in_place(
        self,
        operands: list[ir.Value],
        stage: ir.Value,
        at: tuple[TileCorner, ir.Value],
        sums: ir.Value,
        layout: FragmentLayout,
    ) -> ir.Value:
        """Emit the product of warpgroups, and the wait for it: behind the next barrier the stage is filled anew."""
        zero, kind = self.writer.zero, ir.StringAttr.get("wgmma")
        adds = arith.constant(ir.IntegerType.get_signless(1), ir.BoolAttr.get(True))
        flying = in_flight_type(GpuTile(self.writer.parts.unit.accumulator, layout.rows, layout.columns), layout)
        if self.writer.parts.makes_fragments:
            corner, k = at
            factors = FragmentWriter(self.writer, operands, corner, (zero, zero))
            product = factors.multiply(stage, k, adds, sums, flying)
        else:
            product = tgpu.WgmmaOp(*operands, stage, zero, zero, adds, sums, flying, loc=here("acc")).output
        tgpu.CommitGroupOp(kind)
        return tgpu.WaitGroupOp([sums.type], [product], kind, i64(0), loc=here("acc")).results[0]

    def _product(self, fragments: list[ir.Value], sums: ir.Value) -> ir.Value:
        """Emit the products of A with each part of B."""
        a, *parts_of_b = fragments
        column = 0
        for b in parts_of_b:
            sums = tgpu.MmaSyncOp(a, b, sums, sums.type, i64(column), loc=here("acc")).output
            column += fragment_tile(b.type, "b").columns
        return sums

    def _fragments(self, operands: list[ir.Value], stage: ir.Value, k: int) -> list[ir.Value]:
        """Emit the loads of what warps multiply at `k` of a stage: of A, and of B."""
        columns = self.writer.parts.tiling.unit_tile[1]
        return [self._fragment_of_a(operands, stage, k), self._fragment_of_b(operands, stage, k, range(columns))]

    def _ahead(self, operands: list[ir.Value], stage: ir.Value, k: int) -> list[ir.Value]:
        """Emit those but for the last columns of B."""
        columns = self.writer.parts.tiling.unit_tile[1] - PIECE_COLUMNS
        found = [self._fragment_of_a(operands, stage, k)]
        return found + ([self._fragment_of_b(operands, stage, k, range(columns))] if columns else [])

    def _last_of_b(self, operands: list[ir.Value], stage: ir.Value, k: int) -> ir.Value:
        columns = self.writer.parts.tiling.unit_tile[1]
        return self._fragment_of_b(operands, stage, k, range(columns - PIECE_COLUMNS, columns))

    def _fragment_of_a(self, operands: list[ir.Value], stage: ir.Value, k: int) -> ir.Value:
        unit, rows = self.writer.parts.unit, self.writer.parts.tiling.unit_tile[0]
        kind = frag_type(GpuTile(unit.factor, rows, unit.depth), "a")
        return tgpu.LdmatrixOp(kind, operands[0], stage, i64(k), i64(0), self._warps).fragment

    def _fragment_of_b(self, operands: list[ir.Value], stage: ir.Value, k: int, columns: range) -> ir.Value:
        unit = self.writer.parts.unit
        kind = frag_type(GpuTile(unit.factor, unit.depth, len(columns)), "b")
        return tgpu.LdmatrixOp(kind, operands[1], stage, i64(k), i64(columns.start), self._warps).fragment

    @property
    def _warps(self) -> ir.Attribute:
        return ir.DenseI64ArrayAttr.get(self.writer.parts.tiling.units)

    def _finish(self, sums: ir.Value, slice_of_k: AnyWord, corner: TileCorner, layout: FragmentLayout) -> None:
        """Emit epilogue and stores: the tile goes through shared memory, in the place of what was multiplied."""
        writer = self.writer
        if self._copies:
            tgpu.WaitGroupOp([], [], ir.StringAttr.get("cp_async"), i64(0))
        if writer.parts.tiling.slices == 1:  # slices meet behind their semaphore, or do not use shared memory any more
            gpu.barrier()
        finishes = writer.parts.tiling.finishes
        tiles, residuals = (writer.result_tiles(layout), writer.residual_tiles(layout)) if finishes else ([], {})
        finish = functools.partial(writer.finish, tiles=tiles, residuals=residuals, corner=corner, layout=layout)
        hand_on(writer, sums, corner, slice_of_k, gpu.barrier, finish)
