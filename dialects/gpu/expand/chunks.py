"""Chunks of a tile, neighbours along a line of shared memory, as the threads that run a statement share them."""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from tinyc.codegen.words import AnyWord, Word, as_index, is_below, word_where
from tinyc.dialects.gpu.dialect import GpuTile, staged_tile
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.shared_layout import SharedLayout
from tinyc.dialects.gpu.statements import AddressOp, CpAsyncOp, StGlobalVecOp
from tinyc.dialects.gpu.statements.address import address_type
from tinyc.dialects.gpu.strided_matrix import StridedMatrix
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.mlir import arith, ir

#: More than a side of a tile has.
_MOST_LEFT = 1 << 30


@dataclass(frozen=True)
class Chunk:
    """`width` elements from `row` and `column` of a tile on, along the side whose elements are neighbours.

    `mine` says whether there is such a chunk for the thread; None where there is for all.
    """

    row: AnyWord
    column: AnyWord
    mine: ir.Value | None


def shared_chunks(expansion: Expansion, layout: SharedLayout, width: int) -> Iterator[Chunk]:
    """Yield the chunks of a tile for a thread: neighbouring threads have neighbours, first along a line."""
    workers = expansion.workers
    in_line = layout.line_elements // width
    lines = layout.lines * layout.slabs
    total = lines * in_line
    for first in range(0, total, workers.threads):
        number = workers.thread + first
        mine = None if first + workers.threads <= total else is_below(number, total)
        line, chunk = divmod(number, in_line)
        slab, line = divmod(line, layout.lines) if layout.slabs > 1 else (0, line)
        along = slab * layout.line_elements + chunk * width
        yield Chunk(line, along, mine) if layout.order == "row" else Chunk(along, line, mine)


@dataclass(frozen=True)
class ChunkPlace:
    """Where a chunk is in a tensor or a matrix, and what says whether that has it; None where it is known to."""

    row: ir.Value
    column: ir.Value
    whole: ir.Value | None


def inside(expansion: Expansion, place: "Bounded", chunk: Chunk) -> ChunkPlace:
    """Emit where a chunk of a tile is in a tensor or a matrix, which has all of it or nothing.

    What is beyond is at indices that there are.
    """
    elements = expansion.elements
    conditions = [] if chunk.mine is None else [chunk.mine]
    found: dict[str, ir.Value] = {}
    for side, start, at in (("rows", place.row, chunk.row), ("columns", place.column, chunk.column)):
        extent = place.extent(side)
        if side in place.guarded:
            condition = is_below(at, left_of(expansion, start, extent))
            conditions.append(condition)
            start, at = arith.minui(start, elements.extent(extent - 1)), word_where(condition, at, 0)
        found[side] = arith.addi(start, as_index(at))
        elements.counters.counter(found[side], extent)
    whole = functools.reduce(arith.andi, conditions) if conditions else None
    return ChunkPlace(found["rows"], found["columns"], whole)


def left_of(expansion: Expansion, start: ir.Value, extent: Dim) -> Word:
    """Emit how many elements there are from `start` on: in a word, with which those of a tile are compared."""
    elements = expansion.elements
    left = arith.subi(elements.extent(extent), arith.minui(start, elements.extent(extent)))
    return Word.of(arith.minui(left, elements.index(_MOST_LEFT)))


class Bounded(Protocol):
    """Where a tile begins in what has rows and columns, and the sides at which it may reach beyond that."""

    @property
    def guarded(self) -> frozenset[str]:
        """The sides at which it may reach beyond."""
        ...

    @property
    def row(self) -> ir.Value:
        """Its first row."""
        ...

    @property
    def column(self) -> ir.Value:
        """Its first column."""
        ...

    def extent(self, side: str) -> Dim:
        """How many elements there are along a side."""
        ...


