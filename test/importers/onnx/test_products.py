"""Einsum of many operands, and what a Gemm of integers refuses."""

import numpy as np
import onnx
import pytest

import tinyc
from tinyc import TinycError


def model_of(body: str, opset: int = 21) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> g {body}')


@pytest.mark.parametrize("equation", ["ab,bc,cd->ad", "ab,bc,cd", "...b,bc,cd->...", "ab,bc,cd->"])
def test_an_einsum_of_three_operands_is_two(equation):
    rng = np.random.default_rng(0)
    arrays = {
        name: rng.random(shape).astype(np.float32) for name, shape in zip("abc", ((2, 3), (3, 4), (4, 5)), strict=True)
    }
    expected = np.einsum(equation, *arrays.values())
    result = f"float[{','.join(map(str, expected.shape))}] y" if expected.shape else "float y"
    inputs = "float[2,3] a, float[3,4] b, float[4,5] c"
    body = f'({inputs}) => ({result}) {{ y = Einsum <equation = "{equation}"> (a, b, c) }}'
    (found,) = tinyc.compile(model_of(body), "cpu").run_named(arrays).values()
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_integers_are_not_scaled_by_fractions():
    body = "(int32[2,3] a, int32[3,4] b) => (int32[2,4] y) { y = Gemm <alpha = 0.5> (a, b) }"
    with pytest.raises(TinycError, match=r"a factor of 0\.5 for numbers of i32; it is whole"):
        tinyc.compile(model_of(body), "cpu")
