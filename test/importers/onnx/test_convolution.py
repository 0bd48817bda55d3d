"""Pads of convolutions that are found, opsets, and errors by name."""

import numpy as np
import onnx
import pytest

import tinyc
from tinyc import TinycError


def model_of(body: str, opset: int = 21) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> g {body}')


def run(body: str, opset: int, **inputs: np.ndarray) -> np.ndarray:
    return next(iter(tinyc.compile(model_of(body, opset), "cpu").run_named(inputs).values()))


def error_of(body: str) -> str:
    with pytest.raises(TinycError) as caught:
        tinyc.compile(model_of(body), "cpu")
    return str(caught.value)


@pytest.mark.parametrize("opset", [13, 22])
@pytest.mark.parametrize(("auto_pad", "pads"), [("SAME_UPPER", [0, 1]), ("SAME_LOWER", [1, 0]), ("VALID", [0, 0])])
def test_automatic_pads_are_pads(opset, auto_pad, pads):
    x, w = (np.arange(n, dtype=np.float32).reshape(1, 1, n) for n in (6, 3))
    body = "(float[1,1,6] x, float[1,1,3] w) => (float[1,1,n] y) {{ y = Conv <strides = [2], {}> (x, w) }}"
    one = run(body.format(f'auto_pad = "{auto_pad}"'), opset, x=x, w=w)
    np.testing.assert_array_equal(one, run(body.format(f"pads = {pads}"), opset, x=x, w=w))


def test_pads_of_an_image_of_any_size_are_found_without_strides():
    body = '(float[1,1,N] x, float[1,1,4] w) => (float[1,1,N] y) { y = Conv <auto_pad = "SAME_LOWER"> (x, w) }'
    x, w = np.ones((1, 1, 5), np.float32), np.ones((1, 1, 4), np.float32)
    np.testing.assert_array_equal(run(body, 21, x=x, w=w).ravel(), [2, 3, 4, 4, 3])
    assert "with strides needs extents that are numbers, not N; bind them: --bind N=SIZE" in error_of(
        body.replace("<auto_pad", "<strides = [2], auto_pad")
    )


def test_a_kernel_that_contradicts_the_weights_is_refused():
    body = "(float[1,1,6] x, float[1,1,3] w) => (float[1,1,n] y) { y = Conv <kernel_shape = [2]> (x, w) }"
    assert "Conv: kernel_shape [2] is not that of the weights, [3]" in error_of(body)


@pytest.mark.parametrize("op", ["Conv", "ConvTranspose"])
def test_an_unknown_way_to_pad_is_refused(op):
    body = f'(float[1,1,6] x, float[1,1,3] w) => (float[1,1,n] y) {{ y = {op} <auto_pad = "FULL"> (x, w) }}'
    assert f"{op}: auto_pad is 'FULL'" in error_of(body)


@pytest.mark.parametrize("auto_pad", ["NOTSET", "SAME_UPPER"])
def test_the_shape_of_a_transposed_convolution_says_its_pads(auto_pad):
    body = "(float[1,1,3] x, float[1,1,4] w) => (float[1,1,7] y) {{ y = ConvTranspose <strides = [2], {}> (x, w) }}"
    x, w = np.arange(1, 4, dtype=np.float32).reshape(1, 1, 3), np.array([[[1, 10, 100, 1000]]], np.float32)
    whole = np.array([1, 10, 102, 1020, 203, 2030, 300, 3000], np.float32)
    found = run(body.format(f'output_shape = [7], auto_pad = "{auto_pad}"'), 21, x=x, w=w)
    np.testing.assert_array_equal(found.ravel(), whole[1:] if auto_pad == "NOTSET" else whole[:-1])


def test_a_fold_of_blocks():
    body = """(float[1,4,6] x) => (float[1,1,3,4] y) {
        image = Constant <value_ints: ints = [3, 4]> ()
        block = Constant <value_ints: ints = [2, 2]> ()
        y = Col2Im (x, image, block)
    }"""
    found = run(body, 18, x=np.ones((1, 4, 6), np.float32))
    np.testing.assert_array_equal(found[0, 0], np.outer([1, 2, 1], [1, 2, 2, 1]))
