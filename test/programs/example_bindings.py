"""The programs of `examples/`, and odd sizes for the symbols of each."""

from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"
#: The attributes and sizes of 001 §5.2 that must be bound.
CONV = {
    "H": 9,
    "W": 8,
    "Oy": 5,
    "Ox": 4,
    "Kh": 3,
    "Kw": 3,
    "Sh": 2,
    "Sw": 2,
    "Dh": 1,
    "Dw": 1,
    "pt": 1,
    "pb": 1,
    "pl": 1,
    "pr": 1,
}
BIND = {
    "attention": {"B": 2, "H": 3, "M": 5, "N": 7, "D": 4},
    "conv2d": {"N": 2, "Cin_total": 4, "Cin": 2, "Cout": 6, **CONV},
    "cumulative_sum": {"M": 3, "K": 7},
    "gather": {"V": 9, "D": 5, "B": 2, "T": 3},
    "gemm_000": {"M": 7, "N": 5, "K": 3},
    "gemm_001": {"M": 7, "N": 5, "K": 3},
    "gemm_bias_relu": {"M": 7, "N": 5, "K": 3},
    "layer_norm": {"M": 7},
    "mlp_gelu_000": {"M": 7, "N": 5, "K": 3},
    "softmax": {"M": 7, "N": 5},
    "topk": {"M": 7, "N": 5},
}
#: Sizes (M, N, K) of the running example: odd ones, and those of its tile.
SIZES = ((1, 1, 1), (7, 5, 3), (64, 64, 32), (150, 130, 70), (257, 129, 65))
