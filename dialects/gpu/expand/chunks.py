"""Chunks of a tile, neighbours along a line of shared memory, as the threads that run a statement share them."""

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from tinyc.codegen.words import AnyWord, Word, as_index, is_below
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.shared_layout import SharedLayout
from tinyc.dialects.gpu.statements import CpAsyncOp, StGlobalVecOp
from tinyc.dialects.gpu.strided_matrix import StridedMatrix
from tinyc.expr.extents import Dim
from tinyc.mlir import arith, ir


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
    """Where a chunk is in a tensor or a matrix: at indices that it has, and what says whether they are the chunk's own.

    `whole` is None where a chunk is known to be inside.
    """

    row: ir.Value
    column: ir.Value
    whole: ir.Value | None


def inside(expansion: Expansion, place: "Bounded", chunk: Chunk) -> ChunkPlace:
    """Emit where a chunk of a tile is in a tensor or a matrix, which has all of it or nothing."""
    elements = expansion.elements
    conditions = [] if chunk.mine is None else [chunk.mine]
    found: dict[str, ir.Value] = {}
    for side, start, at in (("rows", place.row, chunk.row), ("columns", place.column, chunk.column)):
        position, extent = arith.addi(start, as_index(at)), place.extent(side)
        if side in place.guarded:
            condition = elements.within(position, extent)
            conditions.append(condition)
            position = arith.select(condition, position, elements.index(0))
        elements.counters.counter(position, extent)
        found[side] = position
    whole = functools.reduce(arith.andi, conditions) if conditions else None
    return ChunkPlace(found["rows"], found["columns"], whole)


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
    """Where a tile begins in a matrix."""

    matrix: StridedMatrix
    guarded: frozenset[str]
    batch: ir.Value
    row: ir.Value
    column: ir.Value

    @classmethod
    def of(cls, expansion: Expansion, op: CpAsyncOp | StGlobalVecOp) -> "MatrixPlace":
        """The place that a statement gives."""
        guarded = frozenset(side.value for side in op.guarded if isinstance(side, ir.StringAttr))
        return cls(StridedMatrix.of(op), guarded, *(expansion.values[each] for each in (op.batch, op.row, op.column)))

    def extent(self, side: str) -> Dim:
        """How many elements there are along a side."""
        return self.matrix.extent(side)

    def linear(self, expansion: Expansion, row: ir.Value, column: ir.Value) -> ir.Value:
        """Emit where the element of a row and a column is in the buffer."""
        elements = expansion.elements
        total = elements.extent(self.matrix.offset)
        for side, position in (("batches", self.batch), ("rows", row), ("columns", column)):
            runs = self.matrix.side(side)
            parts = elements.delinearized(position, [run.extent for run in runs]) if len(runs) > 1 else [position]
            for run, part in zip(runs, parts, strict=False):
                if run.stride != 0:
                    step = part if run.stride == 1 else arith.muli(part, elements.extent(run.stride))
                    total = arith.addi(total, step)
        return total


def word_if(condition: ir.Value | None, value: int) -> ir.Value:
    """Emit a number where a condition holds, else 0."""
    i32 = ir.IntegerType.get_signless(32)
    there = arith.constant(i32, value)
    return there if condition is None else arith.select(condition, there, arith.constant(i32, 0))


def stage_of(expansion: Expansion, value: ir.Value) -> Word:
    """The stage that a statement works on."""
    return Word.of(expansion.values[value])
