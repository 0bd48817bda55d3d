"""The addresses of a tensor copy: which element of global memory goes with which bytes of shared memory.

In: a tensor map, the coordinates and the shared address of one `cp{.reduce}.async.bulk.tensor`. Out: a `Box` with an
entry for every element of the box, innermost dimension fastest. A load fills the elements that are out of bounds, a
store and a reduction leave them out; the mbarrier of a load counts them.

Source: PTX ISA 9.1 §5.5 (Tensors), §9.7.9.27.1.2 (cp.async.bulk.tensor), §9.7.9.27.1.3 (cp.reduce.async.bulk.tensor).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from tinyc.simulator.asynchronous.misuse import Misuse, require_aligned
from tinyc.simulator.asynchronous.swizzle import swizzled
from tinyc.simulator.asynchronous.tensor_map import Im2col, TensorMap

#: Alignment in bytes of a box in shared memory. Source: CUDA C++ Programming Guide, alignment for multi-dimensional
#: bulk copies.
SHARED_ALIGNMENT = 128

#: Rank → the largest im2col offset. Source: PTX ISA §5.5.4.1.
_MAXIMUM_OFFSET = {3: 2**16 - 1, 4: 2**8 - 1, 5: 2**5 - 1}


@dataclass(frozen=True)
class Box:
    """The elements of one box, in the order in which they lie in shared memory before the swizzle.

    `global_offsets`: [n] bytes from the map's global address, meaningless where out of bounds; `in_bounds`: [n] bool;
    `shared_addresses`: [n] bytes; `byte_count`: what the completion counts on the mbarrier; `fill`: the bytes of an
    element out of bounds.
    """

    global_offsets: NDArray[np.int64]
    in_bounds: NDArray[np.bool_]
    shared_addresses: NDArray[np.int64]
    element_bytes: int
    byte_count: int
    fill: bytes

    def global_bytes(self) -> NDArray[np.int64]:
        """Return the offsets of the single bytes of the elements in bounds, [elements, bytes of one]."""
        return self.global_offsets[self.in_bounds, None] + np.arange(self.element_bytes)

    def shared_bytes(self, in_bounds: bool = True) -> NDArray[np.int64]:
        """Return the addresses of the single bytes of the elements in or out of bounds, [elements, bytes of one]."""
        return self.shared_addresses[self.in_bounds == in_bounds, None] + np.arange(self.element_bytes)


def box_of(
    tensor: TensorMap, coordinates: Sequence[int], shared_address: int, offsets: Sequence[int] | None = None
) -> Box:
    """Return the box that a tensor copy moves.

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
        axes = _im2col_axes(tensor, tensor.box, coordinates, _checked_offsets(tensor, offsets))
    else:
        if offsets is not None:
            raise Misuse("out-of-bounds", "a copy in mode .im2col of a tiled tensor map")
        axes = _tiled_axes(tensor, coordinates)
    return _box(tensor, axes, shared_address)


def _tiled_axes(tensor: TensorMap, coordinates: Sequence[int]) -> list[NDArray[np.int64]]:
    """Return the coordinates of the elements by dimension, to be broadcast to the box (outermost axis first)."""
    shape = tensor.shape
    axes = []
    for dimension, (start, extent, step) in enumerate(zip(coordinates, shape, tensor.element_strides, strict=True)):
        places = [1] * tensor.rank
        places[tensor.rank - 1 - dimension] = extent
        axes.append((start + np.arange(extent, dtype=np.int64) * step).reshape(places))
    return axes


def _checked_offsets(tensor: TensorMap, offsets: Sequence[int]) -> Sequence[int]:
    spatial, maximum = tensor.rank - 2, _MAXIMUM_OFFSET[tensor.rank]
    if not offsets:
        return (0,) * spatial
    if len(offsets) != spatial or not all(0 <= offset <= maximum for offset in offsets):
        message = f"im2col offsets {tuple(offsets)} are not {spatial} within 0 … {maximum}"
        raise Misuse("out-of-bounds", message)
    return offsets


def _im2col_axes(
    tensor: TensorMap, box: Im2col, coordinates: Sequence[int], offsets: Sequence[int]
) -> list[NDArray[np.int64]]:
    """Return the coordinates (C, W, [H, [D,]] N) of the elements, to be broadcast to [pixels, channels].

    The filter base goes through the pixel box, W first, then H, D and N; the offsets move each pixel.
    """
    carry = np.arange(box.pixels_per_column, dtype=np.int64)
    spatial = []
    for dimension, offset in enumerate(offsets, 1):
        lower = box.pixel_box_lower_corner[dimension - 1]
        last = tensor.global_dim[dimension] - 1 + box.pixel_box_upper_corner[dimension - 1]
        start, step = coordinates[dimension], tensor.element_strides[dimension]
        if not lower <= start <= last:
            message = f"coordinate {start} of {'WHD'[dimension - 1]} is not in the pixel box, {lower} … {last}"
            raise Misuse("out-of-bounds", message)
        base, carry = _advanced(carry, start, lower, last, step)
        spatial.append((base + offset)[:, None])
    images = (coordinates[-1] + carry * tensor.element_strides[-1])[:, None]
    channels = coordinates[0] + np.arange(box.channels_per_pixel, dtype=np.int64)
    return [channels[None, :], *spatial, images]


def _advanced(
    steps: NDArray[np.int64], start: int, lower: int, last: int, stride: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where a coordinate is after `steps` steps from `start`, and how often it went back to `lower` until then.

    It goes up by `stride` as long as it is not beyond `last`.
    """
    first = (last - start) // stride + 1
    around = (last - lower) // stride + 1
    later = steps - first
    value = np.where(later < 0, start + steps * stride, lower + later % around * stride)
    return value, np.where(later < 0, 0, later // around + 1)


def _box(tensor: TensorMap, axes: list[NDArray[np.int64]], shared_address: int) -> Box:
    """Combine the coordinates of every dimension to offsets and bounds, and lay the elements out in shared memory."""
    strides = (tensor.element_bytes, *tensor.global_strides)
    offsets = reduce(np.add, (axis * stride for axis, stride in zip(axes, strides, strict=True)))
    inside = reduce(
        np.logical_and, ((axis >= 0) & (axis < size) for axis, size in zip(axes, tensor.global_dim, strict=True))
    )
    shared = shared_address + np.arange(offsets.size, dtype=np.int64) * tensor.element_bytes
    return Box(
        global_offsets=offsets.reshape(-1),
        in_bounds=inside.reshape(-1),
        shared_addresses=swizzled(shared, tensor.swizzle),
        element_bytes=tensor.element_bytes,
        byte_count=tensor.byte_count,
        fill=tensor.fill,
    )
