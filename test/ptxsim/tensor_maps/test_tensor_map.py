"""Tensor maps: what the driver accepts and refuses, and what a map says about its boxes.

The rules are those of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col (CUDA Driver API).
"""

import ml_dtypes
import numpy as np
import pytest

from ptxsim.errors import InputError
from ptxsim.tensor_maps.tensor_map import TensorMap

TILED = {
    "tensor_rank": 2,
    "global_address": np.zeros((48, 64), np.float16),
    "global_dim": (64, 48),
    "global_strides": (128,),
    "box_dim": (64, 8),
    "element_strides": (1, 1),
}
IM2COL = {
    "tensor_rank": 4,
    "global_address": np.zeros((2, 5, 6, 16), np.float32),
    "global_dim": (16, 6, 5, 2),
    "global_strides": (64, 384, 1920),
    "pixel_box_lower_corner": (-1, -1),
    "pixel_box_upper_corner": (-1, -1),
    "channels_per_pixel": 8,
    "pixels_per_column": 32,
    "element_strides": (1, 1, 1, 1),
}


def tiled(**changes):
    return TensorMap.tiled(**{**TILED, **changes})


def im2col(**changes):
    return TensorMap.im2col(**{**IM2COL, **changes})


def wide(rank, **changes):
    """A tiled map of `rank` dimensions of 16 bytes of f32."""
    array = np.zeros((4,) * rank, np.float32)
    strides = [16 * 4**axis for axis in range(rank - 1)]
    return TensorMap.tiled(rank, array, (4,) * rank, strides, (4,) * rank, (1,) * rank, **changes)


# A map may have one to five dimensions.
@pytest.mark.parametrize("rank", range(1, 6))
def test_ranks_one_to_five_are_accepted(rank):
    assert wide(rank).rank == rank


# The largest of everything is still accepted.
def test_limits_are_inclusive():
    accepted = tiled(
        global_dim=(2**32, 2**32), global_strides=(2**40 - 16,), box_dim=(256, 256), element_strides=(8, 8)
    )
    assert accepted.global_dim == (2**32, 2**32)


# The bytes that a box counts are those of the whole box.
def test_byte_count_is_that_of_the_box():
    assert tiled(box_dim=(64, 8)).byte_count == 64 * 8 * 2
    assert im2col().byte_count == 8 * 32 * 4


# A traversal stride n leaves ceil(box / n) elements; that of the innermost dimension is ignored.
def test_element_strides_shrink_the_box_but_for_the_innermost_dimension():
    strided = tiled(box_dim=(64, 7), element_strides=(2, 3))
    assert strided.shape == (64, 3)
    assert strided.byte_count == 64 * 3 * 2


# The array's type is the map's; the API has one type of 8 bits.
@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        (np.float16, "f16"),
        (ml_dtypes.bfloat16, "bf16"),
        (np.float32, "f32"),
        (np.float64, "f64"),
        (np.int32, "s32"),
        (np.uint32, "u32"),
        (np.int64, "s64"),
        (np.uint64, "u64"),
        (np.int8, "u8"),
        (np.uint16, "u16"),
        (ml_dtypes.float8_e4m3fn, "u8"),
    ],
)
def test_element_type_is_that_of_the_array(dtype, expected):
    array = np.zeros(256, dtype)
    tensor = TensorMap.tiled(1, array, (256,), (), (16,), (1,))
    assert tensor.element_type == expected
    assert tensor.element_bytes == array.itemsize


# Out of bounds is zero, or a NaN where that is asked for.
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_fill_is_zero_or_nan(dtype):
    array = np.zeros((4, 64), dtype)
    row = 64 * array.itemsize
    zeros, nans = (
        TensorMap.tiled(2, array, (64, 4), (row,), (8, 4), (1, 1), oob_fill=fill)
        for fill in ("zeros", "nan_request_zero_fma")
    )
    assert np.frombuffer(zeros.fill, dtype)[0] == 0
    assert np.isnan(np.frombuffer(nans.fill, dtype).astype(np.float64)[0])


# A view is aligned by where it begins in the array that owns the memory.
def test_a_view_is_aligned_by_its_place_in_its_owner():
    owner = np.zeros(4096, np.float16)
    assert tiled(global_address=owner[8:]).element_bytes == 2
    with pytest.raises(InputError, match="lies 2 bytes into the array it is a view of, no multiple of 16 bytes"):
        tiled(global_address=owner[1:])


