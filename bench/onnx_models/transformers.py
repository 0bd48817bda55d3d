"""Transformers as exporters write them: packed QKV products, softmax attention, layer norms and GELU."""

import math

import numpy as np
import onnx
from onnx import TensorProto

from .builder import Extent, GraphBuilder


def _attention(net: GraphBuilder, x: str, width: int, heads: int, mask: str | None) -> str:
    """Self-attention of `[batch, rows, width]`."""
    q, k, v = _heads(net, x, width, heads)
    return _attended(net, q, net.op("Transpose", k, perm=[0, 1, 3, 2]), v, width, heads, mask)


def _heads(net: GraphBuilder, x: str, width: int, heads: int) -> list[str]:
    """Queries, keys and values, each `[batch, heads, rows, depth]`, of one product."""
    packed = net.linear(x, width, 3 * width)
    number = len(net.nodes)
    parts = net.ops(
        "Split", packed, net.ints(width, width, width), outputs=[f"part{number}_{each}" for each in "qkv"], axis=-1
    )
    split = [net.reshape(each, 0, 0, heads, width // heads) for each in parts]
    return [net.op("Transpose", each, perm=[0, 2, 1, 3]) for each in split]


def _attended(net: GraphBuilder, q: str, kt: str, v: str, width: int, heads: int, mask: str | None) -> str:
    scores = net.op("Div", net.op("MatMul", q, kt), net.number(math.sqrt(width / heads)))
    if mask is not None:
        scores = net.op("Add", scores, mask)
    mixed = net.op("MatMul", net.op("Softmax", scores, axis=-1), v)
    mixed = net.reshape(net.op("Transpose", mixed, perm=[0, 2, 1, 3]), 0, 0, width)
    return net.linear(mixed, width, width)


def _feed_forward(net: GraphBuilder, x: str, width: int) -> str:
    """Two products with a GELU between them, which is written out as exporters do."""
    y = net.linear(x, width, 4 * width)
    erf = net.op("Erf", net.op("Div", y, net.number(math.sqrt(2))))
    gelu = net.op("Mul", net.op("Mul", y, net.op("Add", erf, net.number(1.0))), net.number(0.5))
    return net.linear(gelu, 4 * width, width)


def bert(
    layers: int = 4, width: int = 768, heads: int = 12, rows: Extent = 128, batch: Extent = 1, words: int = 30522
) -> onnx.ModelProto:
    """BERT-base: token and position embeddings, post-norm blocks with an attention mask."""
    net = GraphBuilder("bert")
    tokens = net.input("input_ids", (batch, rows), TensorProto.INT64)
    kept = net.input("attention_mask", (batch, rows), TensorProto.INT64)
    x = net.op("Gather", net.weight((words, width), 0.02), tokens)
    places = net.op("Range", _scalar(net, 0), _extent(net, tokens, 1), _scalar(net, 1))
    x = net.layer_norm(net.op("Add", x, net.op("Gather", net.weight((512, width), 0.02), places)), width)
    wide = net.op("Cast", net.op("Unsqueeze", kept, net.ints(1, 2)), to=TensorProto.FLOAT)
    mask = net.op("Mul", net.op("Sub", net.number(1.0), wide), net.number(-1e4))
    for _ in range(layers):
        x = net.layer_norm(net.op("Add", x, _attention(net, x, width, heads, mask)), width)
        x = net.layer_norm(net.op("Add", x, _feed_forward(net, x, width)), width)
    net.op("Identity", x, output="hidden")
    return net.model({"hidden": (batch, rows, width)})


def _scalar(net: GraphBuilder, value: int) -> str:
    return net.tensor(np.array(value, np.int64), f"scalar{len(net.weights)}")


def _extent(net: GraphBuilder, x: str, axis: int) -> str:
    """An extent of a value as a scalar."""
    return net.op("Gather", net.op("Shape", x), _scalar(net, axis), axis=0)


def gpt2(
    layers: int = 4, width: int = 768, heads: int = 12, rows: Extent = 128, batch: Extent = 1, words: int = 50257
) -> onnx.ModelProto:
    """GPT-2: pre-norm blocks with a causal mask, and the logits of all rows."""
    net = GraphBuilder("gpt2")
    tokens = net.input("input_ids", (batch, rows), TensorProto.INT64)
    table = net.weight((words, width), 0.02)
    places = net.op("Range", _scalar(net, 0), _extent(net, tokens, 1), _scalar(net, 1))
    x = net.op("Add", net.op("Gather", table, tokens), net.op("Gather", net.weight((1024, width), 0.02), places))
    below = net.op("Less", net.op("Unsqueeze", places, net.ints(1)), net.op("Unsqueeze", places, net.ints(0)))
    mask = net.op("Where", below, net.number(-1e9), net.number(0.0))
    for _ in range(layers):
        x = net.op("Add", x, _attention(net, net.layer_norm(x, width), width, heads, mask))
        x = net.op("Add", x, _feed_forward(net, net.layer_norm(x, width), width))
    logits = net.op("MatMul", net.layer_norm(x, width), net.op("Transpose", table, perm=[1, 0]))
    net.op("Identity", logits, output="logits")
    return net.model({"logits": (batch, rows, words)})


def gpt2_decoder(
    layers: int = 4, width: int = 768, heads: int = 12, past: Extent = "past", batch: Extent = 1, words: int = 50257
) -> onnx.ModelProto:
    """One step of GPT-2: the next token, and the keys and values of those before, which it appends to."""
    net = GraphBuilder("gpt2_decoder")
    tokens = net.input("input_ids", (batch, 1), TensorProto.INT64)
    position = net.input("position", (1,), TensorProto.INT64)
    table = net.weight((words, width), 0.02)
    x = net.op("Add", net.op("Gather", table, tokens), net.op("Gather", net.weight((1024, width), 0.02), position))
    outputs: dict[str, tuple[Extent, ...]] = {}
    longer = past + 1 if isinstance(past, int) else f"{past} + 1"
    for layer in range(layers):
        keys = net.input(f"past_key_{layer}", (batch, heads, past, width // heads))
        values = net.input(f"past_value_{layer}", (batch, heads, past, width // heads))
        q, k, v = _heads(net, net.layer_norm(x, width), width, heads)
        k = net.op("Concat", keys, k, axis=2, output=f"key_{layer}")
        v = net.op("Concat", values, v, axis=2, output=f"value_{layer}")
        outputs.update(dict.fromkeys((k, v), (batch, heads, longer, width // heads)))
        kt = net.op("Transpose", k, perm=[0, 1, 3, 2])
        x = net.op("Add", x, _attended(net, q, kt, v, width, heads, None))
        x = net.op("Add", x, _feed_forward(net, net.layer_norm(x, width), width))
    logits = net.op("MatMul", net.layer_norm(x, width), net.op("Transpose", table, perm=[1, 0]))
    net.op("Identity", logits, output="logits")
    return net.model({"logits": (batch, 1, words), **outputs})


def vit(size: int = 224, patch: int = 16, layers: int = 12, width: int = 192, heads: int = 3) -> onnx.ModelProto:
    """ViT-tiny: patches by a convolution, pre-norm blocks, the mean of the rows."""
    net = GraphBuilder("vit")
    image = net.input("image", (1, 3, size, size))
    weight, rows = net.weight((width, 3, patch, patch)), (size // patch) ** 2
    patches = net.op("Conv", image, weight, net.weight((width,), 0.02), kernel_shape=[patch] * 2, strides=[patch] * 2)
    x = net.op("Transpose", net.reshape(patches, 0, 0, -1), perm=[0, 2, 1])
    x = net.op("Add", x, net.weight((1, rows, width), 0.02))
    for _ in range(layers):
        x = net.op("Add", x, _attention(net, net.layer_norm(x, width), width, heads, None))
        x = net.op("Add", x, _feed_forward(net, net.layer_norm(x, width), width))
    mean = net.op("ReduceMean", net.layer_norm(x, width), net.ints(1), keepdims=0)
    net.op("Gemm", mean, net.weight((width, 1000)), net.weight((1000,), 0.02), output="scores")
    return net.model({"scores": (1, 1000)})
