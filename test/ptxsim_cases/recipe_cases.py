"""Cases of `data/recipes/`: kernels written in upstream's `nvvm` and `llvm` ops, which LLVM compiled to PTX.

Three matrix products relu(a @ b + bias) of whole numbers, which are exact, and attention, which is there only in part:
`attention_completion` has the rest. Expected: numpy's products; again: sums of outer products, another softmax.
"""

from collections.abc import Callable

import numpy as np

from ptxsim_cases.attention_completion import COMPLETIONS
from ptxsim_cases.case import Arrays, Case, Mutation, Tiled, no_barrier, poison

F16, F32, I32 = np.float16, np.float32, np.int32


def product(m: int, n: int, k: int, bias: int) -> tuple[Callable, Callable, Callable]:
    """The inputs and the two computations of c = relu(a @ b + bias), f16; `bias` has as many elements."""

    def make(generator: np.random.Generator) -> Arrays:
        shapes = {"a": (m, k), "b": (k, n), "bias": (bias,)}
        whole = {name: generator.integers(-8, 9, shape).astype(F16) for name, shape in shapes.items()}
        return whole | {"c": poison(m, n, dtype=F16)}

    def expected(arrays: Arrays) -> Arrays:
        total = arrays["a"].astype(F32) @ arrays["b"].astype(F32) + arrays["bias"][:n]
        return {"c": np.maximum(total, 0).astype(F16)}

    def again(arrays: Arrays) -> Arrays:
        a, b, bias = (arrays[name].astype(np.int64) for name in ("a", "b", "bias"))
        total = np.tile(bias[:n], (m, 1))
        for step in range(k):
            total += np.outer(a[:, step], b[step])
        return {"c": np.where(total > 0, total, 0).astype(F16)}

    return make, expected, again


TILES, DEPTH, ROWS = 3, 128, 256  # tiles of 128 keys, elements of a head, queries


def _heads(generator: np.random.Generator) -> Arrays:
    q, kv = generator.normal(size=(ROWS, DEPTH)), generator.normal(size=(2, TILES * 128, DEPTH))
    return {"q": q.astype(F16), "kv": kv.astype(F16), "out": poison(ROWS, DEPTH, dtype=F16)}


def scores(arrays: Arrays) -> np.ndarray:
    """Exp(q @ k^T / sqrt(DEPTH) - the row's maximum), [queries, keys] f64."""
    found = arrays["q"].astype(float) @ arrays["kv"][0].astype(float).T / DEPTH**0.5
    return np.exp(found - found.max(1, keepdims=True))


def _attention(arrays: Arrays) -> Arrays:
    raised = scores(arrays)
    return {"out": (raised @ arrays["kv"][1].astype(float) / raised.sum(1, keepdims=True)).astype(F16)}


def _attention_again(arrays: Arrays) -> Arrays:
    """A key at a time, with a running maximum."""
    q, (k, v) = arrays["q"].astype(float), arrays["kv"].astype(float)
    most, total, out = np.full(ROWS, -np.inf), np.zeros(ROWS), np.zeros((ROWS, DEPTH))
    for key, value in zip(k, v, strict=True):
        score = np.einsum("rd,d->r", q, key) * DEPTH**-0.5 / np.log(2)
        before, most = most, np.maximum(most, score)
        shrunk, weight = 2 ** (before - most), 2 ** (score - most)
        total, out = total * shrunk + weight, out * shrunk[:, None] + weight[:, None] * value
    return {"out": (out / total[:, None]).astype(F16)}


def _case(name: str, entry: str, grid: tuple[int, int], threads: int, arguments: tuple, computations: tuple, **more):
    shape = (*grid, 1), (threads, 1, 1)
    return Case(name, f"recipes/{name}.ptx", entry, *shape, arguments, *computations, **more)


