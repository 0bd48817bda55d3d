"""Einsum of many operands, and what a Gemm of integers refuses."""

import numpy as np
import onnx
import pytest

import tinyc
from tinyc import TinycError


def model_of(body: str, opset: int = 21) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> g {body}')


@pytest.mark.parametrize("equation", ["ab,bc,cd->ad", "ab,bc,cd", "...b,bc,c->...", "ab,bc,cd->"])
def test_an_einsum_of_three_operands_is_two(equation):
    body = f'(float[2,3] a, float[3,4] b, float[4{"" if equation.count("c,c") else ",5"}] c) => (float y) {{'
    body = body.replace("float[4]", "float[4]") + f' y = Einsum <equation = "{equation}"> (a, b, c) }}'
    if equation.startswith("..."):
        body = body.replace("float[4,5]", "float[4]")
    rng = np.random.default_rng(0)
    arrays = {"a": rng.random((2, 3)), "b": rng.random((3, 4)), "c": rng.random(4 if equation[0] == "." else (4, 5))}
    arrays = {name: each.astype(np.float32) for name, each in arrays.items()}
    (found,) = tinyc.compile(model_of(body), "cpu").run_named(arrays).values()
    np.testing.assert_allclose(found, np.einsum(equation, *arrays.values()), rtol=1e-5)


def test_integers_are_not_scaled_by_fractions():
    body = "(int32[2,3] a, int32[3,4] b) => (int32[2,4] y) { y = Gemm <alpha = 0.5> (a, b) }"
    with pytest.raises(TinycError, match="a factor of 0.5 for numbers of i32; it is whole"):
        tinyc.compile(model_of(body), "cpu")
