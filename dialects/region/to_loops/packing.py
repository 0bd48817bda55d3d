"""Packing: what a micro-kernel reads of an operand, in the order in which it reads it.

A panel has the elements of some lines, rows or columns, of a product after the other: ``panel[product][line]``. Where
the neighbours in memory are along the lines, they are copied as they lie; where they are along the products, they go
through registers, which transpose them. What memory has as it is packed comes from there in vectors. All else is
computed first, in memory that the nearest cache holds: all lines of a product, or a few products of each line.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TypeAlias

from tinyc.codegen.elements import Elements
from tinyc.dialects.region.to_loops.lanes import row_memory
from tinyc.dialects.region.to_loops.operands import RowPlaces
from tinyc.dialects.region.to_loops.turns import count_from
from tinyc.mlir import arith, ir, memref, vector

#: Which memory has the element of a line and a product, and where.
Place: TypeAlias = Callable[[ir.Value, ir.Value], tuple[ir.Value, ir.Value]]

#: Products of a line that are computed before those of the next one.
_BLOCK = 64
#: Products that are copied from memory before those of the next panel: a line of a cache is written at once, and lines
#: at a distance of a power of two, which share a set of a cache, have room in it.
_COPIED = 4


@dataclass(frozen=True)
class PackedRun:
    """Products of each line, up to `end`, of which `element(line, product)` emits what is packed.

    Where memory has all of that, and neighbours beside each other, `place(line, product)` emits which one, and where.
    """

    end: ir.Value | int
    element: Callable[[ir.Value, ir.Value], ir.Value]
    place: Place | None = None


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

    @property
    def _vector_type(self) -> ir.Type:
        return ir.VectorType.get([self.lanes], self.zero.type)

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
        place = runs[0].place
        if self.has_lines_inside:
            if place is None:
                self._copy(count, runs, taps)
            else:
                self._copy_from(place, count, runs[0].end)
            return
        with elements.loop(0, count, self.lines, below=self.most) as panel:
            lines = count_from(elements, panel, self.lines, count)
            if place is None:
                self._transpose(panel, lines, runs)
            else:
                self._transpose_from(place, panel, lines, runs[0].end)

    # --- what is in memory as it is packed ----------------------------------------------------------------------------

    def _copy_from(self, place: Place, count: ir.Value | int, end: ir.Value | int) -> None:
        """Copy neighbours, of each panel a few products; behind the last line are zeros."""
        elements = self.elements
        groups = range(0, self.lines, self.lanes)  # the last vector may reach into the next product
        whole = self._whole(count, self.lines, groups[-1] + self.lanes)
        with elements.loop(0, end, _COPIED, below=self.depth) as block:
            products = count_from(elements, block, _COPIED, end)
            for start, stop, is_whole in _parts(whole, count):
                with (
                    elements.loop(start, stop, self.lines, below=self.most) as panel,
                    elements.loop(0, products, below=_COPIED) as near,
                ):
                    k = elements.moved(block, near)
                    for first in groups:
                        line = elements.moved(panel, first)
                        left = None if is_whole else arith.subi(elements.extent(count), line)
                        slot = elements.moved(self.slot(panel, k), first)
                        vector.store(self._loaded(*place(line, k), left), self.memory, [slot])

    def _transpose_from(self, place: Place, panel: ir.Value, lines: ir.Value | int, end: ir.Value | int) -> None:
        """Transpose neighbours of the lines of a panel; those behind the last of `lines` are that one."""
        elements, near = self.elements, [self.elements.index(each) for each in range(self.lines)]
        if lines != self.lines:
            last = arith.subi(elements.extent(lines), elements.index(1))
            near = [arith.minsi(each, last) for each in near]
        rows = [elements.moved(panel, each) for each in near]
        whole = self._whole(end, self.lanes, self.lanes)
        for start, stop, is_whole in _parts(whole, end):
            with elements.loop(start, stop, self.lanes, below=self.depth) as k:
                left = None if is_whole else arith.subi(elements.extent(end), k)

                def loaded(line: int, k: ir.Value = k, left: ir.Value | None = left) -> ir.Value:
                    return self._loaded(*place(rows[min(line, self.lines - 1)], k), left)

                self._store(loaded, self.slot(panel, k))

    def _whole(self, count: ir.Value | int, unit: int, reach: int) -> ir.Value | int:
        """How many of `count` are in units of which `reach`, from the first of each on, are there."""
        if isinstance(count, int):
            return max(0, count - reach + unit) // unit * unit
        elements = self.elements
        fitting = arith.maxsi(arith.subi(count, elements.index(reach - unit)), elements.index(0))
        return arith.muli(arith.divui(fitting, elements.index(unit)), elements.index(unit))

    def _loaded(self, memory: ir.Value, place: ir.Value, left: ir.Value | None = None) -> ir.Value:
        """Load a vector, or of one that reaches behind the last element those that are `left`, and zeros."""
        elements, kind = self.elements, self._vector_type
        if left is None:
            return vector.load(kind, memory, [place])
        lanes = ir.VectorType.get([self.lanes], ir.IntegerType.get_signless(1))
        mask = vector.create_mask(lanes, [arith.maxsi(left, elements.index(0))])
        return vector.maskedload(kind, memory, [place], mask, vector.broadcast(kind, self.zero))

    # --- what is computed ---------------------------------------------------------------------------------------------

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
        elements = self.elements
        with self.each_line() as line:
            memref.store(element(line, k), row, [line])
        if not isinstance(count, int) or count % self.lines:
            whole = elements.counters.value(elements.counters.expression(elements.extent(count)) + self.lines)
            with elements.loop(count, whole) as line:
                memref.store(self.zero, row, [line])
        with elements.loop(0, count, self.lines, below=self.most) as panel:
            slot = self.slot(panel, k)
            for first in range(0, self.lines, self.lanes):  # the last vector may reach into the next product
                values = self._loaded(row, elements.moved(panel, first))
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

                def loaded(line: int) -> ir.Value:
                    return self._loaded(rows, elements.moved(k, line * pitch))

                self._store(loaded, self.slot(panel, elements.moved(block, k)))

    def _end_in_block(self, block: ir.Value, end: ir.Value | int) -> ir.Value:
        """Where a run of products ends in the block that begins with `block`, or at one of its ends."""
        elements = self.elements
        there = arith.maxsi(arith.subi(elements.extent(end), block), elements.index(0))
        return arith.minsi(there, elements.index(_BLOCK))

    def _store(self, loaded: Callable[[int], ir.Value], slot: ir.Value) -> None:
        """Store the elements of all lines for `lanes` products, of each line a vector that is `loaded`.

        The last vector of a product may reach into the next one, which is stored after it.
        """
        elements, lanes = self.elements, self.lanes
        groups = range(0, self.lines, lanes)

        def columns(first: int) -> Sequence[ir.Value]:
            return transposed([loaded(first + line) for line in range(lanes)])

        def stored(first: int, at: int, values: ir.Value) -> None:
            vector.store(values, self.memory, [elements.moved(slot, at * self.lines + first)])

        if self.lines % lanes == 0:  # no vector reaches into the next product
            for first in groups:
                for at, each in enumerate(columns(first)):
                    stored(first, at, each)
            return
        for at, vectors in enumerate(zip(*map(columns, groups), strict=True)):
            for first, each in zip(groups, vectors, strict=True):
                stored(first, at, each)


def _parts(whole: ir.Value | int, end: ir.Value | int) -> Iterator[tuple[ir.Value | int, ir.Value | int, bool]]:
    """Yield the parts of a range, as far as there are, where each begins and ends: the whole one, and the rest."""
    if whole != 0:
        yield 0, whole, True
    if whole != end:
        yield whole, end, False


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
