"""How buffers are aligned: where an arena starts, and each offset into it."""

from typing import overload

from tinyc.expr import extents
from tinyc.expr.extents import Dim

#: Where the arena starts is a multiple of this, and so is each offset into it; it is what a GPU's driver gives, too.
ALIGNMENT_BYTES = 256


@overload
def aligned_size(size: int) -> int: ...
@overload
def aligned_size(size: Dim) -> Dim: ...
def aligned_size(size: Dim) -> Dim:
    """`size` rounded up to the alignment."""
    return extents.ceildiv(size, ALIGNMENT_BYTES) * ALIGNMENT_BYTES
