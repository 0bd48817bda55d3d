"""A decoding step of a GPT block with its cache, as an ONNX model: `python gpt_block.py` writes gpt_block.onnx."""

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
DEPTH = WIDTH // HEADS
random = np.random.default_rng(0)


def weight(name: str, *shape: int) -> onnx.TensorProto:
    """A weight whose products keep the scale of their operand."""
    return numpy_helper.from_array((random.standard_normal(shape) / math.sqrt(shape[0])).astype(np.float32), name)


def tensor(name: str, *shape: int | str) -> onnx.ValueInfoProto:
    """An input or an output."""
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape))


graph = helper.make_graph(
    [
        helper.make_node("RMSNormalization", ["x", "ones"], ["normed"]),
        helper.make_node("MatMul", ["normed", "wq"], ["q"]),
        helper.make_node("MatMul", ["normed", "wk"], ["k"]),
        helper.make_node("MatMul", ["normed", "wv"], ["v"]),
        helper.make_node(
            "Attention",
            ["q", "k", "v", "", "past_key", "past_value"],
            ["mixed", "key", "value"],
            q_num_heads=HEADS,
            kv_num_heads=HEADS,
        ),
        helper.make_node("MatMul", ["mixed", "wo"], ["projected"]),
        helper.make_node("Add", ["x", "projected"], ["y"]),
    ],
    "gpt_block",
    [tensor("x", 1, 1, WIDTH), *(tensor(f"past_{each}", 1, HEADS, "past", DEPTH) for each in ("key", "value"))],
    [tensor("y", 1, 1, WIDTH), *(tensor(each, 1, HEADS, "past + 1", DEPTH) for each in ("key", "value"))],
    [
        *(weight(f"w{each}", WIDTH, WIDTH) for each in "qkvo"),
        numpy_helper.from_array(np.ones(WIDTH, np.float32), "ones"),
    ],
)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11), "gpt_block.onnx")
compiled = tinyc.compile("gpt_block.onnx")
cache = [np.zeros((1, HEADS, 0, DEPTH), np.float32)] * 2
x = random.standard_normal((1, 1, WIDTH)).astype(np.float32)
for _ in range(4):
    x, *cache = compiled(x, *cache)
print(x.shape, [each.shape for each in cache])
