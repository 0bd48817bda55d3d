"""Programs of one layer, or one op with what stands around it, by sizes and element type."""

from . import layers
from .graph import Extent, Graph, Program, Tensor


def _matrix(rows: Extent, columns: Extent, dtype: str) -> tuple[Graph, Tensor]:
    graph = Graph()
    return graph, graph.input("x", dtype, rows, columns)


# --- rows -------------------------------------------------------------------------------------------------------------


def softmax(rows: Extent = 7, columns: Extent = 33, dtype: str = "fp32") -> Program:
    """Softmax of rows."""
    graph, x = _matrix(rows, columns, dtype)
    return graph.program(layers.softmax(x))


def log_softmax(rows: Extent = 7, columns: Extent = 33, dtype: str = "fp32") -> Program:
    """Log-softmax of rows."""
    graph, x = _matrix(rows, columns, dtype)
    return graph.program(layers.log_softmax(x))


def layer_norm(rows: Extent = 7, columns: Extent = 33, dtype: str = "fp32") -> Program:
    """Layer normalisation of rows."""
    graph, x = _matrix(rows, columns, dtype)
    gamma, beta = (graph.input(name, dtype, columns) for name in ("gamma", "beta"))
    return graph.program(layers.layer_norm(x, gamma, beta))


def rms_norm(rows: Extent = 7, columns: Extent = 33, dtype: str = "fp32") -> Program:
    """Root-mean-square normalisation of rows."""
    graph, x = _matrix(rows, columns, dtype)
    return graph.program(layers.rms_norm(x, graph.input("gamma", dtype, columns)))


def group_norm(
    batch: int = 2, channels: int = 6, height: int = 5, width: int = 3, groups: int = 3, dtype: str = "fp32"
) -> Program:
    """Group normalisation of images."""
    graph, x, gamma, beta = _images(batch, channels, height, width, dtype)
    return graph.program(layers.group_norm(x, gamma, beta, groups))


def instance_norm(batch: int = 2, channels: int = 6, height: int = 5, width: int = 3, dtype: str = "fp32") -> Program:
    """Instance normalisation of images."""
    graph, x, gamma, beta = _images(batch, channels, height, width, dtype)
    return graph.program(layers.instance_norm(x, gamma, beta))


def batch_norm_relu(batch: int = 2, channels: int = 6, height: int = 5, width: int = 3, dtype: str = "fp32") -> Program:
    """Batch normalisation of images at inference, and ReLU."""
    graph, x, gamma, beta = _images(batch, channels, height, width, dtype)
    mean, deviation = (graph.input(name, dtype, channels) for name in ("mean", "deviation"))
    return graph.program(layers.batch_norm(x, mean, deviation, gamma, beta).apply("RELU").to(dtype))


def _images(batch: int, channels: int, height: int, width: int, dtype: str) -> tuple[Graph, Tensor, Tensor, Tensor]:
    graph = Graph()
    x = graph.input("x", dtype, batch, channels, height, width)
    return graph, x, graph.input("gamma", dtype, channels), graph.input("beta", dtype, channels)


def row_sum(rows: Extent = 7, columns: Extent = 33, dtype: str = "fp32") -> Program:
    """The sum of each row."""
    graph, x = _matrix(rows, columns, dtype)
    return graph.program(x.reduce("SUM", 1))


def column_sum(rows: Extent = 7, columns: Extent = 33, dtype: str = "fp32") -> Program:
    """The sum of each column."""
    graph, x = _matrix(rows, columns, dtype)
    return graph.program(x.reduce("SUM", 0))


def full_sum(rows: Extent = 7, columns: Extent = 33, dtype: str = "fp32") -> Program:
    """The sum of all elements."""
    graph, x = _matrix(rows, columns, dtype)
    return graph.program(x.reduce("SUM", 0, 1))


def sum_of_expanded(rows: Extent = 7, columns: Extent = 33, dtype: str = "fp16") -> Program:
    """``sum(cast(expand(x)))``: each element, repeated along a row, widened and added up along it."""
    graph = Graph()
    repeated = graph.input("x", dtype, rows).expand((rows, columns), 0)
    return graph.program(repeated.to("fp32").reduce("SUM", 1))


