"""A launch: what it takes as arguments and shapes, and what it refuses. The running example on both architectures."""

import ml_dtypes
import numpy as np
import pytest

import ptxsim
from ptxsim.errors import InputError, TextError
from ptxsim_cases.kernel_text import OWN_WORD, kernel, launch

COPY = "ld.param.u64 %d0, [out]; ld.param.b32 %r1, [n]; st.global.b32 [%d0], %r1; ret;"
WITH_NUMBER = ".param .u64 out, .param .b32 n"


@pytest.mark.parametrize(
    ("scalar", "bits"), [(np.int32(-2), 0xFFFFFFFE), (np.float32(1.0), 0x3F800000), (np.uint32(7), 7)]
)
def test_a_scalar_of_the_parameters_width_is_passed(scalar, bits):
    out = np.zeros(1, np.uint32)
    assert launch(kernel(COPY, WITH_NUMBER), [out, scalar], 1).ok
    assert out.tolist() == [bits]


@pytest.mark.parametrize("argument", [np.int64(1), np.float16(1), 7, 1.5, None])
def test_any_other_argument_is_an_error_that_names_the_parameter(argument):
    with pytest.raises(InputError, match="parameter 1 'n'"):
        launch(kernel(COPY, WITH_NUMBER), [np.zeros(1, np.uint32), argument], 1)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(4, ">u4"), "holds >u4; a GPU reads numbers in little-endian order"),
        (np.array([None]), "holds .O"),
    ],
)
def test_an_array_that_no_gpu_reads_is_an_error(array, message):
    with pytest.raises(InputError, match=message):
        launch(kernel(COPY, WITH_NUMBER), [array, np.int32(1)], 1)


def test_an_array_for_a_tensor_map_is_an_error_that_says_so():
    text = kernel("ret;", ".param .align 64 .b8 map[128]")
    with pytest.raises(InputError, match=r"8 bytes are given for parameter 0 'map', which has 128; .* TensorMap"):
        launch(text, [np.zeros(1, np.uint32)], 1)


def test_bytes_are_passed_as_they_are():
    out = np.zeros(1, np.uint32)
    body = "ld.param.u64 %d0, [out]; ld.param.b32 %r1, [n+8]; st.global.b32 [%d0], %r1; ret;"
    text = kernel(body, ".param .u64 out, .param .align 8 .b8 n[16]")
    assert launch(text, [out, np.arange(4, dtype=np.int32).tobytes()], 1).ok
    assert out.tolist() == [2]


def test_arrays_of_any_strides_are_updated_in_place():
    out = np.zeros((4, 8), np.uint32)
    launch(kernel(OWN_WORD + "add.u32 %r1, %r0, 1; st.global.u32 [%d0], %r1; ret;"), [out[:, ::2]], 16)
    assert out[:, ::2].reshape(-1).tolist() == list(range(1, 17))
    assert not out[:, 1::2].any()


def test_one_array_twice_is_one_memory():
    out = np.zeros(1, np.uint32)
    body = """ld.param.u64 %d0, [out]; ld.param.u64 %d1, [x]; mov.u32 %r1, 6; st.global.u32 [%d0], %r1;
    ld.global.u32 %r2, [%d1]; add.u32 %r2, %r2, 1; st.global.u32 [%d1], %r2; ret;"""
    assert launch(kernel(body, ".param .u64 out, .param .u64 x"), [out, out], 1).ok
    assert out.tolist() == [7]


#: Stores 7 to the first word of one array, then adds 1 to the first word of the other.
TWO_ARRAYS = """ld.param.u64 %d0, [out]; ld.param.u64 %d1, [x]; mov.u32 %r1, 7; st.global.u32 [%d0], %r1;
ld.global.u32 %r2, [%d1]; add.u32 %r2, %r2, 1; st.global.u32 [%d1], %r2; ret;"""


def run_on(out, x):
    return launch(kernel(TWO_ARRAYS, ".param .u64 out, .param .u64 x"), [out, x], 1)


@pytest.mark.parametrize(
    ("view", "other", "changed"),
    [
        (lambda x: x[2:6], lambda x: x[2:6], {2: 8}),
        (lambda x: x[2:6], lambda x: x[2:6].view(np.int32).reshape(2, 2), {2: 8}),
        (lambda x: x[2:6], lambda x: x, {2: 7, 0: 1}),
        (lambda x: x[2:6], lambda x: x[1:3], {2: 7, 1: 1}),
        (lambda x: x[:4], lambda x: x[4:], {0: 7, 4: 1}),
        (lambda x: x[::2], lambda x: x[1::2], {0: 7, 1: 1}),
    ],
)
def test_views_of_one_buffer_lie_as_in_the_buffer(view, other, changed):
    buffer = np.zeros(8, np.uint32)
    assert run_on(view(buffer), other(buffer)).ok
    assert {place: int(word) for place, word in enumerate(buffer) if word} == changed


def test_an_overlap_of_views_is_seen_through_a_third():
    buffer = np.arange(16, dtype=np.uint32)
    body = "ld.param.u64 %d0, [out]; ld.param.u64 %d1, [y]; sub.u64 %d2, %d1, %d0; st.global.u64 [%d0], %d2; ret;"
    text = kernel(body, ".param .u64 out, .param .u64 x, .param .u64 y")
    assert launch(text, [buffer[:8], buffer[6:12], buffer[11:]], 1).ok
    assert buffer[:2].tolist() == [44, 0]


