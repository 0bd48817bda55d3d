"""What the steps of a group compute, by enumeration: for each step, instances one by one, from the last block back."""

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from tinyc.analysis.poly.block import PolyAccess, PolyBlock
from tinyc.analysis.poly_core.inlining import INLINE
from tinyc.analysis.poly_core.loops import Loop, common_loops
from tinyc.expr import extents
from tinyc.expr.axes.evaluation import evaluate_on_grid


def loops_of(blocks: Sequence[PolyBlock], results: Collection[str]) -> tuple[Loop, ...]:
    """Return the loops that a kernel of these blocks has."""
    anchors = {block.name for block in blocks if block.kind not in INLINE or block.name in results}
    return common_loops(blocks, anchors.union(last(blocks)))


def last(blocks: Sequence[PolyBlock]) -> set[str]:
    """Return the names of the blocks that no other reads."""
    return {b.name for b in blocks} - {read.tensor for b in blocks for read in b.accesses}


def computed_by_step(blocks: Sequence[PolyBlock], loops: Sequence[Loop]) -> Iterator[Mapping[str, np.ndarray]]:
    """Yield for each step which elements of each block's tensor are computed: what is read, and the last blocks' own.

    The sizes of the blocks, which are in program order, are numbers.
    """
    ends = last(blocks)
    counts = []
    for loop in loops:
        sizes = {_shape(block)[place] for block in blocks for name, place in loop.axes if name == block.name in ends}
        (count,) = sizes  # the same number of steps for all
        counts.append(count)
    for step in itertools.product(*map(range, counts)):
        computed = {block.name: np.zeros(block.written_shape, bool) for block in blocks}
        for block in reversed(blocks):
            written = evaluate_on_grid(block.write, _shape(block), {})
            if block.name in ends:
                instances = np.ones(_shape(block), bool)
                for loop, at in zip(loops, step, strict=True):
                    instances &= np.indices(_shape(block))[dict(loop.axes)[block.name]] == at
                computed[block.name][tuple(row[instances] for row in written)] = True
            instances = computed[block.name][tuple(written)] & np.ones(_shape(block), bool)
            for read in block.accesses:
                if read.tensor in computed:
                    _mark(computed[read.tensor], read, instances)
        yield computed


def _shape(block: PolyBlock) -> tuple[int, ...]:
    return tuple(extents.evaluate(size, {}) for size in block.statement.shape)


def _mark(elements: np.ndarray, read: PolyAccess, instances: np.ndarray) -> None:
    """Set the elements that instances read."""
    passed = instances.copy()
    for guard in read.guards:
        (value,) = evaluate_on_grid((guard.expression,), instances.shape, {})
        passed &= (value >= 0) & (value < extents.evaluate(guard.size, {}))
    elements[tuple(row[passed] for row in evaluate_on_grid(read.index, instances.shape, {}))] = True


def is_box(elements: np.ndarray) -> bool:
    """Say whether the elements that are set fill the range from the first to the last along each axis."""
    places = np.nonzero(np.atleast_1d(elements))
    return elements.sum() == np.prod([found.max() - found.min() + 1 if found.size else 0 for found in places])
