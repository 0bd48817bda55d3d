"""Affine closure: whether accesses stay quasi-affine, within the limits, when element-wise blocks are composed away.

A kernel that computes an element-wise block where it is read has its accesses at the reader's index; this is what that
index becomes. Specification 000 §1.6.
"""

from collections.abc import Mapping, Sequence

from tinyc.analysis import axis as axes
from tinyc.analysis.axis import AxisExpr, Shape
from tinyc.analysis.movement import Guard
from tinyc.analysis.poly_block import PolyAccess, PolyBlock, excess

#: Accesses that a block may come to have.
_MAX_ACCESSES = 64


def not_affine(blocks: Sequence[PolyBlock]) -> Mapping[str, str]:
    """Return, by block, why one of its composed accesses is too complicated; nothing for blocks without such an access.

    What such a block reads is not composed any further: its producer has to be kept.
    """
    composed: dict[str, tuple[PolyBlock, tuple[PolyAccess, ...]]] = {}
    found: dict[str, str] = {}
    for block in blocks:
        shape, accesses = block.statement.shape, []
        for read in block.accesses:
            producer, inner = composed.get(read.tensor, (None, ()))
            accesses += [read] if producer is None else [_at(each, read, producer, shape) for each in inner]
        reason = next((why for each in accesses if (why := excess(each))), None)
        if reason is None and len(accesses) > _MAX_ACCESSES:
            reason = f"ExcessivePiecewise: {len(accesses)} accesses (limit {_MAX_ACCESSES})"
        if reason is not None:
            found[block.name], accesses = reason, list(block.accesses)
        if block.kind in ("ewise", "movement_affine"):
            composed[block.name] = (block, tuple(dict.fromkeys(accesses)))
    return found


def _at(inner: PolyAccess, read: PolyAccess, producer: PolyBlock, shape: Shape) -> PolyAccess:
    """Return an access of `producer`, which has no reduce axes, at the element that `read` takes of it."""
    index: list[AxisExpr] = [axes.constant(0)] * len(producer.statement.shape)
    for written, row in zip(producer.write, read.index, strict=True):
        for position in axes.positions(written):
            index[position] = row
    rows = axes.compose(inner.index, index, shape)
    guards = (Guard(axes.substitute(g.expression, index, shape), g.size, g.value) for g in inner.guards)
    return PolyAccess(inner.tensor, rows, (*read.guards, *guards))
