"""What exporters write out is the op that it is; what is a little different is left alone."""

import math

import numpy as np
import pytest

from importers.onnx.models import assert_as_onnxruntime, frontend_ops, model_of, numbers, run_model

_CONSTANTS = (
    "<float half = {0.5}, float one = {1}, float root = {1.4142135381698608}, float c = {0.7978845834732056}, "
    "float a = {0.044714998453855515}, float quick = {1.702}, float minus = {-1}>"
)
GELU = {
    "erf, half last": "d = Div(x, root) e = Erf(d) f = Add(e, one) g = Mul(x, f) y = Mul(g, half)",
    "erf, half first": "d = Div(x, root) e = Erf(d) f = Add(one, e) h = Mul(half, x) y = Mul(f, h)",
    "tanh, cube of products": "q = Mul(x, x) t = Mul(q, x) u = Mul(a, t) s = Add(x, u) v = Mul(c, s) w = Tanh(v) "
    "p = Add(w, one) h = Mul(half, x) y = Mul(h, p)",
    "tanh, x outside": "q = Mul(x, x) u = Mul(q, a) k = Add(one, u) s = Mul(x, k) v = Mul(s, c) w = Tanh(v) "
    "p = Add(one, w) g = Mul(x, p) y = Mul(half, g)",
}
SILU = {
    "sigmoid": "s = Sigmoid(x) y = Mul(x, s)",
    "exponential": "n = Neg(x) e = Exp(n) f = Add(e, one) y = Div(x, f)",
    "sigmoid by its reciprocal": "n = Neg(x) e = Exp(n) f = Add(one, e) r = Reciprocal(f) y = Mul(r, x)",
    "of a product": "h = Mul(x, x) s = Sigmoid(h) y = Mul(h, s)",
}


def ops_of(body):
    return frontend_ops(model_of(body, more=_CONSTANTS))


@pytest.mark.parametrize("body", GELU.values(), ids=GELU)
def test_a_gelu_that_is_written_out_is_one_op(body):
    assert ops_of(body) == ["elementwise gelu"]


@pytest.mark.parametrize("body", SILU.values(), ids=SILU)
def test_a_silu_that_is_written_out_is_one_op(body):
    ops = ops_of(body)
    assert "elementwise silu" in ops
    assert "elementwise sigmoid" not in ops


@pytest.mark.parametrize(
    "body",
    [
        "d = Div(x, one) e = Erf(d) f = Add(e, one) g = Mul(x, f) y = Mul(g, half)",  # not sqrt(2)
        "d = Div(x, root) e = Erf(d) f = Add(e, half) g = Mul(x, f) y = Mul(g, half)",  # 1/2 + erf
        "d = Div(x, root) e = Erf(d) f = Add(e, one) z = Neg(x) g = Mul(z, f) y = Mul(g, half)",  # of -x
        "q = Mul(x, x) u = Mul(a, q) s = Add(x, u) v = Mul(c, s) w = Tanh(v) p = Add(w, one) h = Mul(half, x) "
        "y = Mul(h, p)",  # the square
        "k = Mul(x, quick) s = Sigmoid(k) y = Mul(x, s)",  # a quick GELU
        "e = Exp(x) f = Add(e, one) y = Div(x, f)",  # exp(x)
    ],
)
def test_what_is_a_little_different_is_left_alone(body):
    ops = ops_of(body)
    assert "elementwise gelu" not in ops
    assert "elementwise silu" not in ops


def gelu(x):
    return x / 2 * (1 + np.vectorize(math.erf)(x / np.sqrt(2)))


def gelu_by_tanh(x):
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def silu(x):
    return x / (1 + np.exp(-x))


@pytest.mark.parametrize(
    ("body", "function"),
    [
        (GELU["erf, half last"], gelu),
        (GELU["tanh, cube of products"], gelu_by_tanh),
        (GELU["tanh, x outside"], gelu_by_tanh),
        (SILU["exponential"], silu),
        (SILU["of a product"], lambda x: silu(x * x)),
    ],
)
def test_a_pattern_gives_the_numbers_that_its_ops_give(body, function):
    x = numbers(2, 3)
    (found,) = run_model(model_of(body, more=_CONSTANTS), {"x": x})
    np.testing.assert_allclose(found, function(x.astype(np.float64)), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["e", "f", "g"])
def test_a_gelu_whose_inside_is_read_elsewhere_is_left_alone(name):
    model = model_of(GELU["erf, half last"], outputs=f"float[2, 3] y, float[2, 3] {name}", more=_CONSTANTS)
    assert "elementwise gelu" not in frontend_ops(model)
    assert_as_onnxruntime(model, {"x": numbers(2, 3)})


def test_a_silu_whose_sigmoid_is_read_elsewhere_is_left_alone():
    model = model_of("s = Sigmoid(x) y = Mul(x, s) z = Add(s, x)", outputs="float[2, 3] y, float[2, 3] z")
    assert frontend_ops(model) == ["elementwise sigmoid", "elementwise mul", "elementwise add"]


def test_what_an_activation_is_of_may_be_read_elsewhere():
    model = model_of("s = Sigmoid(x) p = Mul(x, s) y = Add(p, x)")
    assert frontend_ops(model) == ["elementwise silu", "elementwise add"]


def test_an_activation_that_is_written_twice_is_one_op():
    body = "s = Sigmoid(x) y = Mul(x, s) t = Sigmoid(x) z = Mul(t, x)"
    model = model_of(body, outputs="float[2, 3] y, float[2, 3] z")
    assert frontend_ops(model) == ["elementwise silu"]
    assert_as_onnxruntime(model, {"x": numbers(2, 3)})


def test_activations_of_activations_are_one_op_each():
    steps = "d{0} = Div({1}, root) e{0} = Erf(d{0}) f{0} = Add(e{0}, one) g{0} = Mul({1}, f{0}) {0} = Mul(g{0}, half) "
    body = "".join(steps.format(name, of) for name, of in (("u", "x"), ("v", "u"), ("w", "v"), ("y", "w")))
    assert frontend_ops(model_of(body, more=_CONSTANTS)) == ["elementwise gelu"] * 4
