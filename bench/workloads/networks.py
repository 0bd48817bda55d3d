"""Programs of several layers, by sizes and element type; those of `deep` and `movements` are as long as is asked."""

from collections.abc import Callable

from . import layers
from .graph import Graph, Program, Tensor

#: Rows, width, heads and hidden width of a layer of `deep`.
SEQUENCE, WIDTH, HEADS, HIDDEN = 128, 64, 4, 256


def mlp(rows: int = 7, inner: int = 9, hidden: int = 11, outer: int = 5, dtype: str = "fp32") -> Program:
    """``relu(x @ w1 + b1) @ w2 + b2``."""
    graph = Graph()
    x = graph.input("x", dtype, rows, inner)
    return graph.program(_dense(_dense(x, hidden).apply("RELU").to(dtype), outer).to(dtype))


def gelu_mlp(rows: int = 7, width: int = 9, hidden: int = 11, dtype: str = "fp32") -> Program:
    """``x + gelu(x @ w1 + b1) @ w2 + b2``."""
    graph = Graph()
    x = graph.input("x", dtype, rows, width)
    return graph.program((_gelu_layers(x, hidden) + x.wide).to(dtype))


def _dense(x: Tensor, outer: int) -> Tensor:
    """A linear layer with bias, in fp32 for 16-bit floats."""
    weights = x.graph.weights(x.dtype, x.shape[-1], outer)
    return layers.biased(layers.linear(x, weights), x.graph.weights(x.dtype, outer))


def _gelu_layers(x: Tensor, hidden: int) -> Tensor:
    return _dense(layers.gelu_tanh(_dense(x, hidden)).to(x.dtype), int(x.shape[-1]))


def resnet(batch: int = 2, channels: int = 4, height: int = 6, width: int = 5, dtype: str = "fp32") -> Program:
    """``relu(x + bn(conv(relu(bn(conv(x))))))``: a basic block, at inference."""
    graph = Graph()
    x = graph.input("x", dtype, batch, channels, height, width)
    inner = _convolved(x).apply("RELU").to(dtype)
    return graph.program((_convolved(inner) + x.wide).apply("RELU").to(dtype))


def _convolved(x: Tensor) -> Tensor:
    channels = x.shape[1]
    result = layers.convolution(x, x.graph.weights(x.dtype, channels, channels, 3, 3), pad=1)
    return layers.batch_norm(result, *(x.graph.weights(x.dtype, channels) for _ in range(4)))


def attention(batch: int = 2, heads: int = 3, rows: int = 5, depth: int = 4, dtype: str = "fp32") -> Program:
    """Causal attention, scaled."""
    graph = Graph()
    query, key, value = (graph.input(name, dtype, batch, heads, rows, depth) for name in ("query", "key", "value"))
    return graph.program(layers.causal_attention(query, key, value))


def transformer_gelu(
    batch: int = 2, rows: int = 5, width: int = 8, heads: int = 2, hidden: int = 12, dtype: str = "fp32"
) -> Program:
    """A pre-norm block with layer norm, packed QKV, causal attention, and a GELU network."""
    graph = Graph()
    x = graph.input("x", dtype, batch, rows, width)
    packed = _dense(_layer_norm(x), 3 * width).to(dtype).reshape(batch, rows, 3, heads, width // heads)
    parts = (packed.shrink(2, k, k + 1).reshape(batch, rows, heads, width // heads) for k in range(3))
    mixed = layers.causal_attention(*(part.permute(0, 2, 1, 3) for part in parts))
    x = (_dense(_together(mixed), width) + x.wide).to(dtype)
    return graph.program((_gelu_layers(_layer_norm(x), hidden) + x.wide).to(dtype))


def _layer_norm(x: Tensor) -> Tensor:
    return layers.layer_norm(x, *(x.graph.weights(x.dtype, x.shape[-1]) for _ in range(2)))


def _together(mixed: Tensor) -> Tensor:
    """[B, H, S, D] as [B, S, H*D]."""
    batch, heads, rows, depth = (int(extent) for extent in mixed.shape)
    return mixed.permute(0, 2, 1, 3).reshape(batch, rows, heads * depth)


def transformer_swiglu(
    batch: int = 2, rows: int = 5, width: int = 8, heads: int = 2, hidden: int = 12, dtype: str = "fp32"
) -> Program:
    """A pre-norm block with rms norm, three projections, causal attention, and a SwiGLU network; no biases."""
    graph = Graph()
    return graph.program(_swiglu_block(graph.input("x", dtype, batch, rows, width), heads, hidden))


def _swiglu_block(x: Tensor, heads: int, hidden: int) -> Tensor:
    batch, rows, width = (int(extent) for extent in x.shape)
    norm = _rms_norm(x)
    parts = [_projected(norm, width).to(x.dtype).reshape(batch, rows, heads, width // heads) for _ in range(3)]
    mixed = layers.causal_attention(*(part.permute(0, 2, 1, 3) for part in parts))
    x = (_projected(_together(mixed), width) + x.wide).to(x.dtype)
    norm = _rms_norm(x)
    gate, up = _projected(norm, hidden), _projected(norm, hidden)
    return (_projected((layers.silu(gate) * up).to(x.dtype), width) + x.wide).to(x.dtype)


def _rms_norm(x: Tensor) -> Tensor:
    return layers.rms_norm(x, x.graph.weights(x.dtype, x.shape[-1]))


def _projected(x: Tensor, outer: int) -> Tensor:
    return layers.linear(x, x.graph.weights(x.dtype, x.shape[-1], outer))


# --- as long as is asked ----------------------------------------------------------------------------------------------


def deep(nodes: int) -> Program:
    """Layers of `transformer_swiglu`, with at least `nodes` nodes."""
    return _repeated(nodes, (1, SEQUENCE, WIDTH), lambda x, _: _swiglu_block(x, HEADS, HIDDEN))


def movements(nodes: int) -> Program:
    """Chains of ten movements with an addition behind each, with at least `nodes` nodes."""
    return _repeated(nodes, (8, 12), lambda x, first: _moved(x) + first)


def _moved(x: Tensor) -> Tensor:
    x = x.reshape(4, 24).permute(1, 0).pad(0, 1, 1).shrink(0, 1, 25).flip(0)
    return x.reshape(12, 8).windows([3]).shrink(2, 1, 2).reshape(6, 12).pad(0, 1, 1, value=1.0)


def _repeated(nodes: int, shape: tuple[int, ...], layer: Callable[[Tensor, Tensor], Tensor]) -> Program:
    graph = Graph()
    first = x = graph.input("x", "fp32", *shape)
    while len(graph.nodes) < max(nodes, 2):
        x = layer(x, first)
    return graph.program(x)
