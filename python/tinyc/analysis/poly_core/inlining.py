"""Inlining: element-wise blocks are computed where they are read, and what they read is then read from there.

An access through an inlined block is the composition of two access maps. A candidate is affinely *closed* where all
compositions stay quasi-affine and within the limits: `not_affine` says where they do not. Specification 000 §1.6.
"""

from collections.abc import Mapping, Sequence

from tinyc.analysis.movement import Guard
from tinyc.analysis.poly.block import PolyAccess, PolyBlock, access_excess
from tinyc.expr import axes
from tinyc.expr.axes import AxisExpr, Shape

#: The kinds of blocks whose elements each reader may compute for itself.
INLINE = ("ewise", "movement_affine")
#: Accesses that a block may come to have through such blocks.
MAX_ACCESSES = 64


def read_through(read: PolyAccess, block: PolyBlock, inner: PolyAccess, shape: Shape) -> PolyAccess:
    """`inner`, an access of `block`, at the element of it that `read` takes, over the axes of `shape`.

    The block has no reduce axes.
    """
    index: list[AxisExpr] = [axes.constant(0)] * len(block.statement.shape)
    for written, row in zip(block.write, read.index, strict=True):
        for position in axes.positions(written):
            index[position] = row
    rows = axes.compose(inner.index, index, shape)
    guards = (Guard(axes.substitute_axes(g.expression, index, shape), g.size, g.value) for g in inner.guards)
    return PolyAccess(inner.tensor, rows, (*read.guards, *guards), inner.producer)


def reads_through(block: PolyBlock) -> tuple[PolyAccess, ...] | None:
    """The accesses of a block, also through element-wise blocks; None for more than `MAX_ACCESSES` accesses."""
    found = dict.fromkeys(block.accesses)
    pending = list(found)
    while pending and len(found) <= MAX_ACCESSES:
        read = pending.pop()
        if read.producer is None or read.producer.kind not in INLINE:
            continue
        inner = (read_through(read, read.producer, each, block.statement.shape) for each in read.producer.accesses)
        new = [each for each in inner if each not in found]
        found |= dict.fromkeys(new)
        pending += new
    return tuple(found) if len(found) <= MAX_ACCESSES else None


def not_affine(blocks: Sequence[PolyBlock]) -> Mapping[str, str]:
    """Return, by block, why one of its composed accesses is too complicated; nothing for blocks without such an access.

    What such a block reads is not composed any further: its producer has to be kept.
    """
    composed: dict[str, tuple[PolyBlock, tuple[PolyAccess, ...]]] = {}
    found: dict[str, str] = {}
    for block in blocks:
        shape = block.statement.shape
        accesses: list[PolyAccess] = []
        for read in block.accesses:
            producer, inner = composed.get(read.tensor, (None, ()))
            accesses += [read] if producer is None else [read_through(read, producer, each, shape) for each in inner]
        reason = next((why for each in accesses if (why := access_excess(each, shape))), None)
        if reason is None and len(accesses) > MAX_ACCESSES:
            reason = f"ExcessivePiecewise: '{block.name}' is over a limit: accesses {len(accesses)} of {MAX_ACCESSES}"
        if reason is not None:
            found[block.name], accesses = reason, list(block.accesses)
        if block.kind in INLINE:
            composed[block.name] = (block, tuple(dict.fromkeys(accesses)))
    return found
