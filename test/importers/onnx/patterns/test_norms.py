"""Norms that are written out are one op; what is a little different is left alone."""

import numpy as np
import pytest

from importers.onnx.models import assert_as_onnxruntime, frontend_ops, model_of, numbers

CONSTANTS = (
    "<float two = {2}, float one = {1}, float eps = {0.00001}, float minus_half = {-0.5}, int64[1] last = {-1}, "
    "int64[2] both = {-1, -2}, int64[1] first = {0}, int64[1] middle = {1}, "
    "float[4] gamma = {1, 2, 0.5, -1}, float[4] beta = {0, 1, -2, 3}, float[3, 4] plane = "
    "{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, float[3, 1] column = {1, 2, 3}>"
)
LAYER = {
    "TorchScript": "m = ReduceMean(x, last) d = Sub(x, m) p = Pow(d, two) v = ReduceMean(p, last) e = Add(v, eps) "
    "s = Sqrt(e) n = Div(d, s) g = Mul(n, gamma) y = Add(g, beta)",
    "reciprocal, operands swapped": "m = ReduceMean(x, last) d = Sub(x, m) p = Mul(d, d) v = ReduceMean(p, last) "
    "e = Add(eps, v) s = Sqrt(e) r = Reciprocal(s) n = Mul(r, d) g = Mul(gamma, n) y = Add(beta, g)",
    "two differences, as Keras has it": "m = ReduceMean(x, last) d = Sub(x, m) p = Mul(d, d) v = ReduceMean(p, last) "
    "e = Add(v, eps) s = Sqrt(e) m2 = ReduceMean(x, last) d2 = Sub(x, m2) n = Div(d2, s) g = Mul(n, gamma) "
    "y = Add(g, beta)",
    "no bias": "m = ReduceMean(x, last) d = Sub(x, m) p = Pow(d, two) v = ReduceMean(p, last) e = Add(v, eps) "
    "s = Sqrt(e) n = Div(d, s) y = Mul(n, gamma)",
    "no scale": "m = ReduceMean(x, last) d = Sub(x, m) p = Pow(d, two) v = ReduceMean(p, last) e = Add(v, eps) "
    "s = Sqrt(e) n = Div(d, s) y = Add(n, beta)",
    "neither": "m = ReduceMean(x, last) d = Sub(x, m) p = Pow(d, two) v = ReduceMean(p, last) e = Add(v, eps) "
    "s = Sqrt(e) y = Div(d, s)",
    "two axes": "m = ReduceMean(x, both) d = Sub(x, m) p = Pow(d, two) v = ReduceMean(p, both) e = Add(v, eps) "
    "s = Sqrt(e) n = Div(d, s) g = Mul(n, plane) y = Add(g, beta)",
}
RMS = {
    "reciprocal": "p = Pow(x, two) v = ReduceMean(p, last) e = Add(v, eps) s = Sqrt(e) r = Reciprocal(s) "
    "n = Mul(x, r) y = Mul(gamma, n)",
    "one over the root": "p = Mul(x, x) v = ReduceMean(p, last) e = Add(v, eps) s = Sqrt(e) r = Div(one, s) "
    "n = Mul(r, x) y = Mul(n, gamma)",
    "power of minus a half": "p = Mul(x, x) v = ReduceMean(p, last) e = Add(v, eps) r = Pow(e, minus_half) "
    "n = Mul(x, r) y = Mul(n, gamma)",
    "quotient": "p = Pow(x, two) v = ReduceMean(p, last) e = Add(v, eps) s = Sqrt(e) n = Div(x, s) y = Mul(n, gamma)",
    "no scale": "p = Pow(x, two) v = ReduceMean(p, last) e = Add(v, eps) s = Sqrt(e) y = Div(x, s)",
}
#: LLaMA's norm of f16: in f32, converted, then scaled.
LLAMA = (
    "w = Cast<to = 1>(x) p = Pow(w, two) v = ReduceMean(p, last) e = Add(v, eps) s = Sqrt(e) r = Reciprocal(s) "
    "n = Mul(w, r) h = Cast<to = 10>(n) k = Cast<to = 10>(gamma) y = Mul(k, h)"
)
#: TorchScript's layer norm of f16: the mean in f16, the variance in f32.
HALF = (
    "m = ReduceMean(x, last) d = Sub(x, m) w = Cast<to = 1>(d) p = Pow(w, two) v = ReduceMean(p, last) "
    "e = Add(v, eps) s = Sqrt(e) n = Div(w, s) h = Cast<to = 10>(n) k = Cast<to = 10>(gamma) y = Mul(h, k)"
)


def model(body, element="float", outputs=None, shape="2, 3, 4"):
    return model_of(body, f"{element}[{shape}] x", outputs or f"{element}[{shape}] y", more=CONSTANTS)


