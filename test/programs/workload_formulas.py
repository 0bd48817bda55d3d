"""What the programs of `bench/workloads` compute, in numpy: by name, a function of the inputs in their order."""

import math

import numpy as np

erf = np.vectorize(math.erf)


def softmax(x):
    terms = np.exp(x - x.max(-1, keepdims=True))
    return terms / terms.sum(-1, keepdims=True)


def standardised(x, axes):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)


def layer_norm(x, gamma, beta):
    return standardised(x, -1) * gamma + beta


def rms_norm(x, gamma):
    return x / np.sqrt(np.mean(x**2, -1, keepdims=True) + 1e-5) * gamma


def of_channels(vector):
    return vector[None, :, None, None]


def group_norm(x, gamma, beta, groups=3):
    parts = np.split(x, groups, axis=1)
    whole = np.concatenate([standardised(part, (1, 2, 3)) for part in parts], axis=1)
    return whole * of_channels(gamma) + of_channels(beta)


def batch_norm(x, mean, deviation, gamma, beta):
    scale = gamma / np.sqrt(deviation**2 + 1e-5)
    return x * of_channels(scale) + of_channels(beta - mean * scale)


def relu(x):
    return np.maximum(x, 0)


def gelu_tanh(x):
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def silu(x):
    return x / (1 + np.exp(-x))


def rotary_halves(x, cosine, sine):
    first, second = np.split(x, 2, axis=-1)
    return x * cosine + np.concatenate([-second, first], axis=-1) * sine


def rotary_pairs(x, cosine, sine):
    turned = (x[..., ::2] + 1j * x[..., 1::2]) * (cosine + 1j * sine)
    return np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)


def pooled(x, reduce, size=2):
    batch, channels, height, width = x.shape
    windows = x.reshape(batch, channels, height // size, size, width // size, size)
    return reduce(windows, axis=(3, 5))


def convolution(x, weights):
    _, _, height, width = x.shape
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    taps = [(row, column) for row in range(3) for column in range(3)]
    return sum(
        np.einsum(
            "nihw,oi->nohw", padded[:, :, row : row + height, column : column + width], weights[:, :, row, column]
        )
        for row, column in taps
    )


def resnet(x, *weights):
    first, second = weights[:5], weights[5:]
    inner = relu(batch_norm(convolution(x, first[0]), *first[1:]))
    return relu(batch_norm(convolution(inner, second[0]), *second[1:]) + x)


def attention(query, key, value):
    rows, depth = query.shape[-2:]
    scores = np.einsum("bhid,bhjd->bhij", query, key) / math.sqrt(depth)
    return softmax(np.where(np.tri(rows, dtype=bool), scores, -np.inf)) @ value


def heads_of(x, heads):
    batch, rows, width = x.shape
    return x.reshape(batch, rows, heads, width // heads).transpose(0, 2, 1, 3)


def together(x):
    batch, heads, rows, depth = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, rows, heads * depth)


def transformer_gelu(x, gamma1, beta1, packed, packed_bias, out, out_bias, gamma2, beta2, up, up_bias, down, down_bias):
    parts = np.split(layer_norm(x, gamma1, beta1) @ packed + packed_bias, 3, axis=-1)
    x = x + together(attention(*(heads_of(part, 2) for part in parts))) @ out + out_bias
    return x + gelu_tanh(layer_norm(x, gamma2, beta2) @ up + up_bias) @ down + down_bias


def transformer_swiglu(x, gamma1, query, key, value, out, gamma2, gate, up, down):
    norm = rms_norm(x, gamma1)
    x = x + together(attention(*(heads_of(norm @ each, 2) for each in (query, key, value)))) @ out
    norm = rms_norm(x, gamma2)
    return x + (silu(norm @ gate) * (norm @ up)) @ down


def chain(x):
    value = x
    for _ in range(3):
        value = relu(value) + x
    return value


FORMULAS = {
    "softmax": softmax,
    "log_softmax": lambda x: np.log(softmax(x)),
    "layer_norm": layer_norm,
    "rms_norm": rms_norm,
    "group_norm": group_norm,
    "instance_norm": lambda x, gamma, beta: group_norm(x, gamma, beta, groups=x.shape[1]),
    "batch_norm_relu": lambda x, gamma, beta, mean, deviation: relu(batch_norm(x, mean, deviation, gamma, beta)),
    "row_sum": lambda x: x.sum(1),
    "column_sum": lambda x: x.sum(0),
    "full_sum": lambda x: x.sum(),
    "sum_of_expanded": lambda x: x * 33,
    "cumulative_sum": lambda x: relu(np.cumsum(x / 2, axis=1)) + 1,
    "gelu_tanh": gelu_tanh,
    "gelu_erf": lambda x: x / 2 * (1 + erf(x / math.sqrt(2))),
    "silu": silu,
    "swiglu_gate": lambda gate, up: silu(gate) * up,
    "rotary_halves": rotary_halves,
    "rotary_pairs": rotary_pairs,
    "bias_residual": lambda x, bias, residual: x + bias + residual,
    "cast": lambda x: x.astype(np.float16),
    "transpose": lambda x: x.T,
    "affine_relu": lambda x: relu(2 * x + 1),
    "chain": chain,
    "embedding": lambda table, tokens, position: relu(
        2 * table[np.clip(tokens, 0, len(table) - 1).astype(int)] + position
    ),
    "max_pooling": lambda x: pooled(x, np.max),
    "average_pooling": lambda x: pooled(x, np.mean),
    "conv_bias_relu": lambda x, weights, bias: relu(convolution(x, weights) + of_channels(bias)),
    "gemm": lambda x, weights: x @ weights,
    "gemm_prologue": lambda x, weights, scale: x @ (weights * scale),
    "gemm_epilogue": lambda x, weights, bias, residual: gelu_tanh(x @ weights + bias) + residual,
    "mlp": lambda x, w1, b1, w2, b2: relu(x @ w1 + b1) @ w2 + b2,
    "gelu_mlp": lambda x, w1, b1, w2, b2: x + gelu_tanh(x @ w1 + b1) @ w2 + b2,
    "resnet": resnet,
    "attention": attention,
    "transformer_gelu": transformer_gelu,
    "transformer_swiglu": transformer_swiglu,
}
