"""The 128 bytes of a tensor map: they say all that copies need, and each field is replaced alone."""

import ml_dtypes
import numpy as np
import pytest

from ptxsim.errors import InputError
from ptxsim.tensor_maps.encoding import MAP_BYTES, decode_map, encode_map, replace_field
from ptxsim.tensor_maps.tensor_map import TensorMap
from ptxsim_cases.tensor_maps import im2col, tiled

_TYPES = ("u1", "u2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", ml_dtypes.bfloat16)
_FIELDS = ("element_type", "global_dim", "global_strides", "element_strides", "box", "swizzle", "oob_fill")
MAPS = [
    *(tiled(np.zeros((8, 64), each), (16, 4)) for each in _TYPES),
    *(tiled(np.zeros((4,) * rank, np.float32), (4,) * rank) for rank in range(1, 6)),
    tiled(np.zeros((8, 64), np.float16), (64, 8), (1, 3), swizzle="128B", oob_fill="nan_request_zero_fma"),
    tiled(np.zeros((8, 64), np.float16), (16, 8), swizzle="32B"),
    im2col(np.zeros((2, 6, 4), np.float32), (-(2**15),), (2**15 - 1,), 4, 1024),
    im2col(np.zeros((2, 5, 6, 4), np.float32), (-1, -2), (3, 4), 4, 8, (1, 2, 1, 1)),
    im2col(np.zeros((2, 3, 5, 6, 4), np.float32), (-1, -2, -16), (3, 4, 15), 4, 8),
]


@pytest.mark.parametrize("tensor", MAPS, ids=range(len(MAPS)))
def test_the_bytes_say_what_the_map_says(tensor: TensorMap):
    contents = encode_map(tensor, 0x7000_0000_0040, 4096)
    assert len(contents) == MAP_BYTES
    found = decode_map(contents)
    assert found is not None
    assert (found.address, found.array_bytes) == (0x7000_0000_0040, 4096)
    assert [getattr(found.layout, each) for each in _FIELDS] == [getattr(tensor, each) for each in _FIELDS]
    assert (found.layout.shape, found.layout.byte_count) == (tensor.shape, tensor.byte_count)
    assert (found.layout.fill, found.layout.reach_bytes) == (tensor.fill, tensor.reach_bytes)


def test_the_largest_extents_have_room():
    tensor = TensorMap.tiled(2, np.zeros(64, np.uint8), (2**32, 2**32), (2**40 - 16,), (256, 256), (8, 8))
    found = decode_map(encode_map(tensor, 2**64 - 16, 64))
    assert found is not None
    assert (found.layout.global_dim, found.layout.global_strides) == ((2**32, 2**32), (2**40 - 16,))


def test_other_bytes_are_no_map():
    assert decode_map(bytes(MAP_BYTES)) is None
    assert decode_map(b"\1" * MAP_BYTES) is None
    assert replace_field(b"\1" * MAP_BYTES, "rank", 0, 1) is None


@pytest.mark.parametrize(
    ("field", "ordinal", "value", "changed"),
    [
        ("global_address", 0, 0x7000_0000_1000, {}),
        ("box_dim", 1, 2, {"box": (16, 2)}),
        ("global_dim", 0, 48, {"global_dim": (48, 8)}),
        ("global_stride", 0, 512, {"global_strides": (512,)}),
        ("element_stride", 1, 2, {"element_strides": (1, 2)}),
        ("elemtype", 0, 2, {"element_type": "u32"}),
        ("swizzle_mode", 0, 2, {"swizzle": "64B"}),
        ("fill_mode", 0, 1, {"oob_fill": "nan_request_zero_fma"}),
        ("interleave_layout", 0, 0, {}),
    ],
)
def test_one_field_is_replaced(field: str, ordinal: int, value: int, changed: dict):
    tensor = tiled(np.zeros((8, 64), np.float32), (16, 4))
    contents = replace_field(encode_map(tensor, 0x7000_0000_0000, 2048), field, ordinal, value)
    assert contents is not None
    found = decode_map(contents)
    assert found is not None
    assert {each: getattr(found.layout, each) for each in _FIELDS} == {
        each: changed.get(each, getattr(tensor, each)) for each in _FIELDS
    }
    assert found.address == (value if field == "global_address" else 0x7000_0000_0000)


def test_the_rank_is_replaced_with_what_was_behind_it():
    contents = replace_field(encode_map(tiled(np.zeros((8, 64), np.float32), (16, 4)), 0, 0), "rank", 0, 0)
    found = decode_map(contents or b"")
    assert found is not None
    assert (found.layout.rank, found.layout.box) == (1, (16,))


def test_a_map_of_zeros_lacks_what_is_not_set():
    contents = replace_field(bytes(MAP_BYTES), "elemtype", 0, 7)
    with pytest.raises(InputError, match=r"global_dim\[0\] = 0 is not within 1 … 4294967296"):
        decode_map(contents or b"")
