"""Cases of `data/cuda/mma.cu`: products of a warp. The numbers are whole and small, so that every sum is exact.

Expected: numpy's product; again: sums of Python's integers.
"""

import ml_dtypes
import numpy as np

from ptxsim_cases.case import Arrays, Case, Mutation, no_barrier, poison

M, N, K = 70, 72, 88


def _gemm_inputs(generator: np.random.Generator) -> Arrays:
    a, b = generator.integers(-8, 9, (M, K)), generator.integers(-8, 9, (K, N))
    return {"a": a.astype(np.float16), "b": b.astype(np.float16), "c": poison(M, N, dtype=np.float32)}


def product(a: np.ndarray, b: np.ndarray) -> list[list[int]]:
    """A [m, k] @ b [k, n] of whole numbers, summed one by one."""
    columns = b.astype(int).T.tolist()
    return [
        [sum(x * y for x, y in zip(row, column, strict=True)) for column in columns] for row in a.astype(int).tolist()
    ]


def _gemm(arrays: Arrays) -> Arrays:
    return {"c": arrays["a"].astype(np.float32) @ arrays["b"].astype(np.float32)}


def _gemm_again(arrays: Arrays) -> Arrays:
    return {"c": np.array(product(arrays["a"], arrays["b"]), np.float32)}


def _tile(name: str, a_type: object, b_type: object, out_type: object, words: int) -> Case:
    """The case of one shape: out [16, 8] = a @ b^T + 1; rows of a [16, k], b [8, k] are `words` x 32 bits."""
    k = words * 4 // np.dtype(a_type).itemsize

    def make(generator: np.random.Generator) -> Arrays:
        low = 0 if np.dtype(a_type) == np.uint8 else -8
        a, b = generator.integers(low, 9, (16, k)).astype(a_type), generator.integers(-8, 9, (8, k)).astype(b_type)
        return {"a": a, "b": b, "out": poison(16, 8, dtype=out_type)}

    def expected(arrays: Arrays) -> Arrays:
        return {"out": (arrays["a"].astype(np.float64) @ arrays["b"].astype(np.float64).T + 1).astype(out_type)}

    def again(arrays: Arrays) -> Arrays:
        return {"out": np.array(product(arrays["a"], arrays["b"].T)).astype(out_type) + np.ones((), out_type)}

    return Case(name, "cuda/mma.ptx", name, (1, 1, 1), (32, 1, 1), ("a", "b", "out"), make, expected, again)


F16, BF16, F32, S8, S32 = np.float16, ml_dtypes.bfloat16, np.float32, np.int8, np.int32
CASES = (
    Case(
        "gemm_f16",
        "cuda/mma.ptx",
        "gemm_f16",
        (2, 2, 1),
        (128, 1, 1),
        ("a", "b", "c", S32(M), S32(N), S32(K)),
        _gemm_inputs,
        _gemm,
        _gemm_again,
        mutations=(
            no_barrier(0, "race", "async-in-flight"),
            no_barrier(1, "race", "async-in-flight"),
            Mutation("a group is not waited for", r"^\s*cp\.async\.wait_group\s+1;", ("async-in-flight",)),
            Mutation("no group is ever closed", r"^\s*cp\.async\.commit_group;", ("async-in-flight",), None),
        ),
    ),
    _tile("mma_bf16_k16", BF16, BF16, F32, 8),
    _tile("mma_tf32_k8", F32, F32, F32, 8),
    _tile("mma_s8_k32", S8, S8, S32, 8),
    _tile("mma_u8_s8_k32", np.uint8, S8, S32, 8),
    _tile("mma_f16_k8", F16, F16, F32, 4),
    _tile("mma_f16_into_f16", F16, F16, F16, 8),
)
