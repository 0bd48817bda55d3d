"""The tensor map, which tells a tensor copy where a tensor lies in global memory and which box of it to copy.

In: what `cuTensorMapEncodeTiled` and `cuTensorMapEncodeIm2col` take, under the same names and in their order (innermost
dimension first, the global strides in bytes and without the innermost). Out: a checked `TensorMap`, an argument of
`Module.launch`. The simulator keeps the object itself where a GPU has 128 opaque bytes.

Source: CUDA Driver API, Tensor Map Object Management; PTX ISA §5.5 (Tensors).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ptxsim.tensor_maps import tensor_map_rules as rules

#: Element type of an array → that of the tensor map. The API has one type of 8 bits and one unsigned of 16.
_ELEMENT_TYPES = {
    np.dtype(np.float16): "f16",
    np.dtype(ml_dtypes.bfloat16): "bf16",
    np.dtype(np.float32): "f32",
    np.dtype(np.float64): "f64",
    np.dtype(np.int32): "s32",
    np.dtype(np.int64): "s64",
}
_UNSIGNED = {1: "u8", 2: "u16", 4: "u32", 8: "u64"}
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
class TensorMap:
    """A tensor in global memory and a box of it; made by `tiled` or `im2col`.

    `box` is the box dimensions of a tiled map, innermost first, or an `Im2col`.
    """

    global_address: NDArray
    global_dim: tuple[int, ...]
    global_strides: tuple[int, ...]
    element_strides: tuple[int, ...]
    box: "tuple[int, ...] | Im2col"
    swizzle: str
    l2_promotion: str
    oob_fill: str

    @classmethod
    def tiled(
        cls,
        tensor_rank: int,
        global_address: NDArray,
        global_dim: Sequence[int],
        global_strides: Sequence[int],
        box_dim: Sequence[int],
        element_strides: Sequence[int],
        interleave: str = "none",
        swizzle: str = "none",
        l2_promotion: str = "none",
        oob_fill: str = "zeros",
    ) -> Self:
        """Make the map of a tensor whose boxes keep their shape in shared memory.

        Units: `global_dim`, `box_dim` and `element_strides` elements, `global_strides` bytes.
        Raises: InputError for what the driver refuses, naming the parameter, its value and the rule.
        Source: cuTensorMapEncodeTiled; PTX ISA §5.5.3.
        """
        rank = rules.rank(tensor_rank, 1)
        tensor = cls(
            global_address=rules.global_address(global_address),
            global_dim=rules.dimensions(global_dim, rank),
            global_strides=rules.strides(global_strides, rank),
            element_strides=rules.element_strides(element_strides, rank),
            box=rules.integers("box_dim", box_dim, rank, 1, 256),
            swizzle=rules.choice("swizzle", swizzle, rules.SWIZZLES),
            l2_promotion=rules.choice("l2_promotion", l2_promotion, rules.PROMOTIONS),
            oob_fill=rules.choice("oob_fill", oob_fill, rules.FILLS),
        )
        return tensor._checked("box_dim[0]", interleave)

    @classmethod
    def im2col(
        cls,
        tensor_rank: int,
        global_address: NDArray,
        global_dim: Sequence[int],
        global_strides: Sequence[int],
        pixel_box_lower_corner: Sequence[int],
        pixel_box_upper_corner: Sequence[int],
        channels_per_pixel: int,
        pixels_per_column: int,
        element_strides: Sequence[int],
        interleave: str = "none",
        swizzle: str = "none",
        l2_promotion: str = "none",
        oob_fill: str = "zeros",
    ) -> Self:
        """Make the map of a tensor (C, W, N), (C, W, H, N) or (C, W, H, D, N) whose boxes are columns of pixels.

        Units: as in `tiled`; the corners are in pixels, in the order W, H, D.
        Raises: InputError for what the driver refuses, naming the parameter, its value and the rule.
        Source: cuTensorMapEncodeIm2col; PTX ISA §5.5.4.
        """
        rank = rules.rank(tensor_rank, 3)
        dimensions = rules.dimensions(global_dim, rank)
        lower = rules.corner("pixel_box_lower_corner", pixel_box_lower_corner, rank)
        upper = rules.corner("pixel_box_upper_corner", pixel_box_upper_corner, rank)
        rules.require_pixels(dimensions, lower, upper)
        (channels,) = rules.integers("channels_per_pixel", (channels_per_pixel,), 1, 1, 256)
        (pixels,) = rules.integers("pixels_per_column", (pixels_per_column,), 1, 1, 1024)
        tensor = cls(
            global_address=rules.global_address(global_address),
            global_dim=dimensions,
            global_strides=rules.strides(global_strides, rank),
            element_strides=rules.element_strides(element_strides, rank),
            box=Im2col(lower, upper, channels, pixels),
            swizzle=rules.choice("swizzle", swizzle, rules.SWIZZLES),
            l2_promotion=rules.choice("l2_promotion", l2_promotion, rules.PROMOTIONS),
            oob_fill=rules.choice("oob_fill", oob_fill, rules.FILLS),
        )
        return tensor._checked("channels_per_pixel", interleave)

    @property
    def rank(self) -> int:
        """The number of dimensions of the tensor."""
        return len(self.global_dim)

    @property
    def element_type(self) -> str:
        """The type of the elements, as PTX writes it, without the dot."""
        dtype = self.global_address.dtype
        return _ELEMENT_TYPES.get(dtype, _UNSIGNED[dtype.itemsize])

    @property
    def element_bytes(self) -> int:
        """The size of an element."""
        return self.global_address.dtype.itemsize

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

    def _checked(self, inner_name: str, interleave: str) -> Self:
        """The same map after the checks that need several of its fields."""
        rules.require_no_interleave(interleave)
        inner = self.box.channels_per_pixel if isinstance(self.box, Im2col) else self.box[0]
        rules.require_inner_box(inner_name, inner * self.element_bytes, self.swizzle)
        rules.require_fill(self.oob_fill, self.element_type)
        return self