@dataclass(frozen=True)
class MatrixPlace:
    """Where a tile begins in a matrix.

    Chunks beyond a side that is `clamped` are its last one again, which begins so many elements before its end.
    """

    expansion: Expansion
    tile: GpuTile
    matrix: StridedMatrix
    guarded: frozenset[str]
    clamped: Mapping[str, int]
    batch: ir.Value
    row: ir.Value
    column: ir.Value

    @classmethod
    def of(cls, expansion: Expansion, op: CpAsyncOp | StGlobalVecOp) -> "MatrixPlace":
        """The place that a statement gives."""
        guarded = frozenset(side.value for side in op.guarded if isinstance(side, ir.StringAttr))
        clamped: dict[str, int] = {}
        if isinstance(op, CpAsyncOp):
            sides = [side.value for side in op.clamped if isinstance(side, ir.StringAttr)]
            clamped = {side: op.width if side == op.contiguous else 1 for side in sides}
        start = (expansion.values[each] for each in (op.batch, op.row, op.column))
        return cls(expansion, staged_tile(op.tiles.type).tile, StridedMatrix.of(op), guarded, clamped, *start)

    def extent(self, side: str) -> Dim:
        """How many elements there are along a side."""
        return self.matrix.extent(side)

    def address(self, memory: ir.Value, chunk: Chunk) -> ir.Value:
        """Emit the address of a chunk of the tile, in the buffer `memory`.

        It is that of the tile, with what the thread adds to it, and a number: so one address advances where a loop
        copies tiles, and chunks are at offsets from it. A chunk that the matrix does not have is beyond its buffer.
        """
        index = self.expansion.elements.index
        at = dict(_sides(chunk))
        plain = [side for side in at if side not in self.clamped and len(self.matrix.side(side)) <= 1]
        starts = {side: self.start(side) if side in plain else self._position(side, at[side]) for side in at}
        total = self._element(**starts)
        for side in plain:
            place = at[side]
            if isinstance(place, Word):
                total = _plus(total, arith.index_cast(ir.IndexType.get(), place.varying), self._step(side))
        for side in plain:
            place = at[side]
            total = _plus(total, index(place.plus if isinstance(place, Word) else place), self._step(side))
        return AddressOp(address_type(memory.type), memory, total).place

    def has(self, chunk: Chunk) -> ir.Value | None:
        """Emit whether the matrix has a chunk of the tile, by the sides that are guarded; None where it is known to."""
        there = [self.has_at(side, at) for side, at in _sides(chunk) if side in self.guarded]
        return functools.reduce(arith.andi, there) if there else None

    def has_at(self, side: str, at: AnyWord) -> ir.Value:
        """Emit whether the matrix has the row or column `at` of the tile."""
        elements, extent = self.expansion.elements, self.extent(side)
        if extents.divide(extent, self.tile.rows if side == "rows" else self.tile.columns) is not None:
            # LLVM sees that it has all of a tile that begins at a multiple, or nothing.
            return elements.within(arith.addi(self.start(side), as_index(at)), extent)
        return is_below(at, left_of(self.expansion, self.start(side), extent))

    def start(self, side: str) -> ir.Value:
        """The row or column at which the tile begins."""
        return self.row if side == "rows" else self.column

    def _position(self, side: str, at: AnyWord) -> ir.Value:
        position = arith.addi(self.start(side), as_index(at))
        if side not in self.clamped:
            return position
        return arith.minui(position, self.expansion.elements.extent(self.extent(side) - self.clamped[side]))

    def _step(self, side: str) -> ir.Value:
        """The distance, in elements, between neighbours along a side that is a run."""
        return self.expansion.elements.extent(next((run.stride for run in self.matrix.side(side)), 0))

    def _element(self, rows: ir.Value, columns: ir.Value) -> ir.Value:
        """Emit where the element of a row and a column is in the buffer."""
        elements = self.expansion.elements
        total = elements.extent(self.matrix.offset)
        for side, position in (("batches", self.batch), ("rows", rows), ("columns", columns)):
            runs = self.matrix.side(side)
            parts = elements.delinearized(position, [run.extent for run in runs]) if len(runs) > 1 else [position]
            for run, part in zip(runs, parts, strict=False):
                if run.stride != 0:
                    total = _plus(total, part, elements.extent(run.stride))
        return total


def _sides(chunk: Chunk) -> list[tuple[str, AnyWord]]:
    return [("rows", chunk.row), ("columns", chunk.column)]


def _plus(total: ir.Value, count: ir.Value, step: ir.Value) -> ir.Value:
    return arith.addi(total, arith.muli(count, step))
