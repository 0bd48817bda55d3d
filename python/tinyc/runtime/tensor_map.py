"""Tensor maps: a tensor in global memory and the box of it that one TMA copy moves, as a launch states them.

A kernel takes a map as 128 bytes, which the driver, or the simulator, makes of this and of where the buffer lies. Pure
data: the compiler's layers check with the same rules what the runtimes encode.

**Source:** CUDA Driver API, cuTensorMapEncodeTiled.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from tinyc.expr.extents import Dim

TENSOR_MAP_BYTES = 128
#: Of the address of a tensor, of its strides, and of the rows of a box.
MAP_ALIGNMENT_BYTES = 16
SWIZZLES_BYTES = (0, 32, 64, 128)
_MOST_DIMS, _LONGEST_DIM, _LONGEST_SIDE, _STRIDE_LIMIT_BYTES = 5, 2**32, 256, 2**40


@dataclass(frozen=True)
class Tiling:
    """What a tensor map says but for where the tensor lies, innermost dimension first.

    `dims` and `box` are in elements, and a box may reach beyond the tensor. `strides` are in bytes and one fewer:
    elements of the innermost dimension are neighbours. In shared memory the rows of a box are swizzled in spans of
    `swizzle` bytes; 0: they are not.
    """

    dims: tuple[Dim, ...]
    strides: tuple[Dim, ...]
    box: tuple[int, ...]
    swizzle: int

    @property
    def extents(self) -> tuple[Dim, ...]:
        """All of it that may depend on sizes."""
        return (*self.dims, *self.strides)

    def fault(self, element_bytes: int) -> str | None:
        """What the hardware does not take of it, as far as the sizes are numbers; None: it takes it."""
        return next(self._faults(element_bytes), None)

    def _faults(self, element_bytes: int) -> Iterator[str]:
        rank = len(self.dims)
        if not 1 <= rank <= _MOST_DIMS:
            yield f"has {rank} dims; write 1 … {_MOST_DIMS}"
        elif (len(self.strides), len(self.box)) != (rank - 1, rank):
            sides = f"{len(self.strides)} strides and a box of {len(self.box)} sides"
            yield f"has {rank} dims, {sides}; write a stride for each dim but the first, and a side for each"
        else:
            yield from self._box_faults(self.box[0] * element_bytes)
        for dim in self.dims:
            if isinstance(dim, int) and not 0 <= dim <= _LONGEST_DIM:
                yield f"has a dim of {dim} elements; it may be 0 … 2^32"
        for stride in self.strides:
            if isinstance(stride, int) and (stride % MAP_ALIGNMENT_BYTES or not 0 <= stride < _STRIDE_LIMIT_BYTES):
                yield f"has a stride of {stride} bytes; it must be a multiple of {MAP_ALIGNMENT_BYTES} below 2^40"

    def _box_faults(self, row_bytes: int) -> Iterator[str]:
        shown = "x".join(map(str, self.box))
        if not all(1 <= side <= _LONGEST_SIDE for side in self.box):
            yield f"has a box {shown}; each side may be 1 … {_LONGEST_SIDE}"
        if self.swizzle not in SWIZZLES_BYTES:
            yield f"has a swizzle of {self.swizzle} bytes; there are {', '.join(map(str, SWIZZLES_BYTES))}"
        if row_bytes % MAP_ALIGNMENT_BYTES:
            yield f"has a box {shown} with rows of {row_bytes} bytes; choose a multiple of {MAP_ALIGNMENT_BYTES}"
        elif 0 < self.swizzle < row_bytes:
            yield f"has a box {shown} with rows of {row_bytes} bytes; a swizzle of {self.swizzle} takes as many at most"
