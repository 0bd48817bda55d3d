"""Symbols are bound in everything that a Frontend program has: types, and attributes that are lists of extents."""

import re

import numpy as np
import pytest

import tinyc
from importers.onnx.models import model_of

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
#: Nodes of a model whose ops have extents of x, float[N, M, 4], in their attributes, and the attribute.
BODIES = {
    "reshape": ("m = Shape<start = 1, end = 2>(x) s = Concat<axis = 0>(m, minus) y = Reshape(x, s)", "shape"),
    "slice": ("m = Shape<start = 1, end = 2>(x) h = Sub(m, one) y = Slice(x, zero, h, one)", "hi"),
    "expand": ("n = Shape(x) s = Concat<axis = 0>(two, n) y = Expand(x, s)", "shape"),
    "pad": ("m = Shape<start = 1, end = 2>(x) p = Concat<axis = 0>(zero, m) y = Pad(x, p, , one)", "after"),
    "flip": ("y = Slice(x, minus, far, one, minus)", "hi"),
    "split": ("y, z = Split<num_outputs = 2, axis = 1>(x)", "hi"),
    "extents": ("n = Shape(x) f = Cast<to = 1>(n) r = Sqrt(f) l = Slice(r, two, three, zero) y = Mul(x, l)", "dims"),
    "resize": ('y = Resize<mode = "nearest">(x, , scales)', "shape"),
    "random": ("n = Shape(x) t = RandomUniformLike<seed = 1.0>(x) y = Add(t, x)", "shape"),
}
KNOWN = (
    "<int64[1] minus = {-1}, int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] three = {3}, "
    "int64[1] far = {-9223372036854775807}, "
    "float[3] scales = {1.0, 2.0, 1.0}>"
)


@pytest.mark.parametrize("name", BODIES)
def test_a_frontend_dump_runs_at_the_sizes_that_are_bound(name):
    body, attribute = BODIES[name]
    model = model_of(body, "float[N, M, 4] x", "float y", more=KNOWN)
    del model.graph.output[0].type.tensor_type.shape.dim[:]
    model.graph.output[0].type.tensor_type.ClearField("shape")
    dump = tinyc.compile(model).lowering.text("frontend", constants=True)
    assert re.search(rf"\b{attribute} = \[[^]]*\bM\b", dump)
    bound = tinyc.compile(dump, bind={"N": 2, "M": 3})
    assert not re.search(r'[" (*]M[" )]', bound.text("frontend"))
    np.testing.assert_array_equal(bound(X), tinyc.compile(model)(X))


def test_texts_that_are_no_extents_stay_as_they_are():
    body = 'y, h = RNN<hidden_size = 5, activations = ["Relu"]>(x, w, r)'
    inputs = "float[2, relu, 3] x, float[1, 5, 3] w, float[1, 5, 5] r"
    dump = tinyc.compile(model_of(body, inputs, "float[2, 1, relu, 5] y")).text("frontend")
    bound = tinyc.compile(dump, bind={"relu": 4}).text("frontend")
    assert 'activations = ["relu"]' in bound
    assert "tensor<2x4x3xf32>" in bound
