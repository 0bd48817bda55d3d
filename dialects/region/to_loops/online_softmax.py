"""The softmax of attention while keys come tile by tile, for a panel of queries: a few vectors, one query in each lane.

What a panel has of a tile of keys are scores first, and then weights in their place: exponentials below the greatest
score so far. With the maximum, the total is adjusted, and whatever else is summed up: by a factor for each query.
"""

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from tinyc.analysis.cpu_attention import CpuAttention
from tinyc.analysis.poly_core.fused_loops import Phase
from tinyc.codegen import scalars
from tinyc.codegen.elements import Elements, IndexValues, traced
from tinyc.dialects.region.to_loops.axis_values import index_at
from tinyc.dialects.region.to_loops.lanes import row_memory
from tinyc.dialects.region.to_loops.micro_kernel import MicroKernel
from tinyc.dialects.region.to_loops.turns import TileLines, count_from
from tinyc.dialects.tiny import ops as tiny
from tinyc.mlir import arith, ir, memref, vector
from tinyc.mlir.constants import number

#: What gives an element that is at hand, whatever its index.
_Held: TypeAlias = Callable[[IndexValues], ir.Value]
#: Keys whose scores are compared and summed up side by side: one does not wait for the one before.
_CHAINS = 4


@dataclass(frozen=True)
class KeyRange:
    """The keys that a panel sees of the tile from key `first` on: from place `low` in it below `high`."""

    first: ir.Value
    low: ir.Value
    high: ir.Value

    def count(self, elements: Elements) -> ir.Value:
        """How many there are."""
        return arith.maxsi(arith.subi(self.high, self.low), elements.index(0))


@dataclass(frozen=True)
class QueryTile:
    """The queries of a tile, `turn` being its place among those along each loop, in panels of so many."""

    elements: Elements
    attention: CpuAttention
    turn: IndexValues
    lines: TileLines
    panel: int

    def places(self, phase: Phase, query: ir.Value) -> dict[int, ir.Value]:
        """Where the loops are along the axes of a phase, at a query."""
        at = list(self.turn)
        for loop, place in zip(self.attention.queries.loops, self.lines.places(query), strict=True):
            at[loop] = place
        return dict(zip(phase.loops, at, strict=True))

    def of_score(self, query: ir.Value, key: ir.Value) -> IndexValues:
        """The index of a score, of which the maximum is taken."""
        return self._index(self.attention.softmax.greatest, self.attention.phases.greatest, query, key)

    def of_exponential(self, query: ir.Value, key: ir.Value) -> IndexValues:
        """The index of an exponential, of which the total is taken."""
        return self._index(self.attention.softmax.total, self.attention.phases.total, query, key)

    def of_weight(self, query: ir.Value, key: ir.Value) -> IndexValues:
        """The index of a weight, of the first element of a value."""
        return self._index(self.attention.weighted, self.attention.phases.weighted, query, key)

    def _index(self, op: tiny.ReduceOp, phase: Phase, query: ir.Value, key: ir.Value) -> IndexValues:
        """The index in what a phase reduces along the keys."""
        places = {**self.places(phase, query), phase.reduced[0]: key}
        return index_at(self.elements, op.operand, self.attention.kernel.dims, places)

    @property
    def last(self) -> ir.Value:
        """The last query."""
        return arith.subi(self.elements.extent(self.lines.count), self.elements.index(1))

    def count(self, panel: ir.Value) -> ir.Value | int:
        """How many queries a panel has."""
        return count_from(self.elements, panel, self.panel, self.lines.count)

    def panels(self) -> AbstractContextManager[ir.Value]:
        """Emit the loop over the first queries of the panels."""
        return self.elements.loop(0, self.lines.count, self.panel, below=self.attention.queries.most)


