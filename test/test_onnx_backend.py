"""tinyc as a backend of ONNX: models and single nodes, which of them it takes, on which devices; what it refuses."""

import numpy as np
import onnx
import pytest
from onnx import helper

import tinyc
import tinyc.onnx_backend as backend
from importers.onnx.models import model_of, numbers
from tinyc import TinycError

_NEG = model_of("y = Neg(x)")


def refusal(work):
    with pytest.raises(TinycError) as caught:
        work()
    return f"{caught.value.name}: {caught.value.message}"


def test_a_node_runs_on_the_types_and_shapes_of_its_inputs():
    a, b = numbers(2, 3), numbers(3, 4, seed=1)
    (y,) = backend.run_node(helper.make_node("MatMul", ["a", "b"], ["y"]), [a, b])
    np.testing.assert_allclose(y, a @ b, rtol=1e-5)
    (y,) = backend.TinycBackend.run_node(helper.make_node("Add", ["x", "x"], ["y"]), {"x": np.arange(3)})
    assert (y.dtype, y.tolist()) == (np.int64, [0, 2, 4])


def test_a_node_has_outputs_and_inputs_that_are_left_out():
    x = numbers(2, 6)
    one, two = backend.run_node(helper.make_node("Split", ["x"], ["one", "two"], axis=1, num_outputs=2), x)
    assert (np.concatenate([one, two], 1) == x).all()
    (y,) = backend.run_node(helper.make_node("Clip", ["x", "", "high"], ["y"]), [x, np.float32(0)])
    assert (y == np.minimum(x, 0)).all()


def test_a_node_that_has_to_know_an_input_is_given_its_value_and_its_opset():
    node, x = helper.make_node("ReduceSum", ["x", "axes"], ["y"], keepdims=0), numbers(2, 3)
    (y,) = backend.run_node(node, [x, np.array([1])])
    np.testing.assert_allclose(y, x.sum(1), rtol=1e-6)
    old = helper.make_node("ReduceMax", ["x"], ["y"], axes=[1], keepdims=0)
    (y,) = backend.run_node(old, [x], opset_version=13)
    assert (y == x.max(1)).all()


def test_a_model_is_compatible_where_all_of_its_nodes_are_supported():
    assert backend.is_compatible(_NEG)
    assert backend.is_compatible(model_of("y = ReduceSum(x, axes)", inputs="float[2, 3] x, int64[1] axes"))
    assert not backend.is_compatible(model_of("y = Compress(x, c)", inputs="float[2, 3] x, bool[2] c"))
    assert not backend.is_compatible(_NEG, "XPU")
    assert not backend.TinycBackend.is_compatible(onnx.ModelProto())


def test_a_gpu_is_a_device_where_there_is_one(monkeypatch):
    def nothing(binding=None):
        raise TinycError("NoDriver", "there is no CUDA driver")

    assert backend.supports_device("CPU")
    assert not backend.supports_device("CUDA:1")
    monkeypatch.setattr(backend, "require_gpu", nothing)
    assert not backend.supports_device("CUDA")
    monkeypatch.setattr(backend, "require_gpu", lambda binding=None: None)
    assert backend.supports_device("CUDA:0")


def test_what_is_no_device_is_refused_by_name():
    told = "UnsupportedTarget: there is no device 'XPU'; choose 'CPU' or 'CUDA', which is the first GPU visible"
    assert refusal(lambda: backend.prepare(_NEG, "XPU")) == told
    assert "no device 'CUDA:1'" in refusal(lambda: backend.run_model(_NEG, [numbers(2, 3)], "CUDA:1"))


def test_what_is_no_model_is_refused():
    assert refusal(lambda: backend.prepare(5)) == "UnreadableFile: a int is not an ONNX model; give an onnx.ModelProto"
    told = "UnreadableFile: a GraphProto is not an ONNX model; give onnx.helper.make_model(graph)"
    assert refusal(lambda: backend.prepare(_NEG.graph)) == refusal(lambda: tinyc.compile(_NEG.graph)) == told
    assert "a NodeProto is not" in refusal(lambda: tinyc.compile(_NEG.graph.node[0]))


def test_a_wrong_number_of_inputs_is_refused_with_the_names_of_the_right_ones():
    x, prepared = numbers(2, 3), backend.prepare(_NEG)
    told = "InputMismatch: the number of inputs is 2, and the model takes 1: x; give an array for each, or a mapping"
    assert refusal(lambda: prepared.run([x, x])) == f"{told} by name"
    told = "InputMismatch: the number of inputs is 1, and Add has 2: a, b; give an array for each, or a mapping"
    assert refusal(lambda: backend.run_node(helper.make_node("Add", ["a", "b"], ["y"]), [x])) == f"{told} by name"
    told = "InputMismatch: input 'x' is an array of complex64, which is no element type; convert it"
    assert refusal(lambda: backend.run_node(_NEG.graph.node[0], [x.astype(np.complex64)])) == told
