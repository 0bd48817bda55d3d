"""How a CPU computes attention: tiles of queries, each of which reads the keys tile by tile, whatever their number.

In: the fused loops of a kernel whose form is that of attention. Out: a `CpuAttention`. Of the scores there are those of
a few queries and a tile of keys; what a query has so far, a maximum, a total and a sum of values, is adjusted whenever
the maximum grows. Keys that a mask hides from all of a few queries are left out: they add nothing, even where 0 times
their values is no number. Source: Milakov and Gimelshein, Online normalizer calculation for softmax, 2018; Dao et al.,
FlashAttention, 2022.
"""

import functools
from dataclasses import dataclass

from tinyc.analysis.cpu_form import AttentionLoops
from tinyc.analysis.cpu_product import TRANSPOSED_LANES
from tinyc.analysis.kernel_loops import KernelLoops
from tinyc.analysis.patterns.seen_keys import KeyBound, key_bounds
from tinyc.analysis.patterns.softmax import SoftmaxProduct, softmax_product
from tinyc.analysis.poly_core.fused_loops import Phase
from tinyc.analysis.product_reads import ProductReads
from tinyc.analysis.tile_sides import TileSide, tile_side, tiled_loops
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import extents
from tinyc.expr.axes import Shape
from tinyc.expr.extents import Dim
from tinyc.mlir import ir
from tinyc.target import GENERIC_CPU
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType

#: The queries of a panel, at most: two vectors of most CPUs, or one of eight bytes a lane.
_WIDEST_PANEL = 2 * TRANSPOSED_LANES
#: Rows of a micro-kernel, at most: what fills up the last one.
_MOST_ROWS = 14


