"""ONNX's reductions, softmax and cumulative sums: what opsets differ in, and what is refused."""

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import helper, numpy_helper

import tinyc

FLOAT = onnx.TensorProto.FLOAT


def model_of(op_type, shape, opset, constants=(), outputs=1, element=FLOAT, **attributes):
    """The model of one node: an input `x`, and constants beside it, None for one that is left out."""
    names = ["x", *(f"c{at}" if each is not None else "" for at, each in enumerate(constants))]
    results = [f"y{at}" for at in range(outputs)]
    held = [
        numpy_helper.from_array(np.asarray(each), f"c{at}") for at, each in enumerate(constants) if each is not None
    ]
    graph = helper.make_graph(
        [helper.make_node(op_type, names, results, **attributes)],
        "graph",
        [helper.make_tensor_value_info("x", element, shape)],
        [helper.make_tensor_value_info(each, FLOAT, None) for each in results],
        held,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def run(model, x):
    return list(tinyc.compile(model, target="cpu").run_named({"x": x}).values())


X = np.random.default_rng(5).standard_normal((3, 4)).astype(np.float32)


def test_axes_were_an_attribute_before_they_became_an_input():
    (old,) = run(model_of("ReduceMean", [3, 4], 13, axes=[1], keepdims=0), X)
    (new,) = run(model_of("ReduceMean", [3, 4], 18, [np.array([-1])], keepdims=0), X)
    np.testing.assert_allclose(old, X.mean(1), rtol=1e-5)
    np.testing.assert_array_equal(old, new)


def test_no_axes_are_all_of_them_or_none():
    nothing = [np.zeros(0, np.int64)]
    (every,) = run(model_of("ReduceSumSquare", [3, 4], 18, nothing), X)
    (none,) = run(model_of("ReduceSumSquare", [3, 4], 18, nothing, noop_with_empty_axes=1), X)
    np.testing.assert_allclose(every, (X * X).sum(keepdims=True), rtol=1e-5)
    np.testing.assert_allclose(none, X * X, rtol=1e-5)


def test_axes_that_are_computed_are_refused():
    graph = model_of("ReduceSum", [3, 4], 13).graph
    graph.input.append(helper.make_tensor_value_info("axes", onnx.TensorProto.INT64, [1]))
    graph.node[0].input.append("axes")
    with pytest.raises(tinyc.TinycError, match="ReduceSum: input 1 must be known when the model is imported"):
        tinyc.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), target="cpu")


@pytest.mark.parametrize(("op_type", "opset"), [("CumSum", 14), ("CumProd", 26)])
def test_partial_results_from_the_end(op_type, opset):
    function = np.cumsum if op_type == "CumSum" else np.cumprod
    (found,) = run(model_of(op_type, [3, 4], opset, [np.array(1)], reverse=1), X)
    np.testing.assert_allclose(found, function(X[:, ::-1], 1)[:, ::-1], rtol=1e-5)


def test_positions_are_counted_of_a_mask_of_a_dynamic_length():
    body = "one = Constant <value_int: int = 1> () n = CumSum (mask, one) y = Mul (n, mask)"
    header = '<ir_version: 8, opset_import: ["" : 17]> g (int64[batch, length] mask) => (int64[batch, length] y)'
    model = tinyc.compile(onnx.parser.parse_model(f"{header} {{ {body} }}"), target="cpu")
    for shape in ((1, 1), (3, 17), (2, 300)):
        mask = np.random.default_rng(0).integers(0, 2, shape)
        (found,) = model.run_named({"mask": mask}).values()
        np.testing.assert_array_equal(found, np.cumsum(mask, 1) * mask)


def test_softmax_is_along_the_last_axis():
    (found,) = run(model_of("LogSoftmax", [3, 4], 13), X)
    np.testing.assert_allclose(np.exp(found).sum(1), np.ones(3), rtol=1e-5)


def test_an_attribute_that_there_is_not_is_refused():
    with pytest.raises(tinyc.TinycError, match="Softmax: attribute 'axes' = "):
        tinyc.compile(model_of("Softmax", [3, 4], 13, axes=[1]), target="cpu")