def cumulative_sum(rows: Extent = 7, length: int = 33, dtype: str = "fp32") -> Program:
    """``relu(cumsum(x * 0.5)) + 1`` along rows: a scan with element-wise ops around it."""
    graph, x = _matrix(rows, length, dtype)
    total = (x.wide * 0.5).pad(1, length - 1, 0).windows([length]).reduce("SUM", 2)
    return graph.program((total.apply("RELU") + 1.0).to(dtype))


# --- element by element -----------------------------------------------------------------------------------------------


def gelu_tanh(rows: Extent = 7, columns: Extent = 33, dtype: str = "fp32") -> Program:
    """GELU in the tanh form."""
    graph, x = _matrix(rows, columns, dtype)
    return graph.program(layers.gelu_tanh(x.wide).to(dtype))


def gelu_erf(rows: Extent = 7, columns: Extent = 33, dtype: str = "fp32") -> Program:
    """GELU as it is defined."""
    graph, x = _matrix(rows, columns, dtype)
    return graph.program(layers.gelu_erf(x.wide).to(dtype))


def silu(rows: Extent = 7, columns: Extent = 33, dtype: str = "fp32") -> Program:
    """SiLU."""
    graph, x = _matrix(rows, columns, dtype)
    return graph.program(layers.silu(x.wide).to(dtype))


def swiglu_gate(rows: Extent = 7, columns: Extent = 33, dtype: str = "fp32") -> Program:
    """``silu(gate) * up``."""
    graph = Graph()
    gate, up = (graph.input(name, dtype, rows, columns) for name in ("gate", "up"))
    return graph.program((layers.silu(gate.wide) * up.wide).to(dtype))


def rotary_halves(batch: int = 2, heads: int = 3, rows: int = 5, depth: int = 8, dtype: str = "fp32") -> Program:
    """Rotary embedding of pairs that are half the depth apart."""
    graph, x = _heads(batch, heads, rows, depth, dtype)
    cosine, sine = (graph.input(name, dtype, rows, depth) for name in ("cosine", "sine"))
    return graph.program(layers.rotated_halves(x, cosine, sine))


