"""Recurrent layers of ONNX: what its own tests leave out."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tinyc
from tinyc.diagnostics import TinycError

TIME, BATCH, INPUTS, HIDDEN = 2, 2, 3, 4


def model_of(op, gates, outputs=2, directions=1, **attributes):
    """The model of one layer, with its input by time or, in layout 1, by batch."""
    by_batch = attributes.get("layout")
    shapes = {
        "x": (BATCH, TIME, INPUTS) if by_batch else (TIME, BATCH, INPUTS),
        "w": (directions, gates * HIDDEN, INPUTS),
        "r": (directions, gates * HIDDEN, HIDDEN),
    }
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    names = ["y", "h", "c"][:outputs]
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names]
    node = helper.make_node(op, list(shapes), names, hidden_size=HIDDEN, **attributes)
    graph = helper.make_graph([node], "layer", inputs, results)
    rng = np.random.default_rng(0)
    held = {name: (rng.standard_normal(shape) / 2).astype(np.float32) for name, shape in shapes.items()}
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)]), held


def run(model, held):
    return list(tinyc.compile(model, "cpu").run_named(held).values())


def test_layout_1_is_by_batch():
    by_time, held = model_of("LSTM", 4, outputs=3)
    by_batch, _ = model_of("LSTM", 4, outputs=3, layout=1)
    y, h, c = run(by_time, held)
    found = run(by_batch, {**held, "x": held["x"].swapaxes(0, 1).copy()})
    expected = [y.transpose(2, 0, 1, 3), h.transpose(1, 0, 2), c.transpose(1, 0, 2)]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_numbers_of_activations_go_to_those_that_take_them():
    named = {"direction": "bidirectional", "activations": ["Tanh", "ScaledTanh"]}
    model, held = model_of("RNN", 1, directions=2, activation_alpha=[0.5], activation_beta=[2.0], **named)
    y, h = run(model, held)
    state = np.zeros((BATCH, HIDDEN))
    for time in reversed(range(TIME)):
        state = 0.5 * np.tanh(2 * (held["x"][time] @ held["w"][1].T + state @ held["r"][1].T))
    np.testing.assert_allclose(h[1], state, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(y[0, 1], state, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"activations": ["Cube"]}, "RNN: activation 'Cube' is not known to it"),
        ({"hidden": 3}, "RNN: attribute 'hidden' = 3 is not known to it"),
    ],
)
def test_what_is_not_known_is_refused_by_name(attributes, message):
    model, _ = model_of("RNN", 1, **attributes)
    with pytest.raises(TinycError, match=message) as caught:
        tinyc.compile(model, "cpu")
    assert caught.value.name == "UnsupportedOnnx"


def test_hidden_size_is_that_of_the_weights():
    model, _ = model_of("RNN", 1)
    model.graph.node[0].attribute[0].i = 7
    assert isinstance(model, onnx.ModelProto)
    with pytest.raises(TinycError, match="hidden_size = 7 is not the last extent of the recurrent weights, fp32 "):
        tinyc.compile(model, "cpu")
