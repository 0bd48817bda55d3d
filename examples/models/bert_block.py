"""A block of BERT as an ONNX model: `python bert_block.py` writes bert_block.onnx and runs it at two lengths."""

import math

import numpy as np

import tinyc

try:
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ModuleNotFoundError as error:
    raise SystemExit(
        f"models are written by the package onnx ({error}); tools/setup onnx, or pip install onnx"
    ) from None

WIDTH, HEADS = 64, 4
random = np.random.default_rng(0)
weights: list[onnx.TensorProto] = []


def weight(name: str, *shape: int) -> str:
    """Add a weight whose products keep the scale of their operand."""
    scale = 1 / math.sqrt(shape[0]) if len(shape) > 1 else 0.02
    weights.append(numpy_helper.from_array((random.standard_normal(shape) * scale).astype(np.float32), name))
    return name


def heads(name: str) -> list[onnx.NodeProto]:
    """The projection of x, with an axis of heads before that of rows."""
    return [
        helper.make_node("MatMul", ["x", weight(f"w{name}", WIDTH, WIDTH)], [f"p{name}"]),
        helper.make_node("Reshape", [f"p{name}", "split"], [f"s{name}"]),
        helper.make_node("Transpose", [f"s{name}"], [name], perm=[0, 2, 1, 3]),
    ]


weights += [
    numpy_helper.from_array(np.array([0, 0, HEADS, WIDTH // HEADS], np.int64), "split"),
    numpy_helper.from_array(np.array([0, 0, WIDTH], np.int64), "join"),
    numpy_helper.from_array(np.array(math.sqrt(WIDTH / HEADS), np.float32), "scale"),
    numpy_helper.from_array(np.ones(WIDTH, np.float32), "ones"),
]
nodes = [
    *(node for name in "qkv" for node in heads(name)),
    helper.make_node("Transpose", ["k"], ["kt"], perm=[0, 1, 3, 2]),
    helper.make_node("MatMul", ["q", "kt"], ["products"]),
    helper.make_node("Div", ["products", "scale"], ["scaled"]),
    helper.make_node("Softmax", ["scaled"], ["attention"]),
    helper.make_node("MatMul", ["attention", "v"], ["mixed"]),
    helper.make_node("Transpose", ["mixed"], ["rows"], perm=[0, 2, 1, 3]),
    helper.make_node("Reshape", ["rows", "join"], ["joined"]),
    helper.make_node("MatMul", ["joined", weight("wo", WIDTH, WIDTH)], ["projected"]),
    helper.make_node("Add", ["x", "projected"], ["residual"]),
    helper.make_node("LayerNormalization", ["residual", "ones"], ["normed"]),
    helper.make_node("MatMul", ["normed", weight("w1", WIDTH, 4 * WIDTH)], ["wide"]),
    helper.make_node("Gelu", ["wide"], ["active"]),
    helper.make_node("MatMul", ["active", weight("w2", 4 * WIDTH, WIDTH)], ["narrow"]),
    helper.make_node("Add", ["normed", "narrow"], ["sum"]),
    helper.make_node("LayerNormalization", ["sum", "ones"], ["y"]),
]
graph = helper.make_graph(
    nodes,
    "bert_block",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, "rows", WIDTH])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, "rows", WIDTH])],
    weights,
)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), "bert_block.onnx")
compiled = tinyc.compile("bert_block.onnx")
for rows in (5, 128):
    print(compiled(random.standard_normal((1, rows, WIDTH)).astype(np.float32)).shape)
