"""`tgpu.load_fragment`, `tgpu.wgmma_fragment` for one thread of a warpgroup: its words of A, and their products.

An element of A is made of the one that the tile has for it, in the register that it is loaded to. Elements of factors'
size come by ldmatrix, which has a word's elements beside each other; others by an access for each word, or, where they
are not neighbours along k, for each element.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from tinyc.codegen import scalars
from tinyc.codegen.words import AnyWord, Word, as_i32, as_index
from tinyc.dialects.gpu.dialect import GpuTile, InFlightType, accumulator_layout, fragment_tile
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.in_turn import loaded_in_turn
from tinyc.dialects.gpu.expand.mma_sync import instruction_name, load_matrices
from tinyc.dialects.gpu.expand.packing import packed_words, unpacked
from tinyc.dialects.gpu.expand.place import TilePlace
from tinyc.dialects.gpu.expand.swizzled_buffer import SwizzledBuffer
from tinyc.dialects.gpu.expand.wgmma import descriptor
from tinyc.dialects.gpu.fragment_layout import FACTOR_WORDS, PIECE_ROWS, WARPGROUP_WARPS, WGMMA_ROWS, FactorLayout
from tinyc.dialects.gpu.statements import LoadFragmentOp, WgmmaFragmentOp
from tinyc.dialects.gpu.statements.instruction import emit_ptx
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.mlir import arith, ir
from tinyc.vocabulary.attributes import tensor_type
from tinyc.vocabulary.element_type import ElementType

_WORD_BYTES = 4
#: Of factors of a word that lie in lines of their own, as wide as they are: how far apart two words are that some lanes
#: exchange, and how many lanes beside each other do alike.
_EXCHANGED = {1: (2, 1), 4: (1, 2)}


def expand_load_fragment(expansion: Expansion, op: LoadFragmentOp) -> None:
    """Emit the loads of what a word's elements are made of, what the body makes of them, and the words."""
    fragment = _Fragment.of(expansion, op)
    words: list[ir.Value] = []
    for block in range(0, fragment.layout.words, FACTOR_WORDS):
        for place, elements in enumerate(fragment.loaded(block)):
            words += fragment.word(block + place, elements)
    expansion.accumulators[op.fragment] = words


