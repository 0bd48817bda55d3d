"""Element-wise ops of ONNX: what its own tests do not show. Chains in 16 bits, exponents, types, errors by name."""

import numpy as np
import onnx
import pytest

import tinyc
from tinyc import TinycError
from tinyc.importers.onnx.model import import_model


def model_of(body: str, opset: int = 28) -> onnx.ModelProto:
    """A model whose graph is a text: `(float[N] x) => (float[N] y) { y = Abs (x) }`."""
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> g {body}')


def run(body: str, opset: int = 28, **inputs: np.ndarray) -> list[np.ndarray]:
    """The outputs of a graph."""
    return list(tinyc.compile(model_of(body, opset), "cpu").run_named(inputs).values())


def error_of(body: str, opset: int = 28) -> str:
    """What is wrong with a graph."""
    with pytest.raises(TinycError) as caught:
        tinyc.compile(model_of(body, opset), "cpu")
    return str(caught.value)


# In f16, 2048 + 1 is 2048 again: the sum of three is formed in f32 and rounded once.
@pytest.mark.parametrize(("op", "expected"), [("Sum", 2050.0), ("Mean", 683.5)])
def test_chains_of_16_bit_floats_are_rounded_once(op, expected):
    x, one = np.array([2048.0], np.float16), np.array([1.0], np.float16)
    (found,) = run(f"(float16[1] x, float16[1] a) => (float16[1] y) {{ y = {op} (x, a, a) }}", x=x, a=one)
    assert found.dtype == np.float16
    assert found.tolist() == [expected]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint64, np.float16])
def test_maximum_of_one_and_three(dtype):
    name = np.dtype(dtype).name
    x, y = np.array([[3], [100]], dtype), np.array([7, 99, 1], dtype)
    body = f"({name}[2,1] x, {name}[3] y) => ({name}[2,3] z, {name}[3] w) {{ z = Max (x, y, x) w = Min (y) }}"
    z, w = run(body, x=x, y=y)
    np.testing.assert_array_equal(z, np.maximum(x, y))
    np.testing.assert_array_equal(w, y)


# A known exponent needs no logarithm, and so no f64.
def test_a_known_exponent_is_an_attribute():
    body = """(float[N] x) => (float[N] y) {
        two = Constant <value = int64[1] {2}> ()
        y = Pow (x, two)
    }"""
    assert 'exponent = 2.000000e+00 : f64, fn = "power"' in str(import_model(model_of(body)))
    np.testing.assert_array_equal(run(body, x=np.array([-3.0, 0.5], np.float32))[0], [9.0, 0.25])


# An exponent that makes the result larger than the base is broadcast.
def test_exponents_of_a_higher_rank():
    body = """(float x) => (float[2] y) {
        e = Constant <value = float[2] {2.0, 3.0}> ()
        y = Pow (x, e)
    }"""
    np.testing.assert_array_equal(run(body, x=np.array(3.0, np.float32))[0], [9.0, 27.0])


# Bounds may be left out, and the greatest wins over the least.
@pytest.mark.parametrize(("bounds", "expected"), [(", lo", [3, 5]), (", , hi", [1, 2]), (", lo, hi", [2, 2])])
def test_clip(bounds, expected):
    body = f"""(int8[2] x) => (int8[2] y) {{
        lo = Constant <value = int8 {{3}}> ()
        hi = Constant <value = int8 {{2}}> ()
        y = Clip (x{bounds})
    }}"""
    assert run(body, x=np.array([1, 5], np.int8))[0].tolist() == expected


def test_cast_like_reads_the_type_alone():
    body = "(float[2] x, int8[N,7] like) => (int8[2] y) { y = CastLike <saturate = 0> (x, like) }"
    assert run(body, x=np.array([1.9, -2.9], np.float32), like=np.zeros((1, 7), np.int8))[0].tolist() == [1, -2]


def test_dropout_in_inference_is_the_identity():
    body = """(float[N,3] x) => (float[N,3] y, bool[N,3] mask) {
        ratio = Constant <value = float {0.5}> ()
        y, mask = Dropout <seed = 7> (x, ratio)
    }"""
    x = np.ones((2, 3), np.float32)
    y, mask = run(body, x=x)
    np.testing.assert_array_equal(y, x)
    assert mask.dtype == np.bool_
    np.testing.assert_array_equal(mask, np.ones((2, 3), np.bool_))


def test_what_is_not_supported_is_named():
    cast = "(float[2] x) => (float8e4m3fn[2] y) { y = Cast <to = 17> (x) }"
    assert "tensors of type float8e4m3fn are out of scope" in error_of(cast)
    shift = '(uint8[2] x) => (uint8[2] y) { y = BitShift <direction = "UP"> (x, x) }'
    assert "BitShift: direction = 'UP'; it is 'LEFT' or 'RIGHT'" in error_of(shift)
    assert "BitShift needs the attribute 'direction'" in error_of(
        "(uint8[2] x) => (uint8[2] y) { y = BitShift (x, x) }"
    )
    relu = "(float[2] x) => (float[2] y) { y = Relu <slope = 0.5> (x) }"
    assert "Relu: attribute 'slope' = 0.5 is not known to it" in error_of(relu)