class OnlineSoftmax:
    """The code of the softmax of a tile of queries; `scores` is memory for those of a panel and a tile of keys."""

    def __init__(self, queries: QueryTile, micro: MicroKernel, scores: ir.Value) -> None:
        self.elements, self.queries, self.micro = queries.elements, queries, micro
        self.softmax = queries.attention.softmax
        self.scored: ir.Value = queries.attention.scored.output
        self.scores, self.register = scores, scalars.register_type(micro.element)
        self.greatest, self.totals = (
            row_memory(queries.attention.room_for_queries, self.register, name) for name in ("greatest", "totals")
        )
        self.factors = row_memory(queries.panel, self.register, "factors")

    @property
    def weighs_unseen_keys(self) -> bool:
        """Whether keys that are not seen have a part in the total: the exponential of a number."""
        return self.softmax.seen is not None and self.softmax.unseen > -math.inf

    def start(self, panel: ir.Value, hidden: ir.Value) -> None:
        """Emit maximum and total of nothing, or of the scores of `hidden` keys, which no query of the panel sees."""
        greatest, total = float(np.finfo(self.micro.element.dtype).min), number(0, self.register)
        first = number(greatest, self.register)  # not -∞: below that, exponentials of a tile of -∞ would be none
        if self.weighs_unseen_keys:
            is_any = arith.cmpi(arith.CmpIPredicate.sgt, hidden, self.elements.index(0))
            first = arith.select(is_any, number(self.softmax.unseen, self.register), first)
            total = arith.sitofp(self.register, arith.index_cast(ir.IntegerType.get_signless(64), hidden))
        for value, memory in ((first, self.greatest), (total, self.totals)):
            self._store([vector.broadcast(self.micro.vector_type, value)] * self.micro.vectors, memory, panel)

    def make_weights(self, panel: ir.Value, keys: KeyRange) -> None:
        """Emit weights in the place of scores, the maximum and the total with them, and the factors of what was."""
        elements, softmax, start = self.elements, self.softmax, self.elements.index(0)
        queries = self.queries
        scores = traced(softmax.greatest.operand).source  # below movements: it is what the exponentials read
        if scores != self.scored:
            self._map(panel, keys, queries.of_score, softmax.greatest.operand, {self.scored: self._held})
        old = self._load(self.greatest, panel)
        self._store(self._folded(keys, old, _larger), self.greatest, panel)
        self._store(old, self.factors, start)
        greatest = {softmax.greatest.output: self._greatest_of}
        with elements.loop(0, queries.panel) as lane:
            held = {scores: self._loaded(self.factors, lane)}
            held |= {value: load(panel, start, lane) for value, load in greatest.items()}
            query = arith.minsi(elements.moved(panel, lane), queries.last)
            with _holding(elements, held):
                factor = elements.at(softmax.exponential, queries.of_exponential(query, start))
            memref.store(factor, self.factors, [lane])
        self._map(panel, keys, queries.of_exponential, softmax.exponential, {scores: self._held, **greatest})
        zeros = [vector.broadcast(self.micro.vector_type, number(0, self.register))] * self.micro.vectors
        pairs = zip(self._load(self.totals, panel), self.factors_at(), strict=True)
        kept = [arith.mulf(total, factor) for total, factor in pairs]
        added = self._folded(keys, zeros, arith.addf)
        self._store([arith.addf(*each) for each in zip(kept, added, strict=True)], self.totals, panel)
        if self.weighs_unseen_keys:
            of_weight = {softmax.exponential: self._held, softmax.total.output: self._one}
            self._map(panel, keys, queries.of_weight, softmax.weights, of_weight)

    def factors_at(self) -> list[ir.Value]:
        """Emit the loads of the factors, in vectors."""
        return self._load(self.factors, self.elements.index(0))

    def totals_at(self, panel: ir.Value) -> list[ir.Value]:
        """Emit the loads of the totals of a panel, in vectors."""
        return self._load(self.totals, panel)

    def slot(self, key: ir.Value) -> ir.Value:
        """Where what a panel has of a key of the tile is."""
        return self.elements.counters.value(self.elements.counters.expression(key) * self.queries.panel)

    # --- one by one ---------------------------------------------------------------------------------------------------

    def _map(
        self,
        panel: ir.Value,
        keys: KeyRange,
        index: Callable[[ir.Value, ir.Value], IndexValues],
        value: ir.Value,
        held: Mapping[ir.Value, Callable[[ir.Value, ir.Value, ir.Value], _Held]],
    ) -> None:
        """Emit elements of `value`, at the `index` of a query and a key, in the place of those in the panel.

        `held` gives what is at hand for a panel, a key of the tile and a query of the panel.
        """
        elements = self.elements
        with (
            elements.loop(keys.low, keys.high, below=self.queries.attention.key_tile) as key,
            elements.loop(0, self.queries.count(panel), below=self.queries.panel) as lane,
        ):
            at = index(elements.moved(panel, lane), elements.moved(keys.first, key))
            with _holding(elements, {each: load(panel, key, lane) for each, load in held.items()}):
                memref.store(elements.at(value, at), self.scores, [elements.moved(self.slot(key), lane)])

    def _held(self, panel: ir.Value, key: ir.Value, lane: ir.Value) -> _Held:
        """What the panel has of a key."""
        return self._loaded(self.scores, self.elements.moved(self.slot(key), lane))

    def _greatest_of(self, panel: ir.Value, key: ir.Value, lane: ir.Value) -> _Held:
        """The greatest score of a query."""
        return self._loaded(self.greatest, self.elements.moved(panel, lane))

    def _one(self, panel: ir.Value, key: ir.Value, lane: ir.Value) -> _Held:
        """What a weight is divided by: the sums of values are divided by the total, at their end."""
        return lambda _: number(1, self.register)

    def _loaded(self, memory: ir.Value, place: ir.Value) -> _Held:
        return lambda _: memref.load(memory, [place])

    # --- in vectors ---------------------------------------------------------------------------------------------------

    def _folded(
        self, keys: KeyRange, start: Sequence[ir.Value], combine: Callable[[ir.Value, ir.Value], ir.Value]
    ) -> list[ir.Value]:
        """The vectors of a panel combined over keys, in several chains that begin with `start` each."""
        elements, size, count = self.elements, len(start), keys.count(self.elements)
        whole = arith.divui(count, elements.index(_CHAINS))

        def take_in(key: ir.Value, so_far: Sequence[ir.Value]) -> list[ir.Value]:
            return [combine(*each) for each in zip(so_far, self._load(self.scores, self.slot(key)), strict=True)]

        def step(index: IndexValues, chains: list[ir.Value]) -> list[ir.Value]:
            key = arith.addi(keys.low, arith.muli(index[0], elements.index(_CHAINS)))
            parts = [chains[at : at + size] for at in range(0, len(chains), size)]
            found = [take_in(elements.moved(key, at), part) for at, part in enumerate(parts)]
            return [each for part in found for each in part]

        chains = elements.carried((whole,), [*start] * _CHAINS, step)
        found = chains[:size]
        for at in range(size, len(chains), size):
            found = [combine(*each) for each in zip(found, chains[at : at + size], strict=True)]
        done = arith.addi(keys.low, arith.muli(whole, elements.index(_CHAINS)))

        def rest(index: IndexValues, so_far: list[ir.Value]) -> list[ir.Value]:
            return take_in(arith.addi(done, index[0]), so_far)

        left = arith.remui(count, elements.index(_CHAINS))
        return elements.carried((left,), found, rest)

    def _load(self, memory: ir.Value, first: ir.Value) -> list[ir.Value]:
        """Emit the loads of the vectors of a panel."""
        return self.micro.columns_at(self.elements, memory, first)

    def _store(self, values: Sequence[ir.Value], memory: ir.Value, first: ir.Value) -> None:
        """Emit the stores of the vectors of a panel."""
        for at, each in enumerate(values):
            vector.store(each, memory, [self.elements.moved(first, at * self.micro.lanes)])


@contextmanager
def _holding(elements: Elements, held: Mapping[ir.Value, _Held]) -> Generator[None]:
    """Take elements of values from where they are at hand, for a while."""
    before, elements.reduced = elements.reduced, {**elements.reduced, **held}
    yield
    elements.reduced = before


def _larger(one: ir.Value, other: ir.Value) -> ir.Value:
    """The larger of two numbers; of what is none, `one`: the total tells of it."""
    return arith.select(arith.cmpf(arith.CmpFPredicate.OGT, other, one), other, one)
