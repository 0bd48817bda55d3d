"""The analysis of a region candidate: dependences, axes, tails, and hints for barriers and banks.

In: blocks that may become one kernel, a tile, and what is known of their sizes. Out: an `Analysis`, plain data with
reasons. Specification 000 §1.6.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tinyc.analysis.poly.block import PolyBlock
from tinyc.analysis.poly.edge import PolyEdge, edges_of
from tinyc.analysis.poly.view import PolyView
from tinyc.analysis.poly_core.buffer import MinBuffer, min_buffer_for_edge
from tinyc.analysis.poly_core.dependences import InstanceDependence, dependences_of, parallel_axes
from tinyc.analysis.poly_core.hints import BankHint, BarrierHint, bank_hints, barrier_hints
from tinyc.analysis.poly_core.inlining import not_affine
from tinyc.analysis.poly_core.loops import common_loops
from tinyc.analysis.poly_core.partial_tiles import ShapeSet, Tail, tails_of
from tinyc.analysis.poly_core.tile import reduction_axes
from tinyc.target import SM80
from tinyc.target.target import Target
from tinyc.vocabulary.element_type import ElementType


@dataclass(frozen=True)
class Analysis:
    """The facts about a candidate; axes are names, by block.

    `parallel` are the axes whose instances depend on no other instance along them, `reduce` those over which instances
    of one element run, `loops` the axes that all blocks have in common, each a mapping from block to axis. `not_affine`
    has the accesses that stop being quasi-affine when element-wise blocks are composed away, with the reason: the
    candidate is closed where it is empty. `buffers` is the smallest memory for each pair of blocks.
    """

    dependences: tuple[InstanceDependence, ...]
    parallel: Mapping[str, tuple[str, ...]]
    reduce: Mapping[str, tuple[str, ...]]
    loops: tuple[Mapping[str, str], ...]
    not_affine: Mapping[str, str]
    tails: tuple[Tail, ...]
    buffers: Mapping[tuple[str, str], MinBuffer]
    barriers: tuple[BarrierHint, ...]
    banks: tuple[BankHint, ...]


def analyze(
    candidate: PolyView | Sequence[PolyBlock],
    tile: Mapping[str, int] | None = None,
    shapes: ShapeSet | None = None,
    target: Target = SM80,
    elements: Mapping[str, ElementType] | None = None,
) -> Analysis:
    """Analyse blocks in program order, or all those of a view.

    `tile` has sizes by the names of axes, in every block that has them; `elements` are the element types of tensors
    that no block makes, where they are not those of the view, for the hints on banks. Dependences on what is outside
    are left out.

    Raises:
        ValueError: a size is not a whole number from 1 to `MAX_SIZE`, no block has an axis of its name, or the blocks
            are not in program order.
    """
    blocks = tuple(candidate.blocks if isinstance(candidate, PolyView) else candidate)
    _require_order(blocks)
    _require_names(blocks, tile or {})
    edges = candidate.edges if isinstance(candidate, PolyView) else edges_of(blocks)
    names = {block.name: block.statement.axes for block in blocks}
    outside: Mapping[str, ElementType] = candidate.elements if isinstance(candidate, PolyView) else {}
    types = {**outside, **(elements or {}), **{block.name: block.element for block in blocks}}
    parallel = {block.name: parallel_axes(block, edges) for block in blocks}
    buffers = {
        (edge.source.name, edge.target.name): _buffer(edge, tile, target)
        for edge in edges
        if edge.of("true") and not edge.in_place
    }
    return Analysis(
        dependences=dependences_of(blocks, edges),
        parallel={name: tuple(names[name][k] for k in found) for name, found in parallel.items()},
        reduce={block.name: tuple(names[block.name][k] for k in sorted(reduction_axes(block))) for block in blocks},
        loops=tuple(
            {name: names[name][axis] for name, axis in loop.axes}
            for loop in common_loops(blocks, names)
            if all(axis in parallel[name] for name, axis in loop.axes)
        ),
        not_affine=not_affine(blocks),
        tails=tuple(tail for block in blocks for tail in tails_of(block, tile or {}, shapes or ShapeSet())),
        buffers=buffers,
        barriers=tuple(barrier_hints(blocks, buffers, target)),
        banks=tuple(hint for block in blocks for hint in bank_hints(block, tile or {}, types, target)),
    )


def _require_order(blocks: Sequence[PolyBlock]) -> None:
    later = {block.name for block in blocks}
    for block in blocks:
        later.discard(block.name)
        early = next((read.tensor for read in block.accesses if read.tensor in later), None)
        if early is not None:
            raise ValueError(f"'{block.name}' reads '{early}', which comes later; pass the blocks in program order")


def _require_names(blocks: Sequence[PolyBlock], tile: Mapping[str, int]) -> None:
    known = dict.fromkeys(name for block in blocks for name in block.statement.axes)
    for name in tile:
        if name not in known:
            raise ValueError(f"no block has an axis {name!r}; there are {', '.join(known) or 'none'}")


def _buffer(edge: PolyEdge, tile: Mapping[str, int] | None, target: Target) -> MinBuffer:
    """The buffer of an edge at the tile of its target; a size of an axis that the source sums is its step."""
    axes = edge.target.statement.axes
    own = None if tile is None else {name: size for name, size in tile.items() if name in axes}
    return min_buffer_for_edge(edge.source, edge.target, own, target)
