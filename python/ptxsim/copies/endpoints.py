"""The endpoints of bulk and tensor copies: bytes of shared or global memory, and boxes of tensors, with their checks.

In: places in memories. Out: what lies there, in the order of a box, and the same set anew. `Misuse` where it is no
memory, or nobody has written it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ptxsim.copies.tensor_boxes import Box
from ptxsim.machine.cta import Cta
from ptxsim.machine.misuse import Misuse
from ptxsim.machine.observer import Region
from ptxsim.memory.byte_array import ALLOCATED, INITIALIZED, READY, UNDEFINED, ByteArray
from ptxsim.memory.windows import CTA_STRIDE
from ptxsim.tensor_maps.swizzle import swizzled_bytes

#: From the old and the copied bytes to the new ones.
CopyUpdate: TypeAlias = Callable[[np.ndarray, np.ndarray], np.ndarray]


def shared_place(cta: Cta, address: int, space: str) -> tuple[Cta, int]:
    """The CTA of the cluster that a shared address names, and the byte offset in its memory.

    Raises: Misuse ("out-of-bounds") where there is no such CTA, or where it is another one and `space` says it is not.
    """
    if address < CTA_STRIDE:
        return cta, address
    rank, offset = address // CTA_STRIDE - 1, address % CTA_STRIDE
    if rank >= len(cta.peers) or (space == "shared::cta" and rank != cta.rank):
        raise Misuse("out-of-bounds", f"{address:#x} is no address of space {space} in a cluster of {len(cta.peers)}")
    return cta.peers[rank], offset


@dataclass(frozen=True, eq=False)
class Range:
    """`size` bytes of a memory from `index` on; a box lies there as `swizzle` says.

    `owner` is the CTA whose shared memory it is; `width` is how many bytes are counted as one access.
    """

    memory: ByteArray
    index: int
    size: int
    swizzle: str = "none"
    owner: Cta | None = None
    width: int = 16

    @property
    def regions(self) -> tuple[Region, ...]:
        """The bytes for the observer."""
        return (Region(self.memory, np.array([self.index]), self.size),) if self.size else ()

    def read(self) -> np.ndarray:
        """The bytes, in the order of a box."""
        return swizzled_bytes(self._part(self.memory.data), self.index, self.swizzle).copy()

    def write(self, contents: np.ndarray) -> None:
        """Set the bytes, given in the order of a box."""
        self._part(self.memory.data)[...] = swizzled_bytes(contents, self.index, self.swizzle)
        self._part(self.memory.state)[...] = READY

    def update(self, function: CopyUpdate, contents: np.ndarray) -> None:
        """Combine the bytes with those given."""
        self.write(function(self.read(), contents))

    def require_allocated(self, role: str) -> None:
        """Check that all bytes are memory of the kernel. Raises: Misuse ("out-of-bounds")."""
        inside = self.index >= 0 and self.index + self.size <= self.memory.state.size
        if not inside or not (self._part(self.memory.state) & ALLOCATED).all():
            what = f"the {role}, {self.size} bytes of {self.memory.space} memory"
            raise Misuse("out-of-bounds", f"{what} at {self.index + self.memory.base:#x}, is not all allocated")

    def require_written(self, box: Box | None = None) -> None:
        """Check that somebody has written the bytes, those of `box` in bounds. Raises: Misuse ("uninitialized")."""
        state = self._part(self.memory.state)
        if self.owner is None or (state & (INITIALIZED | UNDEFINED) == INITIALIZED).all():
            return
        read = state if box is None else box.in_bounds(swizzled_bytes(state, self.index, self.swizzle))
        if not (read & (INITIALIZED | UNDEFINED) == INITIALIZED).all():
            what = f"the copy reads {self.size} bytes of {self.memory.space} memory at {self.index:#x}"
            raise Misuse("uninitialized", f"{what}, some of which nobody has written")

    def _part(self, array: np.ndarray) -> np.ndarray:
        return array[self.index : self.index + self.size]


@dataclass(frozen=True, eq=False)
class Tile:
    """The elements in bounds of a box of a tensor that begins at `index` of global memory."""

    memory: ByteArray
    index: int
    box: Box

    @property
    def owner(self) -> Cta | None:
        """No CTA: the memory is global."""
        return None

    @property
    def width(self) -> int:
        """The bytes of an element."""
        return len(self.box.fill)

    @property
    def regions(self) -> tuple[Region, ...]:
        """The parts of rows in bounds for the observer."""
        size, index = self.box.last - self.box.first, self.box.starts + self.index
        return (Region(self.memory, index, size),) if size and len(index) else ()

    def read(self) -> np.ndarray:
        """The bytes of the box, filled where out of bounds."""
        return self.box.read(self.memory.data, self.index)

    def write(self, contents: np.ndarray) -> None:
        """Set the elements in bounds."""
        self.box.write(self.memory.data, self.index, contents)

    def update(self, function: CopyUpdate, contents: np.ndarray) -> None:
        """Combine the elements in bounds with those given; row after row, where rows have bytes in common."""
        size = self.box.last - self.box.first
        if (np.diff(np.sort(self.box.starts)) >= size).all():
            self.write(function(self.read(), contents))
            return
        rows = self.box.in_bounds(contents)
        for start, row in zip(self.box.starts.tolist(), rows, strict=True):
            one = Range(self.memory, self.index + start, size)
            one.write(function(one.read(), row.copy()))

    def require_allocated(self) -> None:
        """Check that the elements in bounds are memory of the kernel. Raises: Misuse ("out-of-bounds")."""
        for region in self.regions:
            outside = ~(self.memory.states(region.index, region.size) & ALLOCATED).astype(bool).all(axis=-1)
            if outside.any():
                where = int(region.index[outside][0]) + self.memory.base
                what = f"the tensor map has {region.size} bytes at {where:#x} in the tensor"
                raise Misuse("out-of-bounds", f"{what}; not all of them are in the map's array")


@dataclass(frozen=True, eq=False)
class Words:
    """A source that is registers of the issuing thread: its bytes are known from the beginning."""

    contents: np.ndarray
    owner: Cta | None = None
    regions: tuple[Region, ...] = ()

    def read(self) -> np.ndarray:
        """The bytes."""
        return self.contents


CopySource: TypeAlias = Range | Tile | Words
CopyDestination: TypeAlias = Range | Tile
