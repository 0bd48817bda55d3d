"""The listings of the specification, and the examples: they import as printed, and mean what they say."""

import numpy as np
import pytest

from importers.documents import output, signature, steps
from programs.example_bindings import CONV as CONV_SIZES
from programs.example_bindings import EXAMPLES
from tinyc.executors import reference
from tinyc.importers import tiny_json

BIND = {"conv2d": CONV_SIZES, "cumulative_sum": {"K": 7}}
ALL = sorted(EXAMPLES.glob("*.json"))


def example(name, **bind):
    return tiny_json.import_program(EXAMPLES / f"{name}.json", bind)


def run(name, inputs, **bind):
    return reference.evaluate_module(example(name, **bind), inputs)


def random(*shape, dtype=np.float16, seed=0):
    return (np.random.default_rng(seed).random(shape) - 0.5).astype(dtype)


@pytest.mark.parametrize("path", ALL, ids=[path.stem for path in ALL])
def test_every_example_imports_and_verifies(path):
    module = tiny_json.import_program(path, BIND.get(path.stem))
    with module.context:
        assert module.operation.verify()


@pytest.mark.parametrize("path", ALL, ids=[path.stem for path in ALL])
def test_every_example_survives_the_way_out_and_in(path):
    module = tiny_json.import_program(path, BIND.get(path.stem))
    text = tiny_json.dump(module)
    assert str(tiny_json.import_program(text)) == str(module)
    assert tiny_json.dump(tiny_json.import_program(text)) == text


@pytest.mark.parametrize(
    ("name", "inputs", "outputs"),
    [
        ("gemm_bias_relu", {"X": "fp16 [M, K]", "W": "fp16 [K, N]", "bias": "fp16 [N]"}, {"Y": "fp16 [M, N]"}),
        ("gemm_000", {"A": "fp16 [M, K]", "B": "fp16 [K, N]", "bias": "fp16 [N]"}, {"C2": "fp16 [M, N]"}),
        ("gemm_001", {"A": "fp16 [M, K]", "B": "fp16 [K, N]"}, {"n9": "fp16 [M, N]"}),
        ("attention", {"Q": "fp16 [B, H, M, D]", "K": "fp16 [B, H, N, D]"}, {"n15": "fp16 [B, H, M, N]"}),
    ],
)
def test_the_listings_of_the_specification(name, inputs, outputs):
    assert signature(example(name)) == [inputs, outputs]


@pytest.mark.parametrize(("name", "a", "b"), [("gemm_bias_relu", "X", "W"), ("gemm_000", "A", "B")])
def test_gemm_bias_relu(name, a, b):
    x, w, bias = random(7, 3), random(3, 5, seed=1), random(5, seed=2)
    (y,) = run(name, {a: x, b: w, "bias": bias}).values()
    expected = np.maximum(x.astype(np.float32) @ w.astype(np.float32) + bias.astype(np.float32), 0)
    np.testing.assert_allclose(y, expected, rtol=1e-3, atol=1e-3)


def test_attention():
    q, k = random(2, 3, 4, 8), random(2, 3, 5, 8, seed=1)
    scores = np.einsum("bhmd,bhnd->bhmn", q.astype(np.float64), k.astype(np.float64))
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = weights / weights.sum(-1, keepdims=True)
    np.testing.assert_allclose(run("attention", {"Q": q, "K": k})["n15"], expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("groups", [1, 2])
def test_conv2d(groups):
    n, cin, rcout, h, w = 2, 3, 2, 9, 8
    x, weight = random(n, groups * cin, h, w), random(groups * rcout, cin, 3, 3, seed=1)
    bias = random(groups * rcout, seed=2)
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))[:, :, ::2, ::2]
    windows = windows.reshape(n, groups, cin, *windows.shape[2:])
    expected = np.einsum("ngcyxkl,grckl->ngryx", windows, weight.reshape(groups, rcout, cin, 3, 3).astype(np.float64))
    expected = expected.reshape(n, groups * rcout, *expected.shape[3:]) + bias.astype(np.float64)[:, None, None]
    result = run("conv2d", {"X": x, "W": weight, "bias": bias}, **CONV_SIZES)["y"]
    np.testing.assert_allclose(result, expected, rtol=1e-3, atol=1e-3)


def test_softmax():
    x = random(3, 9, dtype=np.float32) * 20
    weights = np.exp(x - x.max(-1, keepdims=True))
    np.testing.assert_allclose(run("softmax", {"X": x})["y"], weights / weights.sum(-1, keepdims=True), rtol=1e-5)


def test_layer_norm():
    x, gamma, beta = random(3, 256, dtype=np.float32), random(256, dtype=np.float32), random(256, dtype=np.float32)
    expected = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * gamma + beta
    result = run("layer_norm", {"X": x, "gamma": gamma, "beta": beta})["y"]
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


def test_cumulative_sum():
    x = random(3, 7, dtype=np.float32)
    np.testing.assert_allclose(run("cumulative_sum", {"X": x}, K=7)["y"], np.cumsum(x, -1), rtol=1e-5, atol=1e-6)


def test_gather():
    table, index = random(10, 4), np.array([[0, 9, 3], [3, 1, 1]], np.int32)
    np.testing.assert_array_equal(run("gather", {"table": table, "index": index})["y"], table[index])


def test_topk():
    x = random(3, 9, dtype=np.float32)
    result = run("topk", {"X": x})
    np.testing.assert_array_equal(result["t#1"], np.argsort(-x, axis=-1)[:, :3])
    np.testing.assert_allclose(result["p"].sum(-1), 1, rtol=1e-5)


def test_a_layer_with_gelu():
    module = example("mlp_gelu_000")
    assert output(module) == "bf16 [M, N]"
    assert steps(module)[-1] == ("Y", "cast")
