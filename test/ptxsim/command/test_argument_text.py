"""The arguments of `ptxsim` as text: numbers, arrays, bytes and tensor maps, and what Triton makes of them."""

import json
import re

import ml_dtypes
import numpy as np
import pytest

from ptxsim import TensorMap
from ptxsim.command.argument_text import read_arguments
from ptxsim.command.elements import stored
from ptxsim.command.triton_metadata import read_metadata
from ptxsim.errors import InputError, PtxsimError
from ptxsim.parsing.parser import parse
from ptxsim_cases.case import DATA

BF16 = np.dtype(ml_dtypes.bfloat16)


def value_of(text, seed=0):
    (given,) = read_arguments([text], seed)
    return given.value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i32:-2", np.int32(-2)),
        ("s32:7", np.int32(7)),
        ("u64:0xffffffffffffffff", np.uint64(2**64 - 1)),
        ("f32:0.1", np.float32(0.1)),
        ("fp16:-inf", np.float16(-np.inf)),
        ("bf16:1.5", ml_dtypes.bfloat16(1.5)),
        ("n=e4m3:448", ml_dtypes.float8_e4m3fn(448)),
        ("e5m2:-0.0", ml_dtypes.float8_e5m2(-0.0)),
    ],
)
def test_a_number_has_exactly_its_type(text, expected):
    value = value_of(text)
    assert isinstance(value, np.generic)
    assert (value.dtype, value.tobytes()) == (expected.dtype, expected.tobytes())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f32[2,3]:zeros", np.zeros((2, 3), np.float32)),
        ("x=i16[2, 2]:arange", np.array([[0, 1], [2, 3]], np.int16)),
        ("bf16[3]:-1.5", np.full(3, -1.5, BF16)),
        ("u8[2]:255", np.full(2, 255, np.uint8)),
    ],
)
def test_an_array_is_filled_as_it_says(text, expected):
    value = value_of(text)
    assert isinstance(value, np.ndarray)
    assert (value.dtype, value.shape) == (expected.dtype, expected.shape)
    assert value.tobytes() == expected.tobytes()


def test_random_arrays_are_between_their_limits_and_differ_by_argument():
    first, second = (each.value for each in read_arguments(["i32[500]:random:3:9", "i32[500]:random:3:9"], 1))
    assert (set(first.tolist()), set(second.tolist())) == ({*range(3, 9)}, {*range(3, 9)})
    assert first.tolist() != second.tolist()
    floats = value_of("f16[500]:random:-2:-1")
    assert ((floats >= -2) & (floats <= -1)).all()
    assert len(np.unique(floats)) > 100


def test_an_array_of_a_file_keeps_its_bits(tmp_path):
    values = np.arange(6, dtype=np.float32).reshape(2, 3).astype(BF16)
    np.save(tmp_path / "x.npy", stored(values))
    value = value_of(f"bf16[2,3]:{tmp_path / 'x.npy'}")
    assert value.dtype == BF16
    assert value.tobytes() == values.tobytes()


@pytest.mark.parametrize("array", [np.arange(6, dtype=">i4").reshape(2, 3), np.asfortranarray([[0, 1, 2], [3, 4, 5]])])
def test_an_array_of_a_file_is_little_endian_and_row_major(tmp_path, array):
    np.save(tmp_path / "x.npy", array.astype(array.dtype.newbyteorder(">"), order="K"))
    value = value_of(str(tmp_path / "x.npy"))
    assert value.tolist() == array.tolist()
    assert value.tobytes() == np.arange(6, dtype=array.dtype.newbyteorder("<")).tobytes()


def test_the_array_of_another_argument_is_that_array():
    first, second, third = read_arguments(["x=f32[4]:zeros", "same:x", "same:0"], 0)
    assert first.value is second.value is third.value


def test_bytes_are_passed_as_they_are(tmp_path):
    (tmp_path / "raw").write_bytes(b"\x00\xff")
    assert value_of("bytes:00ff2a") == b"\x00\xff\x2a"
    assert value_of(f"bytes:@{tmp_path / 'raw'}") == b"\x00\xff"


def test_a_tensor_map_takes_from_the_array_what_is_not_written(tmp_path):
    text = '{"array": "x", "box_dim": [64, 8], "swizzle": "128B"}'
    (tmp_path / "map.json").write_text(text)
    x, *maps = read_arguments(["x=f16[100,160]:random", f"tma:{text}", f"m=tma:@{tmp_path / 'map.json'}"], 0)
    for each in maps:
        tensor = each.value
        assert isinstance(tensor, TensorMap)
        assert tensor.global_address is each.array is x.value
        assert (tensor.global_dim, tensor.global_strides) == ((160, 100), (320,))
        assert (tensor.box, tensor.swizzle, tensor.element_strides) == ((64, 8), "128B", (1, 1))


def test_a_tensor_map_may_have_an_array_of_its_own_and_another_view_of_it():
    tensor = value_of(
        'tma:{"array": "f32[1024]:arange", "tensor_rank": 2, "global_dim": [16, 32], "global_strides": '
        '[128], "box_dim": [8, 8], "element_strides": [1, 1]}'
    )
    assert (tensor.global_address[5], tensor.global_dim, tensor.global_strides) == (5, (16, 32), (128,))


