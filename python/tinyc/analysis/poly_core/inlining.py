"""Inlining: element-wise blocks are computed where they are read, and what they read is then read from there.

Specification 000 §1.6.
"""

from tinyc.analysis import axes
from tinyc.analysis.axes import AxisExpr, Shape
from tinyc.analysis.movement import Guard
from tinyc.analysis.poly.block import PolyAccess, PolyBlock

#: The kinds of blocks whose elements each reader may compute for itself.
INLINE = ("ewise", "movement_affine")
#: Accesses that a block may come to have through such blocks.
MAX_ACCESSES = 64


def read_through(read: PolyAccess, block: PolyBlock, inner: PolyAccess, shape: Shape) -> PolyAccess:
    """Return `inner`, an access of `block`, at the element of it that `read` takes, over the axes of `shape`.

    The block has no reduce axes.
    """
    index: list[AxisExpr] = [axes.constant(0)] * len(block.statement.shape)
    for written, row in zip(block.write, read.index, strict=True):
        for position in axes.positions(written):
            index[position] = row
    rows = axes.compose(inner.index, index, shape)
    guards = (Guard(axes.substitute(g.expression, index, shape), g.size, g.value) for g in inner.guards)
    return PolyAccess(inner.tensor, rows, (*read.guards, *guards), inner.producer)


def reads_through(block: PolyBlock) -> tuple[PolyAccess, ...] | None:
    """Return what a block reads, also through element-wise blocks; None for more than `MAX_ACCESSES` accesses."""
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