@pytest.mark.parametrize("body", LAYER.values(), ids=LAYER)
def test_a_layer_norm_that_is_written_out_is_one_op(body):
    assert frontend_ops(model(body)) == ["layer_norm"]
    assert_as_onnxruntime(model(body), {"x": numbers(2, 3, 4)})


@pytest.mark.parametrize("body", RMS.values(), ids=RMS)
def test_an_rms_norm_that_is_written_out_is_one_op(body):
    assert frontend_ops(model(body)) == ["rms_norm"]
    assert_as_onnxruntime(model(body), {"x": numbers(2, 3, 4)})


def test_axes_may_be_an_attribute_as_before_opset_18():
    body = LAYER["TorchScript"].replace("(x, last)", "<axes = [-1]>(x)").replace("(p, last)", "<axes = [-1]>(p)")
    old = model_of(body, "float[2, 3, 4] x", "float[2, 3, 4] y", more=CONSTANTS, opset=17)
    assert frontend_ops(old) == ["layer_norm"]


@pytest.mark.parametrize(("body", "op"), [(LLAMA, "rms_norm"), (HALF, "layer_norm")])
def test_a_norm_of_f16_is_one_op_with_its_casts(body, op):
    assert frontend_ops(model(body, "float16")) == [op]
    assert_as_onnxruntime(model(body, "float16"), {"x": numbers(2, 3, 4).astype(np.float16)}, rtol=4e-3, atol=2e-3)


def test_a_cast_that_is_read_elsewhere_stays_before_the_norm():
    body = LLAMA[: LLAMA.index("h = Cast")].replace("n = Mul(w, r)", "n = Mul(w, r) y = Add(n, w)")
    ops = frontend_ops(model(body, "float16", "float[2, 3, 4] y"))
    assert ops == ["cast", "rms_norm", "elementwise add"]


def test_a_norm_of_any_number_of_rows_is_one_op():
    dynamic = model(LAYER["TorchScript"], shape="N, M, 4")
    assert frontend_ops(dynamic) == ["layer_norm"]
    assert_as_onnxruntime(dynamic, {"x": numbers(5, 7, 4)})


def test_what_is_added_to_rows_is_no_bias():
    body = LAYER["no bias"].replace("y = Mul", "g = Mul") + " y = Add(g, column)"
    assert frontend_ops(model(body)) == ["layer_norm", "elementwise add"]
    assert_as_onnxruntime(model(body), {"x": numbers(2, 3, 4)})


@pytest.mark.parametrize(
    ("what", "other"),
    [
        ("m = ReduceMean(x, last)", "m = ReduceMean(x, first)"),  # the mean over another axis
        ("ReduceMean(p, last)", "ReduceMean(p, both)"),
        ("Pow(d, two)", "Pow(d, one)"),
        ("Sub(x, m)", "Sub(m, x)"),
        ("n = Div(d, s)", "n = Div(x, s)"),
        ("Add(v, eps)", "Add(v, column)"),
        ("Sub(x, m)", "Add(x, m)"),
    ],
)
def test_what_is_no_layer_norm_is_left_alone(what, other):
    body = LAYER["TorchScript"].replace(what, other)
    assert body != LAYER["TorchScript"]
    assert "layer_norm" not in frontend_ops(model(body))


def test_norms_over_an_axis_that_is_not_last_are_left_alone():
    body = LAYER["neither"].replace("last", "middle")
    assert "layer_norm" not in frontend_ops(model(body))
    assert "rms_norm" not in frontend_ops(model(RMS["no scale"].replace("last", "middle")))


@pytest.mark.parametrize("name", ["m", "d", "v", "s"])
def test_a_norm_whose_inside_is_read_elsewhere_is_left_alone(name):
    extent = {"m": 1, "v": 1, "s": 1}.get(name, 4)
    found = model(LAYER["neither"], outputs=f"float[2, 3, 4] y, float[2, 3, {extent}] {name}")
    assert "layer_norm" not in frontend_ops(found)
    assert_as_onnxruntime(found, {"x": numbers(2, 3, 4)})


def test_integers_are_left_alone():
    body = "p = Mul(x, x) v = ReduceMean(p, last) s = Div(x, v) y = Mul(s, x)"
    assert "rms_norm" not in frontend_ops(model(body, "int32"))


def test_a_norm_that_is_computed_in_less_than_its_type_stays_between_the_casts():
    body = (
        "w = Cast<to = 10>(x) p = Mul(w, w) v = ReduceMean(p, last) e16 = Cast<to = 10>(eps) e = Add(v, e16) "
        "s = Sqrt(e) n = Div(w, s) y = Cast<to = 1>(n)"
    )
    assert frontend_ops(model(body)) == ["cast", "rms_norm", "cast"]
