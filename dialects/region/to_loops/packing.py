"""Packing: what a micro-kernel reads of an operand, in the order in which it reads it.

A panel has the elements of some lines, rows or columns, of a product after the other: ``panel[product][line]``. Where
the neighbours in memory are along the lines, they are copied as they lie, all lines of a product before the next one.
Where they are along the products, a few of each line are computed first, in memory that the nearest cache holds, and go
through registers, which transpose them.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from tinyc.codegen.elements import Elements
from tinyc.dialects.region.to_loops.lanes import row_memory
from tinyc.dialects.region.to_loops.operands import RowPlaces
from tinyc.dialects.region.to_loops.turns import count_from
from tinyc.mlir import arith, ir, memref, vector

#: Products of a line that are computed before those of the next one.
_BLOCK = 64


@dataclass(frozen=True)
class PackedRun:
    """Products of each line, up to `end`, of which `element(line, product)` emits what is packed."""

    end: ir.Value | int
    element: Callable[[ir.Value, ir.Value], ir.Value]


@dataclass(frozen=True)
class Panels:
    """Panels of `lines` lines in `memory`, one after the other, packed through vectors of `lanes`.

    There are at `most` so many lines, and `each_line` opens the loops over all. A panel has room for `depth` products,
    `lanes` more than it ever has; `zero` fills up the last panel. `has_lines_inside` says whether the neighbours in
    memory are along the lines.
    """

    elements: Elements
    memory: ir.Value
    lines: int
    most: int
    lanes: int
    depth: int
    zero: ir.Value
    each_line: Callable[[], AbstractContextManager[ir.Value]]
    has_lines_inside: bool

    def slot(self, line: ir.Value, k: ir.Value) -> ir.Value:
        """Where product `k` of the panel that begins with `line` is."""
        counters = self.elements.counters
        return counters.value(counters.expression(line) * self.depth + counters.expression(k) * self.lines)

    def rows(self, line: ir.Value) -> RowPlaces:
        """Where the elements are that a product has of the panel that begins with `line`."""

        def places(k: ir.Value) -> tuple[ir.Value, list[ir.Value]]:
            first = self.slot(line, k)
            return self.memory, [self.elements.moved(first, near) for near in range(self.lines)]

        return places

    def pack(self, count: ir.Value | int, runs: Sequence[PackedRun], taps: int = 1) -> None:
        """Pack `count` lines, of each one run of products after the other.

        Where there is one run, it has a multiple of `taps`, of which each has its own code where lines are copied.
        """
        elements = self.elements
        if self.lines == 1:  # a panel is a line
            with elements.loop(0, count, below=self.most) as line:
                for start, run in _with_starts(runs):
                    with elements.loop(start, run.end, below=self.depth) as k:
                        memref.store(run.element(line, k), self.memory, [self.slot(line, k)])
            return
        if self.has_lines_inside:
            self._copy(count, runs, taps)
            return
        with elements.loop(0, count, self.lines, below=self.most) as panel:
            self._transpose(panel, count_from(elements, panel, self.lines, count), runs)

    def _copy(self, count: ir.Value | int, runs: Sequence[PackedRun], taps: int) -> None:
        elements = self.elements
        row = row_memory(-(-self.most // self.lines) * self.lines + self.lines + self.lanes, self.zero.type, "row")
        for start, run in _with_starts(runs):
            windows = run.end // taps if isinstance(run.end, int) else arith.divui(run.end, elements.index(taps))
            with elements.loop(start, windows, below=self.depth) as window:
                for tap in range(taps):
                    first = elements.counters.expression(window) * taps + tap
                    self._copy_product(row, count, elements.counters.value(first), run.element)

    def _copy_product(
        self, row: ir.Value, count: ir.Value | int, k: ir.Value, element: Callable[[ir.Value, ir.Value], ir.Value]
    ) -> None:
        """Compute what all lines have of a product in a row, and copy it to the panels."""
        elements, lanes = self.elements, self.lanes
        kind = ir.VectorType.get([lanes], self.zero.type)
        with self.each_line() as line:
            memref.store(element(line, k), row, [line])
        if not isinstance(count, int) or count % self.lines:
            whole = elements.counters.value(elements.counters.expression(elements.extent(count)) + self.lines)
            with elements.loop(count, whole) as line:
                memref.store(self.zero, row, [line])
        with elements.loop(0, count, self.lines, below=self.most) as panel:
            slot = self.slot(panel, k)
            for first in range(0, self.lines, lanes):  # the last vector may reach into the next product
                values = vector.load(kind, row, [elements.moved(panel, first)])
                vector.store(values, self.memory, [elements.moved(slot, first)])

    def _transpose(self, panel: ir.Value, lines: ir.Value | int, runs: Sequence[PackedRun]) -> None:
        elements, counters, pitch = self.elements, self.elements.counters, _BLOCK + self.lanes
        rows = row_memory(-(-self.lines // self.lanes) * self.lanes * pitch, self.zero.type, "lines")

        def place(line: ir.Value, k: ir.Value) -> list[ir.Value]:
            return [counters.value(counters.expression(line) * pitch + counters.expression(k))]

        *others, last = runs
        with elements.loop(0, last.end, _BLOCK, below=self.depth) as block:
            count = count_from(elements, block, _BLOCK, last.end)
            ends = [*(replace(run, end=self._end_in_block(block, run.end)) for run in others), replace(last, end=count)]
            with elements.loop(0, lines, below=self.lines) as line:
                for start, run in _with_starts(ends):
                    with elements.loop(start, run.end, below=_BLOCK) as k:
                        value = run.element(elements.moved(panel, line), elements.moved(block, k))
                        memref.store(value, rows, place(line, k))
            if lines != self.lines:
                with elements.loop(lines, self.lines) as line, elements.loop(0, count, below=_BLOCK) as k:
                    memref.store(self.zero, rows, place(line, k))
            with elements.loop(0, count, self.lanes, below=_BLOCK) as k:
                self._store(rows, pitch, k, self.slot(panel, elements.moved(block, k)))

    def _end_in_block(self, block: ir.Value, end: ir.Value | int) -> ir.Value:
        """Where a run of products ends in the block that begins with `block`, or at one of its ends."""
        elements = self.elements
        there = arith.maxsi(arith.subi(elements.extent(end), block), elements.index(0))
        return arith.minsi(there, elements.index(_BLOCK))

    def _store(self, rows: ir.Value, pitch: int, k: ir.Value, slot: ir.Value) -> None:
        """Store the elements of all lines for `lanes` products from `k` on.

        The last vector of a product may reach into the next one, which is stored after it.
        """
        elements, lanes = self.elements, self.lanes
        kind = ir.VectorType.get([lanes], self.zero.type)
        groups = range(0, self.lines, lanes)

        def loaded(first: int) -> Sequence[ir.Value]:
            places = [elements.moved(k, (first + line) * pitch) for line in range(lanes)]
            return transposed([vector.load(kind, rows, [place]) for place in places])

        def stored(first: int, at: int, values: ir.Value) -> None:
            vector.store(values, self.memory, [elements.moved(slot, at * self.lines + first)])

        if self.lines % lanes == 0:  # no vector reaches into the next product
            for first in groups:
                for at, each in enumerate(loaded(first)):
                    stored(first, at, each)
            return
        for at, vectors in enumerate(zip(*map(loaded, groups), strict=True)):
            for first, each in zip(groups, vectors, strict=True):
                stored(first, at, each)


def _with_starts(runs: Sequence[PackedRun]) -> Iterator[tuple[ir.Value | int, PackedRun]]:
    """Yield runs, each with where it begins: where the one before it ends."""
    return zip([0, *(run.end for run in runs[:-1])], runs, strict=True)


def transposed(rows: Sequence[ir.Value]) -> list[ir.Value]:
    """Emit the columns of a square of vectors: in each step pairs of rows exchange halves of ever larger blocks.

    Source: Eklundh, "A Fast Computer Method for Matrix Transposing".
    """
    lanes, found, block = len(rows), list(rows), 1
    while block < lanes:
        low = [lane if not lane & block else lanes + lane - block for lane in range(lanes)]
        high = [lane + block if not lane & block else lanes + lane for lane in range(lanes)]
        for row in (each for each in range(lanes) if not each & block):
            pair = found[row], found[row + block]
            found[row], found[row + block] = vector.shuffle(*pair, low), vector.shuffle(*pair, high)
        block *= 2
    return found
