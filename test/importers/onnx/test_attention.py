"""Masks of attention by opset, a cache of any length, and what is refused."""

import numpy as np
import onnx
import pytest

import tinyc
from tinyc import TinycError


def model_of(body: str, opset: int = 24) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : {opset}]> g {body}')


def test_a_mask_is_padded_since_opset_24():
    body = """(float[1,1,2,4] q, float[1,1,3,4] k, bool[2,2] m) => (float[1,1,2,4] y) { y = Attention (q, k, k, m) }"""
    rng = np.random.default_rng(0)
    q, k = (rng.random((1, 1, n, 4)).astype(np.float32) for n in (2, 3))
    m = np.array([[True, False], [False, True]])
    (found,) = tinyc.compile(model_of(body), "cpu").run_named({"q": q, "k": k, "m": m}).values()
    np.testing.assert_allclose(found, k[:, :, :2], rtol=1e-6)
    with pytest.raises(TinycError, match="do not broadcast"):
        tinyc.compile(model_of(body, 23), "cpu")


def test_a_cache_may_have_any_length():
    body = """(float[1,1,1,4] q, float[1,1,1,4] k, float[1,1,P,4] a) =>
        (float[1,1,1,4] y, float[1,1,T,4] b, float[1,1,T,4] c) {
        y, b, c = Attention <is_causal = 1> (q, k, k, , a, a)
    }"""
    model, rng = tinyc.compile(model_of(body), "cpu"), np.random.default_rng(0)
    for length in (1, 5):
        q, k, past = (rng.random((1, 1, n, 4)).astype(np.float32) for n in (1, 1, length))
        y, keys, _ = model.run_named({"q": q, "k": k, "a": past}).values()
        np.testing.assert_array_equal(keys, np.concatenate([past, k], 2))
        weights = np.exp((keys[0, 0] @ q[0, 0, 0]) / 2)
        np.testing.assert_allclose(y[0, 0, 0], weights @ keys[0, 0] / weights.sum(), rtol=1e-5)


def test_what_attention_is_refused_by_name():
    body = "(float[1,1,2,4] q) => (float[1,1,2,4] y) {{ y = Attention <{}> (q, q, q) }}"
    with pytest.raises(TinycError, match="qk_matmul_output_mode is 4; it is one of 0 to 3"):
        tinyc.compile(model_of(body.format("qk_matmul_output_mode = 4")), "cpu")
    flat = "(float[1,2,4] q) => (float[1,2,4] y) { y = Attention (q, q, q) }"
    with pytest.raises(TinycError, match="4 axes, or 3 and the number of heads; q is"):
        tinyc.compile(model_of(flat), "cpu")


def test_the_length_of_linear_attention_is_a_number():
    body = """(float[1,T,4] q) => (float[1,T,4] y, float[1,1,4,4] s) {
        y, s = LinearAttention <q_num_heads = 1, kv_num_heads = 1, update_rule = "linear"> (q, q, q)
    }"""
    with pytest.raises(TinycError, match="linear_attention is unrolled: its length and depth, T and 4"):
        tinyc.compile(model_of(body, 27), "cpu")
