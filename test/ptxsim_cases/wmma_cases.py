"""Cases of `data/cuda/wmma.cu`: products of `nvcuda::wmma`, of whole and small numbers, so that every sum is exact.

Expected: numpy's product; again: sums of Python's integers.
"""

import ml_dtypes
import numpy as np
from numpy.typing import DTypeLike

from ptxsim_cases.case import Arrays, Case, Mutation, no_barrier, poison
from ptxsim_cases.mma_cases import product

M, N, K = 41, 52, 40  # no multiples of a tile
EDGE, ALPHA, BETA = 64, 2.0, -3.0


def _gemm_inputs(generator: np.random.Generator) -> Arrays:
    a, b = generator.integers(-8, 9, (M, K)), generator.integers(-8, 9, (K, N))
    return {"a": a.astype(np.float16), "b": b.astype(np.float16), "c": poison(M, N, dtype=np.float32)}


def _gemm(arrays: Arrays) -> Arrays:
    return {"c": arrays["a"].astype(np.float32) @ arrays["b"].astype(np.float32)}


def _gemm_again(arrays: Arrays) -> Arrays:
    return {"c": np.array(product(arrays["a"], arrays["b"]), np.float32)}


def _one(name: str, shape: tuple[int, int, int], element: DTypeLike, of_sum: DTypeLike) -> Case:
    """The product of one warp: out [m, n] = a [m, k] @ b^T + 1, b [n, k]."""
    m, n, k = shape

    def make(generator: np.random.Generator) -> Arrays:
        low = 0 if np.dtype(element) == np.uint8 else -8
        a, b = (generator.integers(low, 9, (rows, k)).astype(element) for rows in (m, n))
        return {"a": a, "b": b, "out": poison(m, n, dtype=of_sum)}

    def expected(arrays: Arrays) -> Arrays:
        return {"out": (arrays["a"].astype(np.float64) @ arrays["b"].astype(np.float64).T + 1).astype(of_sum)}

    def again(arrays: Arrays) -> Arrays:
        return {"out": (np.array(product(arrays["a"], arrays["b"].T)) + 1).astype(of_sum)}

    return Case(name, "cuda/wmma.ptx", name, (1, 1, 1), (32, 1, 1), ("a", "b", "out"), make, expected, again)


def _scaled_inputs(generator: np.random.Generator) -> Arrays:
    a, b, c = (generator.integers(-8, 9, (EDGE, EDGE)) for _ in range(3))
    return {"a": a.astype(np.float16), "b": b.astype(np.float16), "c": c.astype(np.float32)}


# The arrays are the transposed of the matrices, which are stored in columns.
def _scaled(arrays: Arrays) -> Arrays:
    a, b, c = (arrays[name].T.astype(np.float32) for name in "abc")
    return {"c": (ALPHA * (a @ b) + BETA * c).T}


def _scaled_again(arrays: Arrays) -> Arrays:
    sums = np.array(product(arrays["b"], arrays["a"]), np.float32)
    return {"c": sums * ALPHA + arrays["c"] * BETA}


def _saturated_inputs(generator: np.random.Generator) -> Arrays:
    a, b = (generator.integers(-128, 128, (16, 16)).astype(np.int8) for _ in "ab")
    return {"a": a, "b": b, "out": np.where(generator.integers(0, 2, (16, 16)), 2**31 - 1, -(2**31)).astype(np.int32)}


def _saturated(arrays: Arrays) -> Arrays:
    sums = arrays["a"].astype(np.int64) @ arrays["b"].astype(np.int64).T + arrays["out"]
    return {"out": sums.clip(-(2**31), 2**31 - 1).astype(np.int32)}


def _saturated_again(arrays: Arrays) -> Arrays:
    rows = product(arrays["a"].astype(object), arrays["b"].T.astype(object))
    sums = [[int(x) + int(y) for x, y in zip(*each, strict=True)] for each in zip(rows, arrays["out"], strict=True)]
    return {"out": np.array([[max(-(2**31), min(each, 2**31 - 1)) for each in row] for row in sums], np.int32)}


CASES = (
    Case(
        "wmma_gemm",
        "cuda/wmma.ptx",
        "wmma_gemm",
        (2, 2, 1),
        (128, 1, 1),
        ("a", "b", "c", np.int32(M), np.int32(N), np.int32(K)),
        _gemm_inputs,
        _gemm,
        _gemm_again,
        mutations=(
            no_barrier(0, "race", "uninitialized"),
            no_barrier(1),
            Mutation("the warp does not wait for its store", r"^\s*bar\.warp\.sync\s+\S+;", ("race",)),
            Mutation(
                "a stride is too small",
                r"^(\s*wmma\.load\.a\S+\s+\{[^}]*\}, \[[^\]]*\]), %r\d+;",
                ("out-of-bounds",),
                replacement=r"\1, 8;",
            ),
        ),
    ),
    _one("wmma_bf16", (8, 32, 16), ml_dtypes.bfloat16, np.float32),
    _one("wmma_f16", (32, 8, 16), np.float16, np.float16),
    _one("wmma_tf32", (16, 16, 8), np.float32, np.float32),
    _one("wmma_f64", (8, 8, 4), np.float64, np.float64),
    _one("wmma_s8", (16, 16, 16), np.int8, np.int32),
    _one("wmma_u8", (8, 32, 16), np.uint8, np.int32),
    Case(
        "wmma_scaled",
        "cuda/wmma.ptx",
        "wmma_scaled",
        (4, 2, 1),
        (32, 2, 1),
        ("a", "b", "c", np.float32(ALPHA), np.float32(BETA)),
        _scaled_inputs,
        _scaled,
        _scaled_again,
    ),
    Case(
        "wmma_saturated",
        "cuda/wmma.ptx",
        "wmma_saturated",
        (1, 1, 1),
        (32, 1, 1),
        ("a", "b", "out"),
        _saturated_inputs,
        _saturated,
        _saturated_again,
    ),
)
