"""Affine closure: whether accesses stay quasi-affine, within the limits, when element-wise blocks are composed away.

A kernel that computes an element-wise block where it is read has its accesses at the reader's index; this is what that
index becomes. Specification 000 §1.6.
"""

from collections.abc import Mapping, Sequence

from tinyc.analysis.poly.block import PolyAccess, PolyBlock, excess
from tinyc.analysis.poly_core.inlining import INLINE, MAX_ACCESSES, read_through


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
            accesses += [read] if producer is None else [read_through(read, producer, each, shape) for each in inner]
        reason = next((why for each in accesses if (why := excess(each, shape))), None)
        if reason is None and len(accesses) > MAX_ACCESSES:
            reason = f"ExcessivePiecewise: '{block.name}' is over a limit: accesses {len(accesses)} of {MAX_ACCESSES}"
        if reason is not None:
            found[block.name], accesses = reason, list(block.accesses)
        if block.kind in INLINE:
            composed[block.name] = (block, tuple(dict.fromkeys(accesses)))
    return found
