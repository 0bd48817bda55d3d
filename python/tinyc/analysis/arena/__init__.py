"""Where buffers lie in the arena: offsets for buffers with lifetimes, and the proof that none overlap.

A buffer is alive in the generations `first … last`. Sizes are extents in bytes; offsets come out as extents, each a
multiple of `vocabulary.alignment.ALIGNMENT_BYTES`. Pure Python, without MLIR.

    pack([Request(100, 0, 1), Request(64, 1, 2)])    →  offsets [0, 256], peak 512, lower bound 512

In reading order:

    lifetimes     what a buffer asks for, which buffers interfere, and the bound that no layout gets below
    free_list     greedily in the order of time: places taken and given back, as an allocator at run time would
    first_fit     places taken in other orders than that of time
    exact         the least peak of a few buffers, by branch and bound
    packing       all that: offsets for sizes that are numbers
    heights       sums of sizes that are not known, and which of two is no smaller
    proof         whether a layout is right, for all sizes or at some
    stacking      offsets for such sizes, as formulas
    layout        either, whatever the sizes are
"""

from tinyc.analysis.arena.layout import ArenaLayout, pack
from tinyc.analysis.arena.lifetimes import Request, least_bytes
from tinyc.analysis.arena.packing import Packing, packed
from tinyc.analysis.arena.proof import Placed, is_proved_apart, overlaps

__all__ = [
    "ArenaLayout",
    "Packing",
    "Placed",
    "Request",
    "is_proved_apart",
    "least_bytes",
    "overlaps",
    "pack",
    "packed",
]
