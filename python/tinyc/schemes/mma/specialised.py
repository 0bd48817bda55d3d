"""Kernels of the template whose warpgroups are specialised: one loads by TMA, the others multiply by `wgmma`.

CTAs stay, and take one tile after the other: the loads run ahead into the next tile while the epilogue of this one is
under way. Stages are handed over by two rows of mbarriers: `full`, at which the bytes of a stage arrive, and `empty`,
at which warps arrive that are done with it. In the schedule "cooperative" the warpgroups that multiply share the tile
of the CTA; in "pingpong" they take turns with tiles of their own.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from tinyc.codegen.words import AnyWord, Word, as_i32, as_index, equals, is_below, parted, word_where
from tinyc.dialects.gpu import statements as tgpu
from tinyc.dialects.gpu.dialect import GpuTile, acc_type, in_flight_type, mbarrier_type, staged_tile
from tinyc.dialects.gpu.fragment_layout import WARPGROUP_WARPS, FragmentLayout
from tinyc.dialects.region.to_gpu.function import open_function
from tinyc.expr.extents import Dim
from tinyc.mlir import arith, gpu, ir, scf
from tinyc.mlir.constants import i64
from tinyc.mlir.locations import here
from tinyc.schemes.mma.fragments import FragmentWriter
from tinyc.schemes.mma.layout import KernelLayout
from tinyc.schemes.mma.maps import dim_word
from tinyc.schemes.mma.parts import Parts, filled
from tinyc.schemes.mma.slabs import SlabWriter, meet_in_group
from tinyc.schemes.mma.slices import hand_on, plane_of
from tinyc.schemes.mma.tiling import MmaTiling
from tinyc.schemes.mma.writer import StatementWriter, TileCorner, place_of_tile, rolled


def build_of_warpgroups(parts: Parts) -> gpu.GPUFuncOp:
    """Write the function."""
    kernel = KernelLayout(parts)
    frame = open_function(
        parts.origin,
        parts.origin.name,
        parts.grid,
        (parts.tiling.threads, 1, 1),
        [each.map for each in kernel.maps.values()],
        {"cluster": ir.DenseI32ArrayAttr.get([kernel.ctas, 1, 1])} if kernel.ctas > 1 else None,
        parts.workspaces,
    )
    with ir.InsertionPoint(frame.body), here():
        _Kernel(StatementWriter(parts, frame), kernel).write()
        gpu.ReturnOp([])
    assert isinstance(frame.body.owner, gpu.GPUFuncOp)  # it was opened
    return frame.body.owner


@dataclass(frozen=True)
class _Phase:
    """The place in the circular buffer: the stage, and the parity of the phase that its mbarriers are in."""

    stage: AnyWord
    parity: AnyWord

    def next(self, stages: int, by: int = 1) -> "_Phase":
        """The place `by` stages further."""
        stage = self.stage + by
        wraps = arith.cmpi(arith.CmpIPredicate.uge, as_i32(stage), as_i32(stages))
        return _Phase(word_where(wraps, stage - stages, stage), self.parity ^ word_where(wraps, 1, 0))

    def before(self, by: int, stages: int) -> AnyWord:
        """The stage that is `by` places, fewer than there are, behind this one."""
        if by == 0:
            return self.stage
        return word_where(is_below(self.stage, by), self.stage + (stages - by), self.stage - by)

    def after(self, steps: AnyWord, stages: int) -> "_Phase":
        """The place any number of stages further."""
        rounds, stage = parted(self.stage + steps, stages)
        return _Phase(stage, self.parity ^ (rounds % 2))

    @property
    def values(self) -> Sequence[ir.Value]:
        """What a loop carries of it."""
        return [as_i32(self.stage), as_i32(self.parity)]


@dataclass(frozen=True)
class _Kernel:
    """Writes the statements of one function."""

    writer: StatementWriter
    layout: KernelLayout

    def write(self) -> None:
        """Emit the statements."""
        parts, tiling = self.writer.parts, self.writer.parts.tiling
        operands = [self.writer.circular_buffer(side) for side in (0, 1)]
        outputs = range(len(parts.product.results) if tiling.finishes else 0)
        slabs = [SlabWriter.reserve(self.writer, self.layout, number) for number in outputs]
        warps = WARPGROUP_WARPS * (1 if tiling.schedule == "pingpong" else tiling.consumers)
        full, empty = (
            tgpu.MbarrierInitOp(mbarrier_type(tiling.stages), i64(arrivals), loc=here(name)).barriers
            for name, arrivals in (("full", 1), ("empty", warps * self.layout.ctas))
        )
        turns = []
        if tiling.schedule == "pingpong":
            kind = mbarrier_type(tiling.consumers)
            turns = [tgpu.MbarrierInitOp(kind, i64(WARPGROUP_WARPS), loc=here("turns")).barriers]
        self._meet()
        producer, consumer = filled(tiling.registers)
        with self._role(0, 1, producer, one_thread=True):
            self._produce(operands, full, empty)
        with self._role(1, tiling.consumers, consumer, one_thread=False) as group:
            self._consume(operands, slabs, full, empty, turns, Word.of(group))
        if self.layout.ctas > 1:  # a CTA that is done may still be arrived at
            tgpu.ClusterBarrierOp(ir.BoolAttr.get(False))

    def _meet(self) -> None:
        """Emit the barrier behind which the mbarriers are there for all that use them."""
        if self.layout.ctas > 1:
            tgpu.ClusterBarrierOp(ir.BoolAttr.get(True))
        else:
            gpu.barrier()

    def _role(self, first: int, count: int, registers: int, one_thread: bool) -> "_Role":
        statement = tgpu.WarpgroupsOp(i64(first), i64(count), i64(registers), ir.BoolAttr.get(one_thread))
        return _Role(statement)

    # --- tiles --------------------------------------------------------------------------------------------------------

    def _word(self, dim: Dim) -> AnyWord:
        return dim_word(dim, self.writer.frame)

    def _tiles(self, turn: AnyWord, turns: int) -> tuple[AnyWord, AnyWord, AnyWord]:
        """The first number of a tile for the CTA, how many there are, and the distance to the next.

        Where warpgroups take turns each begins at its own, `turn`, and skips those of the others.
        """
        ctas, parts = self.layout.ctas, self.writer.parts
        first = Word.of(gpu.block_id(gpu.Dimension.x)) // ctas
        count = Word.of(gpu.grid_dim(gpu.Dimension.x)) // ctas
        return first + turn * count, self._word(parts.tiling.work_of(parts.product)), count * turns

    def _corner(self, number: AnyWord) -> tuple[AnyWord, AnyWord, AnyWord, AnyWord]:
        """The slice of k and the batch, and where the CTA's tile begins: bands of tiles across, walked along."""
        tiling = self.writer.parts.tiling
        tiles_m, tiles_n = map(self._word, tiling.cluster_tiles_of(self.writer.parts.product))
        slice_of_k, batch, number = plane_of(number, tiles_m * tiles_n, self.writer)
        m, n = place_of_tile(number, (tiles_m, tiles_n), tiling)
        (cm, cn), (bm, bn, _), (rows, columns, _) = tiling.cluster, tiling.tile, tiling.cluster_tile
        rank = Word.of(gpu.block_id(gpu.Dimension.x)) % self.layout.ctas
        row, column = m * rows + (rank * bm if cm > 1 else 0), n * columns + (rank * bn if cn > 1 else 0)
        return slice_of_k, batch, row, column

    # --- load ---------------------------------------------------------------------------------------------------------

    def _produce(self, operands: Sequence[ir.Value], full: ir.Value, empty: ir.Value) -> None:
        """Emit the loads of all tiles of the CTA: each waits until its stage is empty."""
        parts = self.writer.parts
        first, tiles, step = self._tiles(0, 1)
        outer = _loop(first, tiles, step, _Phase(0, 0).values)
        with ir.InsertionPoint(outer.body):
            slice_of_k, batch, m, n = self._corner(Word(outer.induction_variable))
            steps = self._word(parts.steps)
            inner = _loop(0, steps, 1, list(outer.inner_iter_args))
            with ir.InsertionPoint(inner.body):
                phase = _Phase(*map(Word, inner.inner_iter_args))
                stage = as_index(phase.stage)
                k = (slice_of_k * steps + Word(inner.induction_variable)) * parts.tiling.tile[2]
                tgpu.MbarrierWaitOp(empty, stage, as_i32(phase.parity ^ 1))
                size = sum(staged_tile(each.type).layout.size_bytes for each in operands)
                tgpu.MbarrierExpectTxOp(full, stage, i64(size))
                for side, tiles_of in enumerate(operands):
                    row, column = (m, k) if side == 0 else (k, n)
                    of, kind = self.layout.map_in(self.writer.frame, "operand", side)
                    place = of.place(staged_tile(tiles_of.type).order, batch, row, column, self.writer.frame)
                    tgpu.TmaLoadOp(tiles_of, stage, full, kind, place, i64(self.layout.multicast(side)))
                scf.yield_(phase.next(parts.tiling.stages).values)
            scf.yield_(list(inner.results))

    # --- multiply -----------------------------------------------------------------------------------------------------

    def _consume(
        self,
        operands: Sequence[ir.Value],
        slabs: Sequence[SlabWriter],
        full: ir.Value,
        empty: ir.Value,
        turns: Sequence[ir.Value],
        group: Word,
    ) -> None:
        """Emit the products of all tiles of the warpgroup, and what becomes of each.

        Warpgroups that take turns multiply one after the other: `turns` tell each that the other has finished. Who
        waits for a stage has to know of the phase before: two phases on, it would take the one before for its own.
        """
        tiling = self.writer.parts.tiling
        takes_turns = tiling.schedule == "pingpong"
        first, tiles, step = self._tiles(group if takes_turns else 0, tiling.consumers if takes_turns else 1)
        steps, stages = self._word(self.writer.parts.steps), tiling.stages
        start = _Phase(0, 0).after(group * steps, stages) if takes_turns else _Phase(0, 0)
        outer = _loop(first, tiles, step, [*start.values, as_i32(0)])
        with ir.InsertionPoint(outer.body):
            *phase, turn = outer.inner_iter_args
            slice_of_k, batch, m, n = self._corner(Word(outer.induction_variable))
            row, column = (0, 0) if takes_turns else self._part(group)
            corner = TileCorner(as_index(batch), as_index(m + row), as_index(n + column))
            for each in slabs:
                each.load_first_residuals(corner, group)
            for each in turns:
                tgpu.MbarrierWaitOp(each, as_index(group), as_i32(Word(turn) ^ group ^ 1))
            tiles = TileCorner(as_index(batch), as_index(m), as_index(n)), slice_of_k
            sums, place = self._multiply(operands, full, empty, phase, tiles, (row, column))
            for each in turns:
                tgpu.MbarrierArriveOp(each, as_index(1 - group), [], i64(1))
            finish = functools.partial(_finish, slabs=slabs, corner=corner, group=group, turn=Word(turn))
            hand_on(self.writer, sums, corner, slice_of_k, meet_in_group, finish)
            after = place.after(steps, stages) if takes_turns else place
            scf.yield_([*after.values, as_i32(Word(turn) ^ 1)])
        if any(key[0] == "output" for key in self.layout.maps):
            tgpu.WaitGroupOp([], [], ir.StringAttr.get("bulk"), i64(-1))

    def _part(self, group: Word) -> tuple[AnyWord, AnyWord]:
        """The row and column of the CTA's tile at which the part of a warpgroup begins."""
        (rows, columns), (_, beside) = self.writer.parts.tiling.unit_tile, self.writer.parts.tiling.units
        if beside == 1:
            return group * rows, 0
        return group // beside * rows, group % beside * columns

    def _multiply(
        self,
        operands: Sequence[ir.Value],
        full: ir.Value,
        empty: ir.Value,
        phase: Sequence[ir.Value],
        tiles: tuple[TileCorner, AnyWord],
        part: tuple[AnyWord, AnyWord],
    ) -> tuple[ir.Value, _Phase]:
        """Emit the loop along k; return the accumulators and where it has come to in the circular buffer.

        `tiles` are where the CTA's tile begins and the slice of k, `part` is where the warpgroup's is in the tile.
        """
        parts, tiling = self.writer.parts, self.writer.parts.tiling
        layout = FragmentLayout("wgmma", *tiling.unit_tile, *tiling.unit_tile)
        tile = GpuTile(parts.unit.accumulator, *tiling.unit_tile)
        ready, in_flight = acc_type(tile, layout), in_flight_type(tile, layout)
        depth, kind, steps = tiling.wait_depth, ir.StringAttr.get("wgmma"), self._word(parts.steps)
        carried = in_flight if depth else ready
        zero = tgpu.ZeroOp(carried, loc=here("acc")).result
        stages = self._stages(operands, full, steps, tiles, part)
        loop = _loop(0, steps, 1, [zero, *stages.ahead(_Phase(*map(Word, phase))), *phase])
        with ir.InsertionPoint(loop.body):
            sums, *ahead = list(loop.inner_iter_args)[:-2]
            step, place = Word(loop.induction_variable), _Phase(*map(Word, list(loop.inner_iter_args)[-2:]))
            sums = stages.multiply(step, place, sums, in_flight, ahead)
            tgpu.CommitGroupOp(kind)
            ahead = stages.ahead(place, step)
            sums = tgpu.WaitGroupOp([carried], [sums], kind, i64(depth), loc=here("acc")).results[0]
            # The products of the stage that is `depth` behind are done.
            done = [arith.cmpi(arith.CmpIPredicate.uge, loop.induction_variable, as_i32(depth))] if depth else []
            if parts.makes_fragments:  # lanes have read what one of them gives back
                tgpu.WarpBarrierOp()
            tgpu.MbarrierArriveOp(empty, as_index(place.before(depth, tiling.stages)), done, i64(self.layout.ctas))
            scf.yield_([sums, *ahead, *place.next(tiling.stages).values])
        sums, place = loop.results[0], _Phase(*map(Word, list(loop.results)[-2:]))
        if depth:
            sums = tgpu.WaitGroupOp([ready], [sums], kind, i64(0), loc=here("acc")).results[0]
        for behind in range(depth, 0, -1):
            done = arith.cmpi(arith.CmpIPredicate.uge, as_i32(steps), as_i32(behind))
            tgpu.MbarrierArriveOp(empty, as_index(place.before(behind, tiling.stages)), [done], i64(self.layout.ctas))
        return sums, place

    def _stages(
        self,
        operands: Sequence[ir.Value],
        full: ir.Value,
        steps: AnyWord,
        tiles: tuple[TileCorner, AnyWord],
        part: tuple[AnyWord, AnyWord],
    ) -> "_CopiedStages | _MadeStages":
        """How the stages of a tile are multiplied: as they are, or A made in registers of what they have."""
        row, column = map(as_index, part)
        if not self.writer.parts.makes_fragments:
            return _CopiedStages(operands, full, (row, column))
        corner, slice_of_k = tiles
        return _MadeStages(FragmentWriter(self.writer, operands, corner, (row, column)), full, steps, slice_of_k)


