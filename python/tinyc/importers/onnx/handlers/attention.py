"""Attention, rotary embedding."""

from tinyc.importers.onnx.attributes import element_of_onnx
from tinyc.importers.onnx.node import Handler, OnnxNode
from tinyc.importers.onnx.values import Tensor

#: What `qk_matmul_output_mode` numbers.
_MODES = ("scaled", "capped", "masked", "weights")


def _attention(node: OnnxNode) -> tuple[Tensor, ...]:
    mode = node.attribute("qk_matmul_output_mode", 0)
    if mode not in range(len(_MODES)):
        raise node.unsupported(f"qk_matmul_output_mode is {mode}; it is one of 0 to 3")
    precision = node.attribute("softmax_precision")
    return node.add_all(
        "attention",
        node.tensor(0),
        node.tensor(1),
        node.tensor(2),
        *(node.optional(position) for position in range(3, 7)),
        heads=node.attribute("q_num_heads", 0),
        kv_heads=node.attribute("kv_num_heads", 0),
        causal=bool(node.attribute("is_causal", 0)),
        before=node.attribute("left_window_size", -1),
        after=node.attribute("right_window_size", -1),
        scale=node.attribute("scale"),
        softcap=node.attribute("softcap", 0.0),
        softmax_element=None if precision is None else element_of_onnx(precision),
        pad_mask=node.version >= 24,
        scores=_MODES[mode],
    )


def _rotary_embedding(node: OnnxNode) -> Tensor:
    return node.add(
        "rotary_embedding",
        node.tensor(0),
        node.tensor(1),
        node.tensor(2),
        node.optional(3),
        heads=node.attribute("num_heads", 0),
        depth=node.attribute("rotary_embedding_dim", 0),
        interleaved=bool(node.attribute("interleaved", 0)),
    )


def _linear_attention(node: OnnxNode) -> tuple[Tensor, ...]:
    node.attribute("chunk_size")  # how fast, not what
    return node.add_all(
        "linear_attention",
        node.tensor(0),
        node.tensor(1),
        node.tensor(2),
        *(node.optional(position) for position in range(3, 6)),
        heads=node.required("q_num_heads"),
        kv_heads=node.required("kv_num_heads"),
        rule=node.attribute("update_rule", "gated_delta"),
        scale=node.attribute("scale", 0.0),
    )


HANDLERS: dict[str, Handler] = {
    "Attention": _attention,
    "LinearAttention": _linear_attention,
    "RotaryEmbedding": _rotary_embedding,
}
