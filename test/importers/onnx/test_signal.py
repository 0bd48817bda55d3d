"""Windows and spectra of ONNX: sizes are constants, the axis is an attribute before opset 20."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import tinyc
from tinyc.diagnostics import TinycError

FLOAT = TensorProto.FLOAT


def model_of(op, inputs, constants, opset=20, **attributes):
    """The model of one op: inputs by shape, constants by name and value, in the order of the node."""
    values = [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in inputs.items()]
    node = helper.make_node(op, [*inputs, *constants], ["y"], **attributes)
    held = [numpy_helper.from_array(np.asarray(each), name) for name, each in constants.items() if name]
    output = helper.make_tensor_value_info("y", FLOAT, None)
    graph = helper.make_graph([node], "signal", values, [output], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def run(model, **arrays):
    (found,) = tinyc.compile(model, "cpu").run_named(arrays).values()
    return found


@pytest.mark.parametrize(("op", "window"), [("HannWindow", np.hanning), ("BlackmanWindow", np.blackman)])
def test_windows_are_symmetric_or_periodic(op, window):
    constants = {"n": np.int64(7)}
    np.testing.assert_allclose(run(model_of(op, {}, constants, periodic=0)), window(7), atol=1e-6)
    np.testing.assert_allclose(run(model_of(op, {}, constants)), window(8)[:-1], atol=1e-6)


@pytest.mark.parametrize("opset", [17, 20])
def test_the_axis_is_an_attribute_or_an_input(opset):
    x = np.random.default_rng(0).standard_normal((2, 6, 1)).astype(np.float32)
    given = {"axis": 1} if opset == 17 else {}
    constants = {"": 0, "at": np.int64(1)} if opset == 20 else {}
    found = run(model_of("DFT", {"x": x.shape}, constants, opset, onesided=1, **given), x=x)
    expected = np.fft.rfft(x[..., 0], axis=1)
    np.testing.assert_allclose(found[..., 0] + 1j * found[..., 1], expected, atol=1e-5)


def test_a_size_that_is_computed_when_the_model_runs_is_refused():
    size = helper.make_tensor_value_info("n", TensorProto.INT64, [])
    node = helper.make_node("HannWindow", ["n"], ["y"])
    graph = helper.make_graph([node], "signal", [size], [helper.make_tensor_value_info("y", FLOAT, None)])
    with pytest.raises(TinycError, match="HannWindow: input 0 must be known when the model is imported"):
        tinyc.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]), "cpu")