@dataclass(frozen=True)
class _CopiedStages:
    """Writes the products of stages whose tiles are multiplied as they are, once they are `full`."""

    operands: Sequence[ir.Value]
    full: ir.Value
    part: tuple[ir.Value, ir.Value]

    def ahead(self, place: _Phase, step: Word | None = None) -> list[ir.Value]:
        """Nothing is made ahead."""
        return []

    def multiply(
        self, step: Word, place: _Phase, sums: ir.Value, in_flight: ir.Type, ahead: Sequence[ir.Value]
    ) -> ir.Value:
        """Emit the product of the stage at a place."""
        stage = as_index(place.stage)
        tgpu.MbarrierWaitOp(self.full, stage, as_i32(place.parity))
        adds = _is_not_first(step)
        return tgpu.WgmmaOp(*self.operands, stage, *self.part, adds, sums, in_flight, loc=here("acc")).output


@dataclass(frozen=True)
class _MadeStages:
    """Writes the products of stages of whose tiles A is made in registers.

    The first fragment of a stage is made while the stage before is multiplied, where it is known that there is one.
    """

    fragments: FragmentWriter
    full: ir.Value
    steps: AnyWord
    slice_of_k: AnyWord

    def ahead(self, place: _Phase, step: Word | None = None) -> list[ir.Value]:
        """Emit the first fragment of the stage behind `step`, which is at a place, or of the first of all.

        Behind the last one that is its own again, which has not been given back: it costs no branch.
        """
        if not isinstance(self.steps, int):
            return []
        number: AnyWord = 0
        if step is not None:
            is_last, following = equals(step, self.steps - 1), place.next(self._tiling.stages)
            place = _Phase(
                word_where(is_last, place.stage, following.stage), word_where(is_last, place.parity, following.parity)
            )
            number = word_where(is_last, step, step + 1)
        return [self.fragments.make(self._arrived(place), self._k(number))]

    def multiply(
        self, step: Word, place: _Phase, sums: ir.Value, in_flight: ir.Type, ahead: Sequence[ir.Value]
    ) -> ir.Value:
        """Emit the products of the stage at a place, of which a fragment may have been made ahead."""
        stage = as_index(place.stage) if ahead else self._arrived(place)
        first = ahead[0] if ahead else None
        return self.fragments.multiply(stage, self._k(step), _is_not_first(step), sums, in_flight, first)

    def _arrived(self, place: _Phase) -> ir.Value:
        """Emit the wait for a stage."""
        stage = as_index(place.stage)
        tgpu.MbarrierWaitOp(self.full, stage, as_i32(place.parity))
        return stage

    def _k(self, step: AnyWord) -> ir.Value:
        return as_index((self.slice_of_k * self.steps + step) * self._tiling.tile[2])

    @property
    def _tiling(self) -> MmaTiling:
        return self.fragments.writer.parts.tiling


def _is_not_first(step: Word) -> ir.Value:
    return arith.cmpi(arith.CmpIPredicate.ne, as_i32(step), as_i32(0))


class _Role:
    """The body of a `tgpu.warpgroups`, which is written in a `with`; its argument is the number of the warpgroup."""

    def __init__(self, statement: tgpu.WarpgroupsOp) -> None:
        self._statement = statement

    def __enter__(self) -> ir.Value:
        block = self._statement.regions[0].blocks.append(ir.IndexType.get(), arg_locs=[here("warpgroup")])
        self._point = ir.InsertionPoint(block)
        self._point.__enter__()
        return block.arguments[0]

    def __exit__(self, *error: object) -> None:
        if error[0] is None:
            from tinyc.mlir.bodies import end_body

            end_body()
        self._point.__exit__(*error)


def _finish(sums: ir.Value, slabs: Sequence[SlabWriter], corner: TileCorner, group: Word, turn: Word) -> None:
    for each in slabs:
        each.finish(sums, corner, group, turn)


def _loop(first: AnyWord, end: AnyWord, step: AnyWord, carried: Sequence[ir.Value]) -> scf.ForOp:
    return rolled(scf.ForOp(as_i32(first), as_i32(end), as_i32(step), carried))
