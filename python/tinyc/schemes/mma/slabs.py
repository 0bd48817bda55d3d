"""Epilogue and store slots of specialised warpgroups: an output is finished some columns, a slab, at a time.

Slabs take turns in two buffers of each warpgroup: while one is stored the next is computed. What is beside the
accumulators, such as a residual, TMA brings to buffers of its own, the first two slabs while the tile is multiplied.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tinyc.codegen.words import Word, as_i32, as_index
from tinyc.dialects.gpu import statements as tgpu
from tinyc.dialects.gpu.dialect import mbarrier_type, staged_tile
from tinyc.dialects.gpu.fragment_layout import WARPGROUP_THREADS
from tinyc.mlir import ir
from tinyc.mlir.constants import i64
from tinyc.mlir.locations import here
from tinyc.schemes.mma.layout import KernelLayout
from tinyc.schemes.mma.maps import MatrixMap
from tinyc.schemes.mma.shared_memory import SLAB_BUFFERS
from tinyc.schemes.mma.writer import StatementWriter, TileCorner

#: The named barrier of the first warpgroup that multiplies.
_BARRIER = 1


@dataclass(frozen=True)
class SlabWriter:
    """Writes what becomes of the accumulators for output `number`: by slabs in `tiles`, to where it belongs.

    `residuals` has for each tensor that is read beside the accumulators the tiles that its slabs come to; they arrive
    at the mbarriers `arrived`, which is None where there are none.
    """

    writer: StatementWriter
    layout: KernelLayout
    number: int
    tiles: ir.Value
    residuals: Mapping[ir.Value, ir.Value]
    arrived: ir.Value | None

    @classmethod
    def reserve(cls, writer: StatementWriter, layout: KernelLayout, number: int) -> "SlabWriter":
        """Emit the tiles and mbarriers of an output."""
        tiles = tgpu.AllocSmemOp(layout.slab_type(number), loc=here("C")).tiles
        residuals = {
            each: tgpu.AllocSmemOp(layout.slab_type(number, each), loc=here("R")).tiles
            for each in writer.parts.residuals_of(number)
        }
        arrived: ir.Value | None = None
        if residuals:
            kind = mbarrier_type(SLAB_BUFFERS * writer.parts.tiling.consumers)
            arrived = tgpu.MbarrierInitOp(kind, i64(1), loc=here("arrived")).barriers
        return cls(writer, layout, number, tiles, residuals, arrived)

    @functools.cached_property
    def _slabs(self) -> list[tuple[int, int]]:
        """The first column of each slab, and how many it has."""
        columns, width = self.writer.parts.tiling.unit_tile[1], self.layout.slab_columns(self.number)
        return [(first, min(width, columns - first)) for first in range(0, columns, width)]

    @functools.cached_property
    def _is_stored_by_tma(self) -> bool:
        return self.writer.parts.stores[self.number].kind == "tma"

    def load_first_residuals(self, corner: TileCorner, group: Word) -> None:
        """Emit the loads of what is beside a tile's first slabs, whose buffers are free when the last tile is done."""
        for slab in range(SLAB_BUFFERS):
            self._load_residuals(slab, corner, group)

    def finish(self, sums: ir.Value, corner: TileCorner, group: Word, turn: Word) -> None:
        """Emit epilogue and stores of warpgroup `group`'s accumulators; `turn` is 0 and 1 from tile to tile."""
        count = len(self._slabs)
        is_odd = count % SLAB_BUFFERS > 0
        if self._is_stored_by_tma and is_odd:
            self._await_stores()  # the last tile's store may be of the buffer that this one's first slab goes to
        for slab, columns in enumerate(self._slabs):
            buffer, earlier = slab % SLAB_BUFFERS, slab // SLAB_BUFFERS
            stage = self._stage(slab, group)
            if self.arrived is not None:
                phases_of_tile = -(-(count - buffer) // SLAB_BUFFERS)
                parity = turn * (phases_of_tile % 2) ^ (earlier % 2)
                tgpu.MbarrierWaitOp(self.arrived, stage, as_i32(parity))
            self.writer.epilogue(self.number, sums, corner, self.tiles, columns, stage, self.residuals)
            self._store(corner, columns[0], stage, is_awaited_later=is_odd and slab == count - 1)
            self._load_residuals(slab + SLAB_BUFFERS, corner, group)

    @staticmethod
    def _stage(slab: int, group: Word) -> ir.Value:
        return as_index(group * SLAB_BUFFERS + slab % SLAB_BUFFERS)

    def _load_residuals(self, slab: int, corner: TileCorner, group: Word) -> None:
        """Emit the loads of what is beside a slab, if there is such a slab."""
        if self.arrived is None or slab >= len(self._slabs):
            return
        stage = self._stage(slab, group)
        size = sum(staged_tile(each.type).layout.size_bytes for each in self.residuals.values())
        tgpu.MbarrierExpectTxOp(self.arrived, stage, i64(size))
        for value, tiles in self.residuals.items():
            of, argument = self.layout.map_in(self.writer.frame, "residual", self.number, value)
            place = self._place(of, tiles, corner, self._slabs[slab][0])
            tgpu.TmaLoadOp(tiles, stage, self.arrived, argument, place, i64(1))

    def _store(self, corner: TileCorner, first: int, stage: ir.Value, is_awaited_later: bool) -> None:
        """Emit the store of a slab; behind it all threads have read what is beside the next one of the buffer."""
        tgpu.FenceAsyncOp()
        if not self._is_stored_by_tma:
            meet_in_group()
            self.writer.store(self.number, self.tiles, corner, first, stage)
            meet_in_group()
            return
        if is_awaited_later:
            meet_in_group()
        else:
            self._await_stores()  # of the buffer that is written next
        of, argument = self.layout.map_in(self.writer.frame, "output", self.number)
        kernel = self.writer.parts.origin.kernel
        buffer = self.writer.frame.buffers[kernel.yields[self.number].buffer]
        tgpu.TmaStoreOp(self.tiles, stage, buffer, argument, self._place(of, self.tiles, corner, first))
        tgpu.CommitGroupOp(ir.StringAttr.get("bulk"))

    def _place(self, of: MatrixMap, tiles: ir.Value, corner: TileCorner, first: int) -> Sequence[ir.Value]:
        batch, row, column = map(Word.of, (corner.batch, corner.m, corner.n))
        return of.place(staged_tile(tiles.type).order, batch, row, column + first, self.writer.frame)

    def _await_stores(self) -> None:
        """Emit the wait until stores have read what they write, and all threads have come."""
        tgpu.WaitGroupOp([], [], ir.StringAttr.get("bulk"), i64(SLAB_BUFFERS - 2))
        meet_in_group()


def meet_in_group() -> None:
    """Emit the barrier of a warpgroup that multiplies."""
    tgpu.NamedBarrierOp(i64(_BARRIER), i64(WARPGROUP_THREADS))
