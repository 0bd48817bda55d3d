"""The addresses of a tensor copy: which bytes of global memory go with which bytes of shared memory.

In: a tensor map, the coordinates and the shared address of one `cp{.reduce}.async.bulk.tensor`. Out: a `Box`, row by
row of the innermost dimension, and its bytes in the order of its elements. A load fills the elements that are out of
bounds, a store and a reduction leave them out; the mbarrier of a load counts them.

Source: PTX ISA 9.1 §5.5 (Tensors), §9.7.9.27.1.2 (cp.async.bulk.tensor), §9.7.9.27.1.3 (cp.reduce.async.bulk.tensor).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from ptxsim.machine.misuse import Misuse, require_aligned
from ptxsim.tensor_maps.tensor_layout import Im2col, TensorLayout

#: Alignment in bytes of a box in shared memory. Source: CUDA C++ Programming Guide, alignment for multi-dimensional
#: bulk copies.
SHARED_ALIGNMENT = 128

#: Rank → the largest im2col offset. Source: PTX ISA §5.5.4.1.
_MAXIMUM_OFFSET = {3: 2**16 - 1, 4: 2**8 - 1, 5: 2**5 - 1}
#: The widest word that rows are copied in (bytes): their distances and their bytes in a box are multiples of it.
_WIDEST = 16
#: A distance in bytes that is beyond every memory, and that sums of a few of them do not overflow.
FAR = 2**61


@dataclass(frozen=True)
class Box:
    """The rows of one box, in the order in which they lie in shared memory.

    `rows`: [r] bytes from the map's global address to the first element of each row; `inside`: [r] which of them have
    elements in bounds, all where None; `first`, `last`: the bytes of such a row that are in bounds, [first, last);
    `row_bytes`: the bytes of a row; `fill`: the bytes of an element out of bounds.
    """

    rows: NDArray[np.int64]
    inside: NDArray[np.bool_] | None
    first: int
    last: int
    row_bytes: int
    fill: bytes

    @property
    def byte_count(self) -> int:
        """The bytes of the box, in bounds or not: what the completion counts on the mbarrier."""
        return len(self.rows) * self.row_bytes

    @property
    def complete(self) -> bool:
        """Whether every element is in bounds."""
        return self.inside is None and self.last - self.first == self.row_bytes

    @property
    def starts(self) -> NDArray[np.int64]:
        """The offsets of the parts of rows that are in bounds, `last - first` bytes each: [k]."""
        return self.rows[self._chosen] + self.first

    def read(self, memory: NDArray[np.uint8], start: int) -> NDArray[np.uint8]:
        """The bytes of the box from global memory, in which the tensor begins at `start`: [byte_count]."""
        words, index, columns = self._words(memory, start)
        if self.complete:
            return words[index].reshape(-1).view(np.uint8)
        filled = np.empty(self.byte_count, np.uint8)
        filled.reshape(-1, len(self.fill))[...] = np.frombuffer(self.fill, np.uint8)
        rows = filled.view(words.dtype).reshape(len(self.rows), -1)
        rows[self._chosen, columns] = words[index]
        return filled

    def write(self, memory: NDArray[np.uint8], start: int, contents: NDArray[np.uint8]) -> None:
        """Set the elements in bounds in global memory, in which the tensor begins at `start`."""
        words, index, columns = self._words(memory, start)
        words[index] = contents.view(words.dtype).reshape(len(self.rows), -1)[self._chosen, columns]

    def in_bounds(self, contents: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Those of a box's bytes that are in bounds: [rows, bytes]."""
        return contents.reshape(len(self.rows), -1)[self._chosen, self.first : self.last]

    @property
    def _chosen(self) -> "slice | NDArray[np.bool_]":
        return slice(None) if self.inside is None else self.inside

    def _words(self, memory: NDArray[np.uint8], start: int) -> tuple[NDArray[np.void], NDArray[np.int64], slice]:
        """The memory in words as wide as the rows allow, the index of each word in bounds, and their columns."""
        starts = self.starts + start
        distance = int(starts[0]) if len(starts) else 0
        several = distance | self.first | self.last | _WIDEST
        width = several & -several
        words = memory.view(f"V{width}")
        columns = slice(self.first // width, self.last // width)
        return words, (starts // width)[:, None] + np.arange(columns.stop - columns.start), columns


def box_of(
    tensor: TensorLayout, coordinates: Sequence[int], shared_address: int, offsets: Sequence[int] | None = None
) -> Box:
    """The box that a tensor copy moves.

    `coordinates` is innermost first. `offsets` are the im2col offsets (W, H, D) of a load in mode `.im2col`, () for
    `.im2col_no_offs`, and None for `.tile`.
    Raises: Misuse for a mode that is not the map's, for coordinates and offsets that the ISA leaves undefined, and for
    a shared address that is not aligned.
    """
    if len(coordinates) != tensor.rank:
        message = f"a copy with {len(coordinates)} coordinates of a tensor map of rank {tensor.rank}"
        raise Misuse("out-of-bounds", message)
    require_aligned("shared memory", shared_address, SHARED_ALIGNMENT)
    if isinstance(tensor.box, Im2col):
        if offsets is None:
            raise Misuse("out-of-bounds", "a copy in mode .tile of an im2col tensor map")
        return _box(tensor, coordinates[0], *_im2col_rows(tensor, coordinates, _checked_offsets(tensor, offsets)))
    if offsets is not None:
        raise Misuse("out-of-bounds", "a copy in mode .im2col of a tiled tensor map")
    return _box(tensor, coordinates[0], *_tiled_rows(tensor, coordinates))


def _tiled_rows(
    tensor: TensorLayout, coordinates: Sequence[int]
) -> "tuple[NDArray[np.int64], NDArray[np.bool_] | None]":
    """The starts of the rows of a tiled box, but for the coordinate in them, and which are in bounds."""
    start = sum(at * stride for at, stride in zip(coordinates[1:], tensor.global_strides, strict=True))
    rows = tensor.tiled_rows + max(min(start, FAR), -FAR)
    outer = tuple(
        zip(coordinates[1:], tensor.shape[1:], tensor.element_strides[1:], tensor.global_dim[1:], strict=True)
    )
    if all(at >= 0 and at + (extent - 1) * step < size for at, extent, step, size in outer):
        return rows, None
    inside = np.ones(1, np.bool_)
    for at, extent, step, size in outer:
        places = at + np.arange(extent, dtype=np.int64) * step
        inside = (((places >= 0) & (places < size))[:, None] & inside).reshape(-1)
    return rows, inside


def _checked_offsets(tensor: TensorLayout, offsets: Sequence[int]) -> Sequence[int]:
    spatial, maximum = tensor.rank - 2, _MAXIMUM_OFFSET[tensor.rank]
    if not offsets:
        return (0,) * spatial
    if len(offsets) != spatial or not all(0 <= offset <= maximum for offset in offsets):
        message = f"im2col offsets {tuple(offsets)} are not {spatial} within 0 … {maximum}"
        raise Misuse("out-of-bounds", message)
    return offsets


def _im2col_rows(
    tensor: TensorLayout, coordinates: Sequence[int], offsets: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The starts of the pixels (rows of channels), but for the channel, and which are in bounds.

    The filter base goes through the pixel box, W first, then H, D and N; the offsets move each pixel.
    """
    box = tensor.box
    assert isinstance(box, Im2col)
    carry = np.arange(box.pixels_per_column, dtype=np.int64)
    places = []
    for dimension, offset in enumerate(offsets, 1):
        lower = box.pixel_box_lower_corner[dimension - 1]
        last = tensor.global_dim[dimension] - 1 + box.pixel_box_upper_corner[dimension - 1]
        start, step = coordinates[dimension], tensor.element_strides[dimension]
        if not lower <= start <= last:
            message = f"coordinate {start} of {'WHD'[dimension - 1]} is not in the pixel box, {lower} … {last}"
            raise Misuse("out-of-bounds", message)
        base, carry = _advanced(carry, start, lower, last, step)
        places.append(base + offset)
    places.append(coordinates[-1] + carry * tensor.element_strides[-1])
    rows = reduce(np.add, (place * stride for place, stride in zip(places, tensor.global_strides, strict=True)))
    within = ((place >= 0) & (place < size) for place, size in zip(places, tensor.global_dim[1:], strict=True))
    return rows, reduce(np.logical_and, within)


def _advanced(
    steps: NDArray[np.int64], start: int, lower: int, last: int, stride: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The place of a coordinate after `steps` steps from `start`, and how often it went back to `lower` until then.

    It goes up by `stride` as long as it is not beyond `last`.
    """
    first = (last - start) // stride + 1
    around = (last - lower) // stride + 1
    later = steps - first
    value = np.where(later < 0, start + steps * stride, lower + later % around * stride)
    return value, np.where(later < 0, 0, later // around + 1)


def _box(tensor: TensorLayout, inner: int, rows: NDArray[np.int64], inside: "NDArray[np.bool_] | None") -> Box:
    """The box whose rows begin at element `inner` of the innermost dimension."""
    size = tensor.element_bytes
    extent = tensor.shape[0]
    first = min(max(-inner, 0), extent)
    last = max(min(tensor.global_dim[0] - inner, extent), first)
    return Box(rows + inner * size, inside, first * size, last * size, extent * size, tensor.fill)
