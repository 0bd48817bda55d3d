"""Where a tensor lies from its address on, and which box of it a tensor copy moves: what a tensor map says.

In: the fields of a map, checked. Out: a `TensorLayout`, the geometry that copies work with; `tensor_map` makes it from
what the host gives, `encoding` from the bytes of a map on the device.

Source: CUDA Driver API, Tensor Map Object Management; PTX ISA §5.5 (Tensors).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

#: Element type of a tensor map → its bytes.
ELEMENT_BYTES = {
    "u8": 1, "u16": 2, "u32": 4, "s32": 4, "u64": 8, "s64": 8, "f16": 2, "f32": 4, "f64": 8, "bf16": 2
}  # fmt: skip
#: What fills 16 bits out of bounds for "nan_request_zero_fma". The ISA does not tell the value; it is what GPUs write.
_OOB_NAN = b"\xf7\x7f"


@dataclass(frozen=True)
class Im2col:
    """The box of an im2col map.

    A filter base lies from `pixel_box_lower_corner` on, and at most `pixel_box_upper_corner` past the last pixel, in
    each of the spatial dimensions W, H, D.
    """

    pixel_box_lower_corner: tuple[int, ...]
    pixel_box_upper_corner: tuple[int, ...]
    channels_per_pixel: int
    pixels_per_column: int


@dataclass(frozen=True, eq=False)
class TensorLayout:
    """A tensor and a box of it: the fields of a tensor map but for the address.

    `element_type` is as PTX writes it, without the dot; `box` is the box dimensions of a tiled map, innermost first, or
    an `Im2col`.
    """

    element_type: str
    global_dim: tuple[int, ...]
    global_strides: tuple[int, ...]
    element_strides: tuple[int, ...]
    box: "tuple[int, ...] | Im2col"
    swizzle: str
    oob_fill: str

    @property
    def rank(self) -> int:
        """The number of dimensions of the tensor."""
        return len(self.global_dim)

    @property
    def element_bytes(self) -> int:
        """The size of an element."""
        return ELEMENT_BYTES[self.element_type]

    @property
    def shape(self) -> tuple[int, ...]:
        """The elements of a box in shared memory by dimension, innermost first; (channels, pixels) for im2col.

        A traversal stride n leaves one of n elements of a tiled box.
        """
        if isinstance(self.box, Im2col):
            return (self.box.channels_per_pixel, self.box.pixels_per_column)
        return tuple(-(-extent // step) for extent, step in zip(self.box, self.element_strides, strict=True))

    @property
    def byte_count(self) -> int:
        """The bytes that a copy of one box counts on its mbarrier: the whole box, in bounds or not."""
        return int(np.prod(self.shape, dtype=np.int64)) * self.element_bytes

    @cached_property
    def tiled_rows(self) -> NDArray[np.int64]:
        """The bytes from the first row of a tiled box to each of its rows, in the order of shared memory."""
        rows = np.zeros(1, np.int64)
        for extent, step, stride in zip(self.shape[1:], self.element_strides[1:], self.global_strides, strict=True):
            rows = (np.arange(extent, dtype=np.int64)[:, None] * step * stride + rows).reshape(-1)
        return rows

    @cached_property
    def reach_bytes(self) -> int:
        """The bytes from the global address to behind the last element of the tensor."""
        outer = zip(self.global_dim[1:], self.global_strides, strict=True)
        return self.global_dim[0] * self.element_bytes + sum((size - 1) * stride for size, stride in outer)

    @property
    def fill(self) -> bytes:
        """The bytes of an element out of bounds."""
        if self.oob_fill == "zeros":
            return bytes(self.element_bytes)
        return _OOB_NAN * (self.element_bytes // len(_OOB_NAN))
