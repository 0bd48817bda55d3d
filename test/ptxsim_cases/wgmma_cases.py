"""Cases of `data/cuda/wgmma.cu` and `warp_specialised.cu`: products of a warpgroup. All numbers are whole.

Expected: numpy's product; again: sums of Python's integers.
"""

import ml_dtypes
import numpy as np

from ptxsim_cases.case import Arrays, Case, Mutation, Tiled, no_barrier, poison
from ptxsim_cases.mma_cases import product

F16, BF16, F32, S32 = np.float16, ml_dtypes.bfloat16, np.float32, np.int32
_NO_FENCE = Mutation("no wgmma.fence", r"^\s*wgmma\.fence\.sync\.aligned;", ("wgmma-fence-missing",), None)
_NO_WAIT = Mutation("no wgmma.wait_group", r"^\s*wgmma\.wait_group\.sync\.aligned 0;", ("wgmma-in-flight",))
_NO_COMMIT = Mutation("no wgmma.commit_group", r"^\s*wgmma\.commit_group\.sync\.aligned;", ("wgmma-in-flight",))
_NO_PROXY = Mutation("no proxy fence", r"^\s*fence\.proxy\.async\.shared::cta;", ("proxy-fence-missing",))
_EARLY = Mutation(
    "the tiles are not waited for", r"^\s*@!complete bra again;", ("async-in-flight", "uninitialized", "race")
)


def numbers(generator: np.random.Generator, rows: int, columns: int, dtype: object) -> np.ndarray:
    """Whole numbers that every format of 8 bits and more has."""
    return generator.integers(-8, 9, (rows, columns)).astype(dtype)


def _tma_inputs(generator: np.random.Generator) -> Arrays:
    a, b = numbers(generator, 64, 192, F16), numbers(generator, 32, 192, F16)
    return {"a": a, "b": b, "out": poison(64, 32, dtype=F32)}


def _transposed(name: str, dtype: object):
    """The two computations of: the array `name` is a @ b^T."""

    def expected(arrays: Arrays) -> Arrays:
        return {name: (arrays["a"].astype(F32) @ arrays["b"].astype(F32).T).astype(dtype)}

    def again(arrays: Arrays) -> Arrays:
        return {name: np.array(product(arrays["a"], arrays["b"].T)).astype(dtype)}

    return expected, again


def _register_inputs(generator: np.random.Generator) -> Arrays:
    a, b = numbers(generator, 64, 16, BF16), numbers(generator, 16, 16, BF16)
    return {"a": a, "b": b, "out": poison(64, 16, dtype=F32)}


def _registers(arrays: Arrays) -> Arrays:
    return {"out": -(arrays["a"].astype(F32) @ arrays["b"].astype(F32))}


def _registers_again(arrays: Arrays) -> Arrays:
    return {"out": 0 - np.array(product(arrays["a"], arrays["b"]), F32)}


def _narrow(name: str, dtype: object, out_type: object, sign: int = 1) -> Case:
    """The case of one element type: out [64, 8] = (1 to 4, what the registers had) + sign * a @ b^T."""
    k = 32 // np.dtype(dtype).itemsize

    def make(generator: np.random.Generator) -> Arrays:
        a, b = numbers(generator, 64, k, dtype), numbers(generator, 8, k, dtype)
        return {"a": a, "b": b, "out": poison(64, 8, dtype=out_type)}

    def expected(arrays: Arrays) -> Arrays:
        row, column = np.indices((64, 8))
        start = 1 + row // 8 % 2 * 2 + column % 2
        return {"out": (start + sign * (arrays["a"].astype(float) @ arrays["b"].astype(float).T)).astype(out_type)}

    def again(arrays: Arrays) -> Arrays:
        sums = product(arrays["a"], arrays["b"].T)
        rows = [[1 + c % 2 + (2 if r & 8 else 0) + sign * v for c, v in enumerate(row)] for r, row in enumerate(sums)]
        return {"out": np.array(rows).astype(out_type)}

    mutations = (
        _NO_PROXY,
        _NO_WAIT,
        _NO_COMMIT,
        _NO_FENCE,
        no_barrier(0, "race", "uninitialized", "proxy-fence-missing"),
    )
    more = {"mutations": mutations}
    return Case(name, "cuda/wgmma.ptx", name, (1, 1, 1), (128, 1, 1), ("a", "b", "out"), make, expected, again, **more)


M, N, K = 200, 40, 136  # no multiples of 128, 16 and 64


def _gemm_inputs(generator: np.random.Generator) -> Arrays:
    return {"a": numbers(generator, M, K, F16), "b": numbers(generator, N, K, F16), "c": poison(M, N, dtype=F16)}


_ROWS = (Tiled("a", (192, 64), (384,), (64, 64), "128B"), Tiled("b", (192, 32), (384,), (64, 32), "128B"))
_MAPS = (
    Tiled("a", (K, M), (K * 2,), (64, 128), "128B"),
    Tiled("b", (K, N), (K * 2,), (64, 16), "128B"),
    Tiled("c", (N, M), (N * 2,), (16, 128)),
)
_BYTES = r"^\s*mov\.\S+\s+(%r\d+), {};"
CASES = (
    Case(
        "wgmma_tma",
        "cuda/wgmma.ptx",
        "wgmma_tma",
        (1, 1, 1),
        (128, 1, 1),
        (*_ROWS, "out", S32(3)),
        _tma_inputs,
        *_transposed("out", F32),
        mutations=(
            _NO_FENCE,
            _NO_WAIT,
            _EARLY,
            Mutation(
                "16 bytes too many are expected",
                _BYTES.format(12288),
                ("mbarrier-tx-mismatch", "deadlock"),
                0,
                r"mov.b32 \1, 12304;",
            ),
        ),
    ),
    Case(
        "wgmma_registers",
        "cuda/wgmma.ptx",
        "wgmma_registers",
        (1, 1, 1),
        (128, 1, 1),
        ("a", "b", "out"),
        _register_inputs,
        _registers,
        _registers_again,
        mutations=(_NO_PROXY, _NO_WAIT, _NO_FENCE, no_barrier(0, "race", "uninitialized", "proxy-fence-missing")),
    ),
    _narrow("wgmma_s8", np.int8, S32),
    _narrow("wgmma_e4m3", ml_dtypes.float8_e4m3fn, F32),
    _narrow("wgmma_e5m2", ml_dtypes.float8_e5m2, F32),
    _narrow("wgmma_tf32", F32, F32, -1),
    Case(
        "specialised_gemm",
        "cuda/warp_specialised.ptx",
        "specialised_gemm",
        (3, 2, 1),
        (384, 1, 1),
        (*_MAPS, S32(3)),
        _gemm_inputs,
        *_transposed("c", F16),
        dynamic_shared_bytes=40992,
        mutations=(
            _NO_FENCE,
            _NO_WAIT,
            _NO_PROXY,
            Mutation(
                "full is not waited for", r"^\s*@!complete bra again;", ("async-in-flight", "uninitialized", "race"), 0
            ),
            Mutation("empty is never said", r"^\s*mbarrier\.arrive\.shared::cta\.b64.*;", ("deadlock",)),
            Mutation("the tile is not complete", r"^\s*bar\.sync 1, 256;", ("race", "proxy-fence-missing")),
            Mutation(
                "16 bytes too few are expected",
                _BYTES.format(18432),
                ("mbarrier-tx-mismatch", "deadlock"),
                0,
                r"mov.b32 \1, 18416;",
            ),
        ),
    ),
)
