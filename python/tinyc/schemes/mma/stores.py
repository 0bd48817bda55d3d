"""The store slot of each output.

In: where the elements are, whether the kernel copies by TMA. Out: a `Store`: a copy of a whole tile by TMA, or accesses
of threads, as wide as lines allow. What are neighbours in the buffer, those of a row or of a column, are so in shared
memory. `needs` are as those of a `Load`: what has to be a multiple at run time, where the kernel is `guarded`.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tinyc.analysis.strided_access import StridedAccess
from tinyc.schemes.mma.loads import TMA_BYTES, Needs, needs_of, order_of, strides_of, why_no_box

if TYPE_CHECKING:  # plans are judged without MLIR
    from tinyc.dialects.gpu.shared_layout import Order

#: Bytes of the widest access of a thread.
WIDEST_STORE_BYTES = 16


@dataclass(frozen=True)
class Store:
    """How the tiles of an output get to it; `width` elements are what one access takes, `order` that of the tiles."""

    kind: Literal["tma", "vectors"]
    width: int
    order: "Order" = "row"
    needs: Needs = ()


def store_of(access: StridedAccess, by_tma: bool, guarded: bool = True, most_bytes: int = WIDEST_STORE_BYTES) -> Store:
    """The store of an output; by threads where accesses of fewer than 16 bytes are asked for."""
    size, order = access.element.size_bytes, order_of(access)
    if by_tma and most_bytes == WIDEST_STORE_BYTES:
        needs = box_needs(access, guarded)
        if needs is not None:
            return Store("tma", TMA_BYTES // size, order, needs)
    # An access is of neighbours of one line: of its last run, which a line is whole multiples of.
    line = access.columns if order == "row" else access.rows
    width = most_bytes // size if access.contiguous and line else 1
    while width > 1:
        needs = needs_of([*strides_of(access), *(run.extent for run in line[-1:])], width, guarded)
        if needs is not None:
            return Store("vectors", width, order, needs)
        width //= 2
    return Store("vectors", 1, order)


def line_bytes(access: StridedAccess, unit_tile: tuple[int, int]) -> int:
    """Bytes of a line of the narrowest tiles of an output, or of what is as large as one."""
    rows, columns = unit_tile
    return (columns if order_of(access) == "row" else rows) * access.element.size_bytes


def box_needs(access: StridedAccess, guarded: bool = True) -> Needs | None:
    """What TMA needs to copy tiles of an output or a residual; None: it cannot."""
    if not access.contiguous or why_no_box(access):
        return None
    return needs_of(strides_of(access), TMA_BYTES // access.element.size_bytes, guarded)
