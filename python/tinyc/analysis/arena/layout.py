"""The layout of an arena, whatever the sizes are: packed where they are numbers, stacked where they are not."""

from collections.abc import Sequence
from dataclasses import dataclass

from tinyc.analysis.arena.lifetimes import Request
from tinyc.analysis.arena.packing import packed
from tinyc.analysis.arena.stacking import stacked
from tinyc.expr.extents import Dim
from tinyc.expr.maximum import MaximumDim


@dataclass(frozen=True)
class ArenaLayout:
    """The offset of each buffer, and the size of the arena."""

    offsets: tuple[Dim, ...]
    total: MaximumDim


def pack(requests: Sequence[Request]) -> ArenaLayout:
    """The layout of buffers with lifetimes.

    Raises:
        ExtentError: the size of the arena is beyond what an extent can say.
    """
    if all(isinstance(request.size, int) for request in requests):
        packing = packed(requests)
        return ArenaLayout(packing.offsets, packing.peak)
    offsets, total = stacked(requests)
    return ArenaLayout(tuple(offsets), total)