@dataclass(frozen=True)
class _Fragment:
    """A thread's words of a fragment; `first` is the row of the tile at which its warpgroup's part begins."""

    expansion: Expansion
    op: LoadFragmentOp
    factors: GpuTile
    layout: FactorLayout
    first: AnyWord
    quarter: AnyWord

    @classmethod
    def of(cls, expansion: Expansion, op: LoadFragmentOp) -> "_Fragment":
        """Those of a statement."""
        factors = fragment_tile(op.fragment.type, "a")
        below, beside = op.units
        unit, quarter = divmod(expansion.workers.warp, WARPGROUP_WARPS)
        first = Word.of(expansion.values[op.first])
        layout = FactorLayout(factors.rows, _WORD_BYTES // factors.element.size_bytes)
        return cls(expansion, op, factors, layout, first + (unit // beside * factors.rows if below > 1 else 0), quarter)

    # --- what the tile has --------------------------------------------------------------------------------------------

    @property
    def _buffer(self) -> SwizzledBuffer:
        return self.expansion.swizzled[self.op.tiles]

    @functools.cached_property
    def _start(self) -> Word:
        return self.expansion.tile_start(self.op.tiles, self.op.stage)

    def loaded(self, block: int) -> list[list[ir.Value]]:
        """Emit the loads for the words of 64 rows; return the elements for each word, in register types."""
        held, count = self._buffer.staged, self.layout.word_elements
        element = held.tile.element
        if element.size_bytes == self.factors.element.size_bytes and (held.order == "row" or element.size_bytes == 2):
            rows = self.first + block // FACTOR_WORDS * WGMMA_ROWS + self.quarter * PIECE_ROWS
            lane, k = self.expansion.workers.lane, self.op.k.value
            words = load_matrices(self._buffer, "a", self._start, rows, k, lane, FACTOR_WORDS)
            return [unpacked(element, [each], count) for each in words]
        if held.order == "col":
            return self._across_k(block)
        places = [self._in_tile(word) for word in range(block, block + FACTOR_WORDS)]
        if count * element.size_bytes == 2 * _WORD_BYTES == count * _WORD_BYTES:
            return [self._pair(*place) for place in places]
        return [self._neighbours(row, column, count) for row, column in places]

    def _across_k(self, block: int) -> list[list[ir.Value]]:
        """Emit a load for each element of the words of 64 rows, whose neighbours in the tile are those of a column.

        Elements of lanes whose words are beside each other are in lines that many elements of a word apart. Where the
        swizzle has two of these lines in the same banks, every other lane loads another word in the place of its own.
        """
        count, words = self.layout.word_elements, range(block, block + FACTOR_WORDS)
        if count not in _EXCHANGED or self._buffer.staged.tile.element.size_bytes != self.factors.element.size_bytes:
            return [self._apart(*self._in_tile(word), count) for word in words]
        apart, lanes = _EXCHANGED[count]
        swaps, found = self.expansion.workers.lane % 4 // lanes % 2, dict[int, list[ir.Value]]()
        for word in (word for word in words if not word & apart):
            found[word], found[word | apart] = loaded_in_turn(
                swaps, lambda is_second, word=word: self._apart(*self._between(word, word | apart, is_second), count)
            )
        return [found[word] for word in words]

    def _apart(self, row: AnyWord, column: AnyWord, count: int) -> list[ir.Value]:
        """Emit a load for each of so many elements beside each other in a row."""
        return [self._neighbours(row, column + at, 1)[0] for at in range(count)]

    def _between(self, first: int, second: int, is_second: AnyWord) -> tuple[AnyWord, AnyWord]:
        """The place in the tile of one of two words of a lane: of the second one where a word is 1, not 0."""
        starts, ends = self.layout.word(first, 0, 0), self.layout.word(second, 0, 0)
        below, beside = (end - start for start, end in zip(starts, ends, strict=True))
        row, column = self._in_tile(first)
        return row + is_second * below, column + is_second * beside

    def _neighbours(self, row: AnyWord, column: AnyWord, count: int) -> list[ir.Value]:
        """Emit one load of elements that are neighbours in the tile."""
        element = self._buffer.staged.tile.element
        address = as_i32(self._buffer.address(self._start, row, column))
        return unpacked(element, emit_ptx(f"ld.shared.{8 * count * element.size_bytes}", address), count)

    def _pair(self, row: AnyWord, column: AnyWord) -> list[ir.Value]:
        """Emit the loads of two neighbours of 32 bits: in every other row the second one first.

        The chunks of two rows after each other are exchanged by the swizzle alone, and are in the same banks; so their
        lanes read different words of them.
        """
        is_odd = self.expansion.workers.lane // 4 % 2
        (first,), (second,) = loaded_in_turn(is_odd, lambda is_second: self._neighbours(row, column + is_second, 1))
        return [first, second]

    def _in_tile(self, word: int) -> tuple[AnyWord, AnyWord]:
        """The row and the first column of a word in the tile."""
        row, column = self.layout.word(word, self.quarter, self.expansion.workers.lane)
        return self.first + row, column + self.op.k.value

    # --- what becomes of it -------------------------------------------------------------------------------------------

    def word(self, word: int, elements: Sequence[ir.Value]) -> list[ir.Value]:
        """Emit a word of factors, as the body makes them of elements of the tile."""
        (row, column), emitter = self._in_tile(word), self.expansion.elements
        at_row, run = self._row(row), _Run.of(self, column, len(elements))
        values: list[ir.Value] = []
        with emitter.run(run.counter, run.width):  # other operands are read by accesses for the word as a whole
            for lane in emitter.lanes():
                values.append(self._computed((at_row, run.position(lane)), column + lane, elements[lane]))
        words = packed_words(self.factors.element, values)
        if self.factors.element is ElementType.F32:  # tensor cores multiply it as tf32, and drop the bits it lacks
            words = [emit_ptx("cvt.tf32", each)[0] for each in words]
        return words

    def _computed(self, at: tuple[ir.Value, ir.Value], column: AnyWord, given: ir.Value) -> ir.Value:
        """Emit an element of A at a place, of a column of the tile; 0 where that is beyond A along k."""
        elements, op = self.expansion.elements, self.op
        elements.reduced[op.source] = lambda _: given
        value = elements.at(op.loaded, self.place.index(elements, *at))
        if "columns" not in self.place.guarded:
            return value
        position = arith.addi(self.place.column, as_index(column))
        is_inside = elements.within(position, self.place.extent("columns"))
        return arith.select(is_inside, value, scalars.number(0, value.type))

    @functools.cached_property
    def place(self) -> TilePlace:
        values, op = self.expansion.values, self.op
        start = [values[each] for each in (op.batch, op.row, op.column)]
        return TilePlace.of(op, tensor_type(op.loaded.type), start)

    def _row(self, row: AnyWord) -> ir.Value:
        """Emit the row of A that a row of the tile is."""
        return self.kept(arith.addi(self.place.row, as_index(row)), "rows", self.place.extent("rows"))

    def kept(self, position: ir.Value, side: str, extent: Dim) -> ir.Value:
        """Emit one of so many positions along a side of A: the last one where it is beyond."""
        elements = self.expansion.elements
        if side in self.place.guarded:
            position = arith.minui(position, elements.extent(extent - 1))
        elements.counters.counter(position, extent)
        return position


@dataclass(frozen=True)
class _Run:
    """The columns of A that a word has from `first` on: run number `counter` of so many, where A is whole ones."""

    fragment: _Fragment
    first: ir.Value
    width: int
    counter: ir.Value
    is_whole: bool

    @classmethod
    def of(cls, fragment: _Fragment, column: AnyWord, width: int) -> "_Run":
        """That from a column of the tile on."""
        elements, extent = fragment.expansion.elements, fragment.place.extent("columns")
        first = arith.addi(fragment.place.column, as_index(column))
        counter = arith.divui(first, elements.index(width)) if width > 1 else first
        is_whole = fragment.expansion.kernel.is_multiple(extent, width)
        if is_whole:
            counter = fragment.kept(counter, "columns", extents.floordiv(extent, width))
        else:
            elements.counters.counter(counter)
        return cls(fragment, first, width, counter, is_whole)

    def position(self, lane: int) -> ir.Value:
        """Emit one of the columns, or the last one that A has where it is beyond."""
        elements = self.fragment.expansion.elements
        if self.is_whole:
            return elements.counters.value(elements.counters.expression(self.counter) * self.width + lane)
        position = arith.addi(self.first, elements.index(lane))
        return self.fragment.kept(position, "columns", self.fragment.place.extent("columns"))


def expand_wgmma_fragment(expansion: Expansion, op: WgmmaFragmentOp) -> None:
    """Emit the products of the warpgroup's rows, 64 at a time, behind a fence of the registers that they read."""
    layout = accumulator_layout(op.accumulator.type)
    assert layout is not None  # the statement's rule
    rhs, words, sums = (
        expansion.swizzled[op.rhs],
        expansion.accumulators[op.lhs],
        expansion.accumulators[op.accumulator],
    )
    if isinstance(op.accumulator.type, InFlightType):  # from one product to the next accumulators need none
        emit_ptx(f"wgmma.fence.ra.{len(words)}", *words)
    else:
        sums = emit_ptx(f"wgmma.fence.{len(sums)}x{sums[0].type}.ra.{len(words)}", *sums, *words)
    column = Word.of(expansion.values[op.column])
    beside = layout.columns // layout.unit_columns
    if beside > 1:
        column = column + expansion.workers.warp // WARPGROUP_WARPS % beside * layout.unit_columns
    stage, k = Word.of(expansion.values[op.stage]), op.k.value
    factors = fragment_tile(op.lhs.type, "a")
    flag = ".tb" if rhs.staged.order == "row" else ""
    name = f"wgmma.m64n{layout.unit_columns}{instruction_name(factors, factors.columns)}.ra{flag}"
    b = descriptor(rhs, stage, (k, column), "b")
    scale = arith.extui(ir.IntegerType.get_signless(32), expansion.values[op.accumulate])
    blocks = layout.unit_rows // WGMMA_ROWS
    each = len(sums) // blocks
    output: list[ir.Value] = []
    for block in range(blocks):
        own = words[block * FACTOR_WORDS : (block + 1) * FACTOR_WORDS]
        output += emit_ptx(name, *sums[block * each : (block + 1) * each], *own, b, scale)
    expansion.accumulators[op.output] = output
    read = expansion.in_flight_words.get(op.accumulator, [])
    expansion.in_flight_words[op.output] = [*read, *_carried_words(expansion, op)]


def _carried_words(expansion: Expansion, op: WgmmaFragmentOp) -> list[ir.Value]:
    """The words of a fragment that a loop carries: as soon as they are not used any more it puts others there."""
    return expansion.accumulators[op.lhs] if isinstance(op.lhs.owner, ir.Block) else []