@dataclass(frozen=True)
class CpuAttention:
    """Attention in the `kernel`, by its `phases`: `scored` is the sum that makes a score, `softmax` what becomes of it.

    `queries` are the columns of tiles; their rows are keys first, `key_tile` at a time, and then the elements of a
    value. Of the loops over tiles the first `parallel` are in the parallel one.
    """

    kernel: KernelLoops
    phases: AttentionLoops
    scored: tiny.ReduceOp
    weighted: tiny.ReduceOp
    softmax: SoftmaxProduct
    queries: TileSide
    key_tile: int
    parallel: int

    @property
    def accumulator(self) -> ElementType:
        """The element type of scores and sums."""
        return self.phases.scores.block.element

    @property
    def keys(self) -> Dim:
        """How many keys there are."""
        (extent,) = self.phases.total.reduced_extents
        return extent

    @property
    def key_depth(self) -> int:
        """The elements of a query and of a key."""
        return _number(self.phases.scores.reduced_extents)

    @property
    def value_width(self) -> int:
        """The elements of a value."""
        return _number(self.phases.weighted.inner_extents)

    @property
    def query(self) -> ir.Value:
        """The operand of a score that is the queries."""
        terms = _terms(self.scored)
        return terms.rhs if self.phases.has_keys_left else terms.lhs

    @property
    def key(self) -> ir.Value:
        """The operand of a score that is the keys."""
        terms = _terms(self.scored)
        return terms.lhs if self.phases.has_keys_left else terms.rhs

    def query_axes(self, phase: Phase) -> tuple[int, ...]:
        """The axes of a phase along the queries."""
        return tuple(phase.loops[place] for place in self.queries.loops)

    @functools.cached_property
    def reads_keys_in_place(self) -> bool:
        """Whether keys are not packed: the elements of each are beside each other in memory as sums take them."""
        phase = self.phases.scores
        return self._reads(phase).is_one_row(self.key, phase.reduced, self.key_depth)

    @functools.cached_property
    def has_keys_inside(self) -> bool:
        """Whether keys are packed element by element, and not each by itself."""
        phase = self.phases.scores
        return self._reads(phase).are_along(phase.inner, self.query_axes(phase))

    @functools.cached_property
    def has_values_inside(self) -> bool:
        """Whether values are packed key by key, as they are beside each other in memory."""
        phase = self.phases.weighted
        return self._reads(phase).are_along(phase.inner, self.query_axes(phase))

    def _reads(self, phase: Phase) -> ProductReads:
        return ProductReads(self.kernel, phase, TRANSPOSED_LANES)

    @functools.cached_property
    def bounds(self) -> tuple[KeyBound, ...]:
        """What bounds the keys that a query sees, where that is known, and queries are in the order of their places.

        It is not where scores are computed further behind the mask, or a tile has queries of several loops.
        """
        seen, phase = self.softmax.seen, self.phases.greatest
        if seen is None or len(self.queries.loops) != 1:
            return ()
        (key,), (query,) = phase.reduced, self.query_axes(phase)
        row, along = (self._dimension(self.softmax.greatest.operand, axis) for axis in (query, key))
        return () if row is None or along is None else key_bounds(seen, row, along)

    def _dimension(self, value: ir.Value, axis: int) -> int | None:
        """The dimension of a value that is an axis; None where it is a part of one."""
        first = 0
        for number, parts in enumerate(self.kernel.dims(value)):
            if first == axis:
                return number if len(parts) == 1 else None
            first += len(parts)
        return None

    @property
    def room_for_products(self) -> int:
        """The products of a query with a key that a panel has room for, with what fills up its last transposition."""
        return _whole(self.key_depth, TRANSPOSED_LANES) + TRANSPOSED_LANES

    @property
    def room_for_keys(self) -> int:
        """The same of keys whose values are summed up."""
        return _whole(self.key_tile, TRANSPOSED_LANES) + TRANSPOSED_LANES

    @property
    def room_for_values(self) -> int:
        """The elements of a sum of values, with what fills up its last micro-kernel or transposition."""
        return _whole(self.value_width, TRANSPOSED_LANES) + TRANSPOSED_LANES

    @property
    def room_for_queries(self) -> int:
        """The queries of a tile, with what fills up the last panel."""
        return _whole(self.queries.most, _WIDEST_PANEL) + _WIDEST_PANEL

    @property
    def workspaces(self) -> tuple[TensorType, ...]:
        """Memory that a launch has to itself."""
        return tuple(TensorType(self.accumulator, (size,)) for size in self.workspace_sizes)

    @property
    def workspace_sizes(self) -> tuple[int, ...]:
        """The elements of each: queries, values, scores and sums; and keys, where they are packed."""
        sizes = [
            self.room_for_queries * self.room_for_products,
            (self.room_for_values + _MOST_ROWS) * self.room_for_keys,
            (self.key_tile + _MOST_ROWS) * _WIDEST_PANEL,
            self.room_for_queries * self.room_for_values,
        ]
        if not self.reads_keys_in_place:
            sizes.append((self.key_tile + _MOST_ROWS) * self.room_for_products)
        return tuple(sizes)

    @property
    def tiles(self) -> Shape:
        """The tiles along each loop, of one element along those that are not of queries."""
        return tiled_loops(self.kernel, (self.queries,))

    @property
    def turns(self) -> Dim:
        """The trip count of the parallel outer loop."""
        return extents.product(self.tiles[: self.parallel])


def cpu_attention(kernel: KernelLoops, found: AttentionLoops) -> CpuAttention:
    """The attention that a kernel is, in tiles along the loops that `cpu_form` found."""
    scored, weighted = (kernel.value(phase).owner for phase in (found.scores, found.weighted))
    assert isinstance(scored, tiny.ReduceOp)  # what makes a score
    assert isinstance(weighted, tiny.ReduceOp)  # what sums values up
    softmax = softmax_product(weighted)
    assert softmax is not None  # so its block says
    queries = tile_side(kernel.loops.extents, found.queries, GENERIC_CPU.tile_queries, _WIDEST_PANEL)
    loops = len(kernel.loops.extents)
    return CpuAttention(kernel, found, scored, weighted, softmax, queries, GENERIC_CPU.tile_keys, loops)


def _terms(op: tiny.ReduceOp) -> tiny.MulOp:
    terms = op.operand.owner
    assert isinstance(terms, tiny.MulOp)  # what is summed
    return terms


def _number(extent: Shape) -> int:
    (only,) = extent
    assert isinstance(only, int)  # heads are of known size
    return only


def _whole(count: int, of: int) -> int:
    return -(-count // of) * of
