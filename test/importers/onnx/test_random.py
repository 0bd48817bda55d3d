"""Random numbers of ONNX: seeds, streams, opsets, and what is refused."""

import struct

import numpy as np
import pytest
from onnx import TensorProto, helper

import tinyc
from tinyc.diagnostics import TinycError
from tinyc.executors import philox

FLOAT, BOOL = TensorProto.FLOAT, TensorProto.BOOL


def model_of(nodes, inputs, outputs, opset=22):
    values = [[helper.make_tensor_value_info(*each) for each in side] for side in (inputs, outputs)]
    graph = helper.make_graph(nodes, "random", *values)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def run(model, held=None):
    return list(tinyc.compile(model, "cpu").run_named(held or {}).values())


def test_a_seed_is_the_bits_of_its_float():
    node = helper.make_node("RandomUniform", [], ["y"], shape=[3, 5], low=1.0, high=3.0, seed=0.5)
    (found,) = run(model_of([node], [], [("y", FLOAT, [3, 5])]))
    (seed,) = struct.unpack("<I", struct.pack("<f", 0.5))
    np.testing.assert_allclose(found.ravel(), 1 + 2 * philox.uniform(15, seed, 0), rtol=1e-6)


def test_nodes_without_a_seed_draw_from_streams_of_their_own():
    nodes = [helper.make_node("RandomNormalLike", ["x"], [name], mean=1.0, scale=2.0) for name in "ab"]
    model = model_of(nodes, [("x", FLOAT, [9])], [("a", FLOAT, [9]), ("b", FLOAT, [9])])
    held = {"x": np.zeros(9, np.float32)}
    a, b = run(model, held)
    assert (a != b).all()
    np.testing.assert_array_equal([a, b], run(model, held))
    np.testing.assert_allclose(a, 1 + 2 * philox.normal(9, 0, 1), rtol=1e-5, atol=1e-6)


def test_classes_are_drawn_as_int32_or_int64():
    scores = np.log(np.array([[0.999, 0.0005, 0.0005], [0.0005, 0.0005, 0.999]], np.float32))
    for number, dtype in ((TensorProto.INT32, np.int32), (TensorProto.INT64, np.int64)):
        node = helper.make_node("Multinomial", ["x"], ["y"], sample_size=5, seed=1.0, dtype=number)
        (found,) = run(model_of([node], [("x", FLOAT, [2, 3])], [("y", number, [2, 5])]), {"x": scores})
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, [[0] * 5, [2] * 5])


def test_dropout_drops_in_training_only():
    inputs = [("x", FLOAT, [1000]), ("r", FLOAT, []), ("t", BOOL, [])]
    node = helper.make_node("Dropout", ["x", "r", "t"], ["y", "mask"], seed=3)
    model = model_of([node], inputs, [("y", FLOAT, [1000]), ("mask", BOOL, [1000])])
    held = {"x": np.arange(1, 1001, dtype=np.float32), "r": np.array(0.25, np.float32), "t": np.array(True)}
    y, mask = run(model, held)
    assert 0.2 < 1 - mask.mean() < 0.3
    np.testing.assert_allclose(y, np.where(mask, held["x"] / 0.75, 0), rtol=1e-6)
    y, mask = run(model, {**held, "t": np.array(False)})
    np.testing.assert_array_equal(y, held["x"])
    assert mask.all()


def test_integers_have_no_random_numbers_of_their_type():
    node = helper.make_node("RandomUniformLike", ["x"], ["y"])
    model = model_of([node], [("x", TensorProto.INT32, [9])], [("y", TensorProto.INT32, [9])])
    with pytest.raises(TinycError, match="RandomUniformLike: random numbers of type i32; dtype says which float"):
        tinyc.compile(model, "cpu")