def test_views_that_only_touch_are_apart():
    buffer = np.zeros(8, np.uint32)
    body = "ld.param.u64 %d0, [out]; st.global.u32 [%d0+16], 1; ret;"
    report = launch(kernel(body, ".param .u64 out, .param .u64 x"), [buffer[:4], buffer[4:]], 1)
    assert [finding.kind for finding in report.findings] == ["out-of-bounds"]


@pytest.mark.parametrize("view", [lambda x: x.T, lambda x: x[::2], lambda x: x[:, 1:]])
def test_a_view_with_strides_that_shares_memory_with_another_is_an_error(view):
    buffer = np.zeros((4, 4), np.uint32)
    with pytest.raises(InputError, match="share memory, and one of them is not contiguous"):
        run_on(buffer, view(buffer))


@pytest.mark.parametrize(
    ("type_name", "scalar", "message"),
    [
        ("u32", np.float32(1), r"parameter 0 'n' is an integer \(.u32\); a float, float32, is given"),
        ("s32", np.float32(1), "is an integer"),
        ("u64", np.float64(1), "is an integer"),
        ("u16", ml_dtypes.bfloat16(1), "is an integer .*; a float, bfloat16"),
        ("f32", np.int32(1), r"parameter 0 'n' is a float \(.f32\); an integer, int32, is given"),
        ("f64", np.uint64(1), "is a float"),
    ],
)
def test_a_number_of_the_other_kind_is_an_error(type_name, scalar, message):
    with pytest.raises(InputError, match=message):
        launch(kernel("ret;", f".param .{type_name} n"), [scalar])


@pytest.mark.parametrize(
    ("type_name", "scalar"),
    [("b32", np.float32(1)), ("b64", np.int64(1)), ("u32", np.int32(1)), ("f64", np.float64(1)), ("u8", np.bool_(1))],
)
def test_a_number_of_the_same_kind_or_for_bits_is_taken(type_name, scalar):
    assert launch(kernel("ret;", f".param .{type_name} n"), [scalar]).ok


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"grid": (0, 1, 1)}, "grid"),
        ({"block": (1025, 1, 1)}, "block"),
        ({"block": (64, 32, 1)}, "1024"),
        ({"grid": (3, 1, 1), "cluster": (2, 1, 1)}, "cluster"),
        ({"checks": ("bound",)}, "did you mean 'bounds'"),
        ({"dynamic_shared_bytes": 300_000}, "shared memory"),
        ({"dynamic_shared_bytes": "1"}, "dynamic_shared_bytes is '1'"),
        ({"grid": 1}, "grid is 1; it has three extents"),
        ({"grid": (1.5, 1, 1)}, r"grid is \(1.5, 1, 1\); it has three extents"),
        ({"checks": "races"}, r"as in \('races',\)"),
    ],
)
def test_a_shape_that_no_gpu_takes_is_an_error(options, message):
    with pytest.raises(InputError, match=message):
        launch(kernel("ret;", ""), [], **options)


def test_a_required_block_is_required():
    with pytest.raises(InputError, match="requires"):
        launch(kernel("ret;", "", directives=".reqntid 16, 16, 1"), [], 256)


@pytest.mark.parametrize("text", [b".version 8.6", None])
def test_what_is_no_text_is_no_module(text):
    with pytest.raises(TextError, match="give the text of a module"):
        ptxsim.load(text)


def test_a_kernel_that_is_not_there_is_an_error():
    with pytest.raises(InputError, match="did you mean 'k'"):
        ptxsim.load(kernel("ret;", "")).launch("kk", (1, 1, 1), (1, 1, 1), [])


def test_a_missing_argument_is_an_error():
    with pytest.raises(InputError, match="1 parameters; 0 arguments"):
        launch(kernel("ret;"), [])


def test_a_tensor_map_takes_128_bytes_and_its_array_is_memory():
    # the kernel reads the array of the map at its own address, which it gets as another argument
    source, out = np.arange(64, dtype=np.float32).reshape(8, 8), np.zeros(1, np.uint32)
    tensor = ptxsim.TensorMap.tiled(2, source, (8, 8), (32,), (8, 8), (1, 1))
    body = (
        """ld.param.u64 %d0, [out]; ld.param.u64 %d1, [x]; ld.global.u32 %r1, [%d1+4]; st.global.u32 [%d0], %r1; ret;"""
    )
    text = kernel(body, ".param .u64 out, .param .align 64 .b8 map[128], .param .u64 x")
    assert launch(text, [out, tensor, source], 1).ok
    assert out.view(np.float32)[0] == 1.0


def test_a_monitor_is_told_how_far_a_launch_is():
    ptx = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k() { ret; }
"""
    told = []
    ptxsim.load(ptx).launch("k", (3, 2, 1), (64, 1, 1), [], monitor=lambda *each: told.append(each))
    assert told == sorted(told)
    assert told[-1] == (6, 6, 6 * 2)