def rotary_pairs(batch: int = 2, heads: int = 3, rows: int = 5, depth: int = 8, dtype: str = "fp32") -> Program:
    """Rotary embedding of neighbours."""
    graph, x = _heads(batch, heads, rows, depth, dtype)
    cosine, sine = (graph.input(name, dtype, rows, depth // 2) for name in ("cosine", "sine"))
    return graph.program(layers.rotated_pairs(x, cosine, sine))


def _heads(batch: int, heads: int, rows: int, depth: int, dtype: str) -> tuple[Graph, Tensor]:
    graph = Graph()
    return graph, graph.input("x", dtype, batch, heads, rows, depth)


def bias_residual(rows: Extent = 7, columns: Extent = 33, dtype: str = "fp32") -> Program:
    """``x + bias + residual``."""
    graph, x = _matrix(rows, columns, dtype)
    bias, residual = graph.input("bias", dtype, columns), graph.input("residual", dtype, rows, columns)
    return graph.program((layers.biased(x.wide, bias) + residual.wide).to(dtype))


def cast(rows: Extent = 7, columns: Extent = 33, dtype: str = "fp32") -> Program:
    """Each element in another type: fp16 for fp32, fp32 for others."""
    graph, x = _matrix(rows, columns, dtype)
    return graph.program(x.to("fp16" if dtype == "fp32" else "fp32"))


def transpose(rows: Extent = 7, columns: Extent = 33, dtype: str = "fp32") -> Program:
    """The matrix with its axes exchanged."""
    graph, x = _matrix(rows, columns, dtype)
    return graph.program(x.permute(1, 0))


def affine_relu(rows: Extent = 7, columns: Extent = 33, dtype: str = "fp32") -> Program:
    """``relu(x * 2 + 1)``."""
    graph, x = _matrix(rows, columns, dtype)
    return graph.program((x * 2.0 + 1.0).apply("RELU"))


def chain(ops: int = 30, rows: Extent = 64, columns: Extent = 64, dtype: str = "fp32") -> Program:
    """A chain of `ops` element-wise ops in which every tenth one reads the input again."""
    graph, x = _matrix(rows, columns, dtype)
    value = x
    for k in range(ops):
        value = value + x if k % 10 == 9 else value.apply("RELU")
    return graph.program(value)


def embedding(words: int = 11, rows: int = 5, columns: int = 6, dtype: str = "fp32") -> Program:
    """``relu(gather(table, clamp(tokens)) * 2 + position)``: rows of a table, with element-wise neighbours."""
    graph = Graph()
    table, tokens = graph.input("table", dtype, words, columns), graph.input("tokens", "i32", rows)
    index = tokens.apply("MAX", 0).apply("MIN", words - 1)
    gathered = graph.add(dtype, (rows, columns), "GATHER", table, index, axis=0)
    return graph.program((gathered * 2.0 + graph.input("position", dtype, rows, columns)).apply("RELU"))


# --- windows and contractions -----------------------------------------------------------------------------------------


def max_pooling(
    batch: int = 2, channels: int = 3, height: int = 8, width: int = 6, kernel: int = 2, dtype: str = "fp32"
) -> Program:
    """The maximum of each window of images; windows do not overlap."""
    graph = Graph()
    x = graph.input("x", dtype, batch, channels, height, width)
    return graph.program(x.windows([kernel, kernel], kernel).reduce("MAX", 4, 5))


def average_pooling(
    batch: int = 2, channels: int = 3, height: int = 8, width: int = 6, kernel: int = 2, dtype: str = "fp32"
) -> Program:
    """The mean of each window of images; windows do not overlap."""
    graph = Graph()
    x = graph.input("x", dtype, batch, channels, height, width)
    return graph.program(x.windows([kernel, kernel], kernel).reduce("MEAN", 4, 5).to(dtype))


def conv_bias_relu(
    batch: int = 2, inner: int = 3, outer: int = 4, height: int = 7, width: int = 6, dtype: str = "fp32"
) -> Program:
    """A padded 3×3 convolution with bias and ReLU."""
    graph = Graph()
    x, weights = graph.input("x", dtype, batch, inner, height, width), graph.input("w", dtype, outer, inner, 3, 3)
    result = layers.convolution(x, weights, pad=1)
    bias = graph.input("bias", dtype, outer).to(result.dtype).expand(result.shape, 1)
    return graph.program((result + bias).apply("RELU").to(dtype))


def gemm(m: Extent = 7, n: Extent = 5, k: Extent = 9, dtype: str = "fp32") -> Program:
    """A product of matrices."""
    graph = Graph()
    return graph.program(layers.matmul(graph.input("x", dtype, m, k), graph.input("w", dtype, k, n)))


def gemm_prologue(m: Extent = 7, n: Extent = 5, k: Extent = 9, dtype: str = "fp16") -> Program:
    """``x @ (cast(w) * scale)``: weights of 8 bits, with a scale for each column."""
    graph = Graph()
    x, weights = graph.input("x", dtype, m, k), graph.input("w", "i8", k, n)
    scales = graph.input("scale", dtype, n).expand((k, n), 1)
    return graph.program(layers.matmul(x, weights.to(dtype) * scales))


def gemm_epilogue(m: Extent = 7, n: Extent = 5, k: Extent = 9, dtype: str = "fp16") -> Program:
    """``gelu(x @ w + bias) + residual``."""
    graph = Graph()
    x, weights = graph.input("x", dtype, m, k), graph.input("w", dtype, k, n)
    result = layers.gelu_tanh(layers.biased(layers.linear(x, weights), graph.input("bias", dtype, n)))
    return graph.program((result + graph.input("residual", dtype, m, n).wide).to(dtype))
