"""A launch: what it takes as arguments and shapes, and what it refuses. The running example on both architectures."""

import numpy as np
import pytest
from kernel_text import OWN_WORD, kernel, launch

import tinyc
from tinyc import simulator
from tinyc.diagnostics import TinycError

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
    with pytest.raises(TinycError, match="parameter 1 'n'") as error:
        launch(kernel(COPY, WITH_NUMBER), [np.zeros(1, np.uint32), argument], 1)
    assert error.value.name == "InputMismatch"


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"grid": (0, 1, 1)}, "grid"),
        ({"block": (1025, 1, 1)}, "block"),
        ({"block": (64, 32, 1)}, "1024"),
        ({"grid": (3, 1, 1), "cluster": (2, 1, 1)}, "cluster"),
        ({"checks": ("bound",)}, "did you mean 'bounds'"),
        ({"dynamic_shared_bytes": 300_000}, "shared memory"),
    ],
)
def test_a_shape_that_no_gpu_takes_is_an_error(options, message):
    with pytest.raises(TinycError, match=message):
        launch(kernel("ret;", ""), [], **options)


def test_a_required_block_is_required():
    with pytest.raises(TinycError, match="requires"):
        launch(kernel("ret;", "", directives=".reqntid 16, 16, 1"), [], 256)


def test_a_kernel_that_is_not_there_is_an_error():
    with pytest.raises(TinycError, match="did you mean 'k'"):
        simulator.load(kernel("ret;", "")).launch("kk", (1, 1, 1), (1, 1, 1), [])


def test_a_missing_argument_is_an_error():
    with pytest.raises(TinycError, match="1 parameters; 0 arguments"):
        launch(kernel("ret;"), [])


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (7, 5, 3), (33, 65, 40)])
def test_the_running_example_computes_the_right_numbers(arch, m, n, k):
    model = tinyc.compile("examples/gemm_bias_relu.json", target="cuda", arch=arch)
    text = model.text("ptx")
    module = simulator.load(text)
    generator = np.random.default_rng(1)
    x, w, bias = (generator.standard_normal(shape).astype(np.float16) for shape in ((m, k), (k, n), (n,)))
    y = np.full((m, n), np.nan, np.float16)
    (name,) = module.kernels
    grid = (-(-n // 64), -(-m // 64), 1)
    report = module.launch(name, grid, (16, 16, 1), [x, w, bias, y, np.int64(m), np.int64(k), np.int64(n)])
    assert report.ok, str(report)
    want = np.maximum(x.astype(np.float64) @ w.astype(np.float64) + bias, 0)
    np.testing.assert_allclose(y, want, rtol=1e-3, atol=1e-3)


def test_a_tensor_map_takes_128_bytes_and_its_array_is_memory():
    # the kernel reads the array of the map at its own address, which it gets as another argument
    source, out = np.arange(64, dtype=np.float32).reshape(8, 8), np.zeros(1, np.uint32)
    tensor = simulator.TensorMap.tiled(2, source, (8, 8), (32,), (8, 8), (1, 1))
    body = (
        """ld.param.u64 %d0, [out]; ld.param.u64 %d1, [x]; ld.global.u32 %r1, [%d1+4]; st.global.u32 [%d0], %r1; ret;"""
    )
    text = kernel(body, ".param .u64 out, .param .align 64 .b8 map[128], .param .u64 x")
    assert launch(text, [out, tensor, source], 1).ok
    assert out.view(np.float32)[0] == 1.0