def _maps(m: int, n: int, k: int) -> tuple[Tiled, Tiled, Tiled]:
    """The maps of a [m, k]; of b [k, n] as panels of 64 columns; and of c [m, n]."""
    return (
        Tiled("a", (k, m), (k * 2,), (64, 128), "128B"),
        Tiled("b", (64, k, n // 64), (n * 2, 128), (64, 64, 4), "128B"),
        Tiled("c", (n, m), (n * 2,), (64, 128), "128B"),
    )


def _unwaited(name: str, index: int, *kinds: str) -> Mutation:
    """The mutation that goes on after one look at barrier number `index`."""
    return Mutation(f"{name} is not waited for", r"^bra\.uni\s+LAB_WAIT;|^\s*bra\.uni\s+LAB_WAIT;", kinds, index)


_EARLY = ("async-in-flight", "uninitialized", "race")
_OVERWRITTEN = ("wgmma-in-flight", "async-in-flight", "race", "mbarrier-tx-mismatch", "deadlock")
_GROUP_0 = r"^\s*wgmma\.wait_group\.sync\.aligned\s+0;"
#: LLVM has put the zeros of the accumulators behind wgmma.fence, which by the PTX ISA must come after them.
_WITH_FENCE = Mutation(
    "with a fence after the zeros", r"^wgmma\.mma_async", (), 0, "wgmma.fence.sync.aligned;\nwgmma.mma_async"
)
_PIPELINE = (
    _WITH_FENCE,
    _unwaited("the first stage", 0, *_EARLY),
    _unwaited("a stage", 1, *_EARLY),
    _unwaited("a free stage", 2, *_OVERWRITTEN),
    Mutation("a stage is free too early", r"^\s*wgmma\.wait_group\.sync\.aligned\s+1;", _OVERWRITTEN),
    Mutation("no last wgmma.wait_group", _GROUP_0, ("wgmma-in-flight",)),
    Mutation("no stage is ever free", r"^\s*mbarrier\.arrive\.shared\.b64.*;", ("deadlock",)),
    Mutation(
        "16 bytes too many are expected",
        r"mov\.b32\s+(%r\d+), 49152;",
        ("mbarrier-tx-mismatch", "deadlock"),
        None,
        r"mov.b32 \1, 49168;",
    ),
    no_barrier(0, "race", "uninitialized", "deadlock"),
)
_M, _N, _K = 200, 320, 328  # no multiples of a tile of 128 × 256, nor of its depth, 64; six stages where there are four
CASES = (
    # The first two tiles are loaded whatever k is: it must be 64 at least, and m, n and k multiples of 128, 128 and 32.
    _case(
        "sm80_gemm_cp_async",
        "gemm80",
        (2, 2),
        128,
        ("a", "b", "bias", "c", I32(256), I32(256), I32(160)),
        product(256, 256, 160, 256),
        dynamic_shared_bytes=3 * 16384,
        mutations=(
            Mutation("a group is not waited for", r"^\s*cp\.async\.wait_group\s+1;", ("async-in-flight",)),
            Mutation(
                "a group too few is waited for",
                r"cp\.async\.wait_group\s+1;",
                ("async-in-flight",),
                0,
                "cp.async.wait_group 2;",
            ),
            no_barrier(0, "race", "async-in-flight"),
        ),
    ),
    # Rows and columns are stored without a look at m and n, which must be multiples of 128 and 256.
    _case(
        "sm90_gemm_tma_wgmma",
        "gemm",
        (1, 2),
        384,
        (*_maps(256, 256, _K), "bias", "c", I32(256), I32(256), I32(_K)),
        product(256, 256, _K, 256),
        dynamic_shared_bytes=4 * 49152 + 64,
        findings=("wgmma-fence-missing",),
        mutations=_PIPELINE,
    ),
    # c is stored by its map, any m and n; the bias is loaded for whole tiles, and must have that many elements.
    _case(
        "sm90_gemm_tma_store",
        "gemm",
        (2, 2),
        384,
        (*_maps(_M, _N, _K), "bias", "c", I32(_M), I32(_N), I32(_K)),
        product(_M, _N, _K, 512),
        dynamic_shared_bytes=4 * 49152 + 64,
        findings=("wgmma-fence-missing",),
        mutations=(
            *_PIPELINE,
            Mutation("no proxy fence", r"^\s*fence\.proxy\.async\.shared::cta;", ("proxy-fence-missing",)),
            Mutation("the tile is not complete", r"^\s*bar\.sync\s+1, 256;", ("race", "proxy-fence-missing"), 1),
        ),
    ),
    _case(
        "sm90_attention_consumer",
        "fa",
        (ROWS // 128, 1),
        384,
        (
            Tiled("q", (64, ROWS, 2), (256, 128), (64, 128, 2), "128B"),
            Tiled("kv", (64, 2 * TILES * 128, 2), (256, 128), (64, 128, 2), "128B"),
            "out",
            F32(DEPTH**-0.5 / np.log(2)),
            I32(TILES),
        ),
        (_heads, _attention, _attention_again),
        dynamic_shared_bytes=163968,
        rtol=2e-3,
        atol=1e-3,
        completions=COMPLETIONS,
        mutations=(
            _unwaited("K", 0, *_EARLY),
            _unwaited("V", 1, *_EARLY),
            Mutation("S is not waited for", _GROUP_0, ("wgmma-in-flight",)),
            Mutation("O is not waited for", _GROUP_0, ("wgmma-in-flight",), 1),
            Mutation("no fence after the scaling", r"^\s*wgmma\.fence\.sync\.aligned;", ("wgmma-fence-missing",), 2),
            Mutation("K is never free", r"^\s*mbarrier\.arrive\.shared\.b64.*;", ("deadlock",)),
        ),
    ),
)
