"""The tensor map, which tells a tensor copy where a tensor lies in global memory and which box of it to copy.

In: what `cuTensorMapEncodeTiled` and `cuTensorMapEncodeIm2col` take, under the same names and in their order (innermost
dimension first, the global strides in bytes and without the innermost). Out: a checked `TensorMap`, an argument of
`Module.launch`; a kernel gets the 128 bytes that `encoding` makes of it.

Source: CUDA Driver API, Tensor Map Object Management; PTX ISA §5.5 (Tensors).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ptxsim.tensor_maps import tensor_map_rules as rules
from ptxsim.tensor_maps.tensor_layout import Im2col, TensorLayout

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


@dataclass(frozen=True, eq=False)
class TensorMap(TensorLayout):
    """A tensor in global memory and a box of it; made by `tiled` or `im2col`."""

    global_address: NDArray
    l2_promotion: str

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
        array = rules.global_address(global_address)
        tensor = cls(
            global_address=array,
            element_type=_element_type(array.dtype),
            global_dim=rules.dimensions(global_dim, rank),
            global_strides=rules.strides(global_strides, rank),
            element_strides=rules.element_strides(element_strides, rank),
            box=rules.box(box_dim, rank),
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
        array = rules.global_address(global_address)
        tensor = cls(
            global_address=array,
            element_type=_element_type(array.dtype),
            global_dim=dimensions,
            global_strides=rules.strides(global_strides, rank),
            element_strides=rules.element_strides(element_strides, rank),
            box=Im2col(lower, upper, *rules.columns(channels_per_pixel, pixels_per_column)),
            swizzle=rules.choice("swizzle", swizzle, rules.SWIZZLES),
            l2_promotion=rules.choice("l2_promotion", l2_promotion, rules.PROMOTIONS),
            oob_fill=rules.choice("oob_fill", oob_fill, rules.FILLS),
        )
        return tensor._checked("channels_per_pixel", interleave)

    def _checked(self, inner_name: str, interleave: str) -> Self:
        """The same map after the checks that need several of its fields."""
        rules.require_no_interleave(interleave)
        rules.require_inner_box(inner_name, self.shape[0] * self.element_bytes, self.swizzle)
        rules.require_fill(self.oob_fill, self.element_type)
        return self


def _element_type(dtype: np.dtype) -> str:
    return _ELEMENT_TYPES.get(dtype, _UNSIGNED[dtype.itemsize])