REFUSED = [
    ({"tensor_rank": 0}, "tensor_rank = 0 is not within 1 … 5"),
    ({"tensor_rank": 6}, "tensor_rank = 6 is not within 1 … 5"),
    ({"global_address": 4096}, "global_address is a int; give the numpy array"),
    ({"global_address": np.zeros((48, 64), np.complex64)}, "element type complex64, which no tensor map has"),
    ({"global_address": np.zeros((48, 64), np.float16).T}, "global_address is not contiguous"),
    ({"global_dim": (64,)}, "global_dim has 1 entries; a tensor of this rank has 2"),
    ({"global_dim": (64, 0)}, "global_dim[1] = 0 is not within 1 … 4294967296"),
    ({"global_dim": (2**32 + 1, 48)}, "global_dim[0] = 4294967297 is not within"),
    ({"global_dim": (64, 1.5)}, "global_dim[1] = 1.5 is no integer"),
    ({"global_strides": (128, 6144)}, "global_strides has 2 entries; a tensor of this rank has 1"),
    ({"global_strides": (136,)}, "global_strides[0] = 136 is not a multiple of 16 bytes"),
    ({"global_strides": (2**40,)}, "global_strides[0] = 1099511627776 is not within 0 … 1099511627775"),
    ({"box_dim": (64, 257)}, "box_dim[1] = 257 is not within 1 … 256"),
    ({"box_dim": (0, 8)}, "box_dim[0] = 0 is not within 1 … 256"),
    ({"box_dim": (4, 8)}, "box_dim[0] makes rows of 8 bytes, no multiple of 16 bytes"),
    ({"element_strides": (1, 9)}, "element_strides[1] = 9 is not within 1 … 8"),
    ({"element_strides": (1, 0)}, "element_strides[1] = 0 is not within 1 … 8"),
    ({"swizzle": "64B"}, "box_dim[0] makes rows of 128 bytes, longer than the 64 bytes of swizzle '64B'"),
    ({"swizzle": "128B", "box_dim": (32, 8)}, "rows of 64 bytes, shorter than the 128 bytes of swizzle '128B'"),
    ({"swizzle": "256B"}, "swizzle is '256B'; there are 'none', '32B', '64B', '128B'"),
    ({"interleave": "64B"}, "interleave is '64B'; there are 'none', '16B', '32B'"),
    ({"interleave": "16B"}, "interleave '16B' is not modelled by the simulator; use 'none'"),
    ({"l2_promotion": "512B"}, "l2_promotion is '512B'; there are 'none', '64B', '128B', '256B'"),
    ({"oob_fill": "nan"}, "oob_fill is 'nan'; there are 'zeros', 'nan_request_zero_fma'"),
    (
        {"oob_fill": "nan_request_zero_fma", "global_address": np.zeros((48, 64), np.int16)},
        "oob_fill 'nan_request_zero_fma' needs elements of a floating-point type, not u16",
    ),
]


# What the driver refuses is refused with the parameter, its value and the rule.
@pytest.mark.parametrize(("changes", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_a_tiled_map_that_the_driver_refuses_is_an_error(changes, message):
    with pytest.raises(InputError) as raised:
        tiled(**changes)
    assert message in raised.value.message


IM2COL_REFUSED = [
    ({"tensor_rank": 2}, "tensor_rank = 2 is not within 3 … 5"),
    ({"pixel_box_lower_corner": (-1,)}, "pixel_box_lower_corner has 1 entries; a tensor of this rank has 2"),
    ({"pixel_box_lower_corner": (-129, 0)}, "pixel_box_lower_corner[0] = -129 is not within -128 … 127"),
    ({"pixel_box_upper_corner": (0, 128)}, "pixel_box_upper_corner[1] = 128 is not within -128 … 127"),
    ({"pixel_box_upper_corner": (-7, -1)}, "the pixel box is empty in dimension W: it goes from -1 to -2"),
    ({"channels_per_pixel": 257}, "channels_per_pixel = 257 is not within 1 … 256"),
    ({"channels_per_pixel": 6}, "channels_per_pixel makes rows of 24 bytes, no multiple of 16 bytes"),
    ({"pixels_per_column": 1025}, "pixels_per_column = 1025 is not within 1 … 1024"),
    ({"swizzle": "32B", "channels_per_pixel": 16}, "rows of 64 bytes, longer than the 32 bytes of swizzle '32B'"),
]


# The same for im2col, whose corners have limits that depend on the rank.
@pytest.mark.parametrize(("changes", "message"), IM2COL_REFUSED, ids=[message for _, message in IM2COL_REFUSED])
def test_an_im2col_map_that_the_driver_refuses_is_an_error(changes, message):
    with pytest.raises(InputError) as raised:
        im2col(**changes)
    assert message in raised.value.message


# Corners have 16, 8 and 4 bits and a sign in 3, 4 and 5 dimensions.
@pytest.mark.parametrize(("rank", "limit"), [(3, 2**15), (4, 2**7), (5, 2**4)])
def test_limits_of_the_corners_depend_on_the_rank(rank, limit):
    spatial = rank - 2
    sizes = (4, *(2**16,) * spatial, 1)
    parameters = {
        "global_address": np.zeros(4, np.float32),
        "global_strides": (16,) * (rank - 1),
        "pixel_box_upper_corner": (0,) * spatial,
        "channels_per_pixel": 4,
        "pixels_per_column": 1,
        "element_strides": (1,) * rank,
    }
    made = TensorMap.im2col(rank, global_dim=sizes, pixel_box_lower_corner=(-limit,) * spatial, **parameters)
    assert made.shape == (4, 1)
    with pytest.raises(InputError, match="pixel_box_lower_corner"):
        TensorMap.im2col(rank, global_dim=sizes, pixel_box_lower_corner=(-limit - 1,) * spatial, **parameters)