def test_a_tensor_map_of_an_image():
    corners = '"pixel_box_lower_corner": [-1, -1], "pixel_box_upper_corner": [-1, -1]'
    tensor = value_of(
        f'tma:{{"array": "f16[2,9,9,64]:zeros", "channels_per_pixel": 64, "pixels_per_column": 32, {corners}}}'
    )
    assert tensor.global_dim == (64, 9, 9, 2)
    assert tensor.shape == (64, 32)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", "this is no argument"),
        ("x=", "this is no argument"),
        ("f33[2]:zeros", "there is no element type 'f33'; did you mean"),
        ("f32[]:zeros", "is no shape"),
        ("f32[2,]:zeros", "is no shape"),
        ("f32[2]:ones", "'ones' is no number of type f32; an array is zeros, arange, random"),
        ("f32[2]:random:1", "is no number"),
        ("f32[2]:random:2:1", "there is no number from 2.0 to 1.0"),
        ("i32[2]:random:2:2", "there is no integer from 2 to 2 - 1"),
        ("f32[999999999999999,999999999999999]:zeros", "there is no memory for an array"),
        ("i32:0.5", "'0.5' is no number of type i32"),
        ("u8:256", "256 is no u8, which goes from 0 to 255"),
        ("i32:" + "9" * 10_000, "is no number of type i32"),
        ("f16:1e6", "1000000.0 is no f16, which goes up to 65504"),
        ("bytes:0g", "is no row of bytes"),
        ("same:y", "there is no array argument 'y'; there are none"),
        ("none.npy", "cannot read the file"),
        ("f32[2]:none.npy", "cannot read the file"),
        ("bytes:@none", "cannot read the file"),
        ("tma:{", "the tensor map is no JSON"),
        ("tma:[]", "the tensor map is no JSON object"),
        ("tma:{}", "the tensor map has no 'array'"),
        ('tma:{"array": "f16[64,64]:0"}', "the tensor map lacks box_dim"),
        ('tma:{"array": "f16[64,64]:0", "box": [8, 8]}', "a tensor map has no 'box'; did you mean 'box_dim'"),
        ('tma:{"array": "f16[64,64]:0", "box_dim": [1000, 8]}', r"box_dim\[0\] = 1000 is not within 1 … 256"),
        ('tma:{"array": "y=f16[64,64]:0", "box_dim": [8, 8]}', "stands before all of it, as in y=tma:{…}"),
        ('tma:{"array": "f16[64,64]:0", "box_dim": 8}', "box_dim = 8 is not made of integers"),
        ('tma:{"array": "f16[64,64]:0", "box_dim": [8, 8], "swizzle": 1}', "swizzle is 1; there are 'none'"),
    ],
)  # fmt: skip
def test_what_is_no_argument_is_an_error_that_names_it(text, message):
    with pytest.raises(PtxsimError, match=message) as caught:
        read_arguments(["i32:1", text], 0)
    assert re.search(r"argument 1 '", caught.value.message)


@pytest.mark.parametrize(
    ("array", "text", "message"),
    [
        (np.zeros((2, 3), np.float32), "f32[3,2]:FILE", r"of shape \[2, 3\], not \[3, 2\]"),
        (np.zeros(2), "f32[2]:FILE", "the file holds f64, not f32"),
        (np.zeros(2, np.complex64), "FILE", "the file holds complex64; give one of i8, i16"),
        (np.zeros(2, "V2"), "FILE", r"the file holds \|V2; give one of"),
    ],
)
def test_an_array_of_another_type_or_shape_is_an_error(tmp_path, array, text, message):
    np.save(tmp_path / "x.npy", array)
    with pytest.raises(InputError, match=message):
        value_of(text.replace("FILE", str(tmp_path / "x.npy")))


def test_a_name_is_given_once():
    with pytest.raises(InputError, match="the name 'x' is given twice"):
        read_arguments(["x=i32:1", "x=i32:2"], 0)


@pytest.fixture
def tma(tmp_path):
    """The parameters of a kernel with three tensor descriptors, and Triton's facts about it."""
    facts = json.loads((DATA / "triton" / "matmul_tma.json").read_text())
    path = tmp_path / "matmul_tma.json"
    names = {"num_warps": facts["num_warps"], "shared": facts["shared_bytes"], "profile_scratch_size": 16}
    path.write_text(json.dumps(names | {"tensordesc_meta": facts["tensor_descriptors"]}))
    kernel = parse((DATA / "triton" / "matmul_tma.ptx").read_text()).functions["matmul_tma"]
    return kernel.parameters, read_metadata(path)


def test_triton_passes_a_tensor_descriptor_as_map_shape_and_strides(tma):
    parameters, facts = tma
    arrays = [np.zeros(shape, np.float16) for shape in ((100, 160), (72, 160), (100, 72))]
    passed = facts.arguments([*arrays, np.int32(160)], parameters, 4)
    assert len(passed) == len(parameters) == 3 * 5 + 1 + 2
    for number, (array, columns) in enumerate(zip(arrays, (160, 160, 72), strict=True)):
        tensor, *numbers = passed[5 * number : 5 * number + 5]
        assert tensor.global_address is array
        assert (tensor.box, tensor.swizzle) == ((64, 64), "128B")
        assert numbers == [len(array), columns, columns, 1]
        assert [each.dtype for each in numbers] == [np.int32, np.int32, np.int64, np.int64]
    assert passed[-3:-1] == [np.int32(160), np.uint64(0)]
    assert passed[-1].nbytes == 4 * 16  # scratch memory of four CTAs


def test_a_descriptor_more_than_triton_describes_is_an_error(tma):
    parameters, facts = tma
    array = np.zeros((64, 64), np.float16)
    with pytest.raises(InputError, match="describes 0 tensor descriptors, and the kernel has more"):
        type(facts)(None, 128, 1, 0, (0, 0), ()).arguments([array], parameters, 1)
