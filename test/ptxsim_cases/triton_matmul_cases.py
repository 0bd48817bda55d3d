"""Cases of `data/triton/`, continued: matrix products and attention, by cp.async, wgmma and tensor descriptors (TMA).

Expected: numpy in double precision; again: sums of Python's floats, or another formula.
"""

import math
from collections.abc import Callable

import numpy as np

from ptxsim_cases.case import Argument, Arrays, Mutation, Tiled, no_barrier, poison
from ptxsim_cases.triton_cases import triton_case

F16, F32, I32 = np.float16, np.float32, np.int32


def _matrices(m: int, n: int, k: int, transposed: bool) -> tuple[Callable, Callable, Callable]:
    """The inputs and the two computations of c = a @ b, or a @ b^T."""

    def make(generator: np.random.Generator) -> Arrays:
        a, b = generator.normal(size=(m, k)), generator.normal(size=(n, k) if transposed else (k, n))
        return {"a": a.astype(F16), "b": b.astype(F16), "c": poison(m, n, dtype=F16)}

    def right(arrays: Arrays) -> np.ndarray:
        return arrays["b"].T if transposed else arrays["b"]

    def expected(arrays: Arrays) -> Arrays:
        return {"c": (arrays["a"].astype(float) @ right(arrays).astype(float)).astype(F16)}

    def again(arrays: Arrays) -> Arrays:
        columns = right(arrays).T.tolist()
        return {
            "c": np.array(
                [[math.fsum(x * y for x, y in zip(r, c, strict=True)) for c in columns] for r in arrays["a"].tolist()]
            ).astype(F16)
        }

    return make, expected, again


HEADS, LENGTH, DEPTH = 2, 70, 32


def _attention(causal: bool) -> tuple[Callable, Callable, Callable]:
    """The inputs and the two computations of attention, scaled by 1 / sqrt(DEPTH)."""

    def make(generator: np.random.Generator) -> Arrays:
        q, k, v = generator.normal(size=(3, HEADS, LENGTH, DEPTH)).astype(F16)
        return {"q": q, "k": k, "v": v, "out": poison(HEADS, LENGTH, DEPTH, dtype=F16)}

    def expected(arrays: Arrays) -> Arrays:
        q, k, v = (arrays[name].astype(float) for name in "qkv")
        scores = np.einsum("hid,hjd->hij", q, k) / math.sqrt(DEPTH)
        scores = np.where(np.tri(LENGTH, dtype=bool) | (not causal), scores, -np.inf)
        raised = np.exp(scores - scores.max(2, keepdims=True))
        return {"out": (raised @ v / raised.sum(2, keepdims=True)).astype(F16)}

    def again(arrays: Arrays) -> Arrays:
        out = np.zeros((HEADS, LENGTH, DEPTH))
        for head, i in np.ndindex(HEADS, LENGTH):
            end = i + 1 if causal else LENGTH
            q, k, v = (arrays[name][head].astype(float) for name in "qkv")
            weights = [2 ** (float(np.sum(q[i] * k[j])) * DEPTH**-0.5 / math.log(2)) for j in range(end)]
            out[head, i] = sum(w * v[j] for j, w in enumerate(weights)) / math.fsum(weights)
        return {"out": out.astype(F16)}

    return make, expected, again


def _wide(m: int, n: int, k: int) -> tuple[Callable, Callable, Callable]:
    """The inputs and the two computations of c = a @ b^T, which are many: again adds a step of k at a time."""
    make, expected, _ = _matrices(m, n, k, True)

    def again(arrays: Arrays) -> Arrays:
        total = np.zeros((m, n))
        for left, right in zip(arrays["a"].T.astype(float), arrays["b"].T.astype(float), strict=True):
            total += np.outer(left, right)
        return {"c": total.astype(F16)}

    return make, expected, again


def _tiles(name: str, rows: int, columns: int, box_rows: int = 64) -> tuple[Argument, ...]:
    """The arguments that one tensor descriptor is: the map, the shape, the strides in elements."""
    tile = Tiled(name, (columns, rows), (columns * 2,), (64, box_rows), "128B")
    return tile, I32(rows), I32(columns), np.int64(columns), np.int64(1)


_SCALE = F32(DEPTH**-0.5 / math.log(2))
_PRODUCT = ("a", "b", "c")
_GROUP = r"^\s*cp\.async\.wait_group\s+2;"
_UNAWAITED = Mutation("a group is not waited for", _GROUP, ("async-in-flight",))
_NO_FENCE = Mutation("no wgmma.fence", r"^\s*wgmma\.fence\.sync\.aligned;", ("wgmma-fence-missing",), None)
_NO_LAST_WAIT = Mutation(
    "no last wgmma.wait_group", r"^\s*wgmma\.wait_group\.sync\.aligned 0;", ("wgmma-in-flight",), None
)
_NO_PROXY = Mutation("no proxy fence", r"^\s*fence\.proxy\.async\.shared::cta;", ("proxy-fence-missing",))
#: A mutation that makes a kernel right: the fence between the copies of a thread and the proxy that wgmma reads by.
_WITH_PROXY = Mutation(
    "with a proxy fence", r"(cp\.async\.wait_group\s+2;)", (), None, r"\1 fence.proxy.async.shared::cta;"
)
_COPIED = ("race", "async-in-flight")
_TMA = (*_tiles("a", 100, 160), *_tiles("b", 72, 160), *_tiles("c", 100, 72), I32(160))
_WIDE_TMA = (*_tiles("a", 256, 256, 128), *_tiles("b", 512, 256, 256), *_tiles("c", 256, 512, 128), I32(256))
_CLOSE = {"rtol": 2e-3, "atol": 4e-3}
CASES = (
    triton_case(
        "matmul_sm80",
        (2, 2),
        (*_PRODUCT, I32(50), I32(80), I32(112)),
        _matrices(50, 80, 112, False),
        _UNAWAITED,
        no_barrier(1, *_COPIED),
        no_barrier(2, *_COPIED),
        Mutation("no group is ever closed", r"^\s*cp\.async\.commit_group;", ("async-in-flight",), None),
        **_CLOSE,
    ),
    # wgmma reads by the async proxy what cp.async has written by the generic one, with no proxy fence in between: by
    # the letter of the PTX ISA one is missing. With it the kernel is right.
    triton_case(
        "matmul_sm90",
        (2, 3),
        (*_PRODUCT, I32(70), I32(80), I32(112)),
        _matrices(70, 80, 112, False),
        _WITH_PROXY,
        _UNAWAITED,
        _NO_FENCE,
        _NO_LAST_WAIT,
        no_barrier(1, *_COPIED),
        Mutation(
            "a stage is overwritten while it is multiplied",
            r"^\s*wgmma\.wait_group\.sync\.aligned 1;",
            ("wgmma-in-flight", "async-in-flight", "race"),
        ),
        findings=("proxy-fence-missing",),
        **_CLOSE,
    ),
    triton_case(
        "matmul_tma",
        (2, 2),
        _TMA,
        _matrices(100, 72, 160, True),
        _NO_FENCE,
        _NO_LAST_WAIT,
        _NO_PROXY,
        Mutation(
            "the tiles are not waited for",
            r"^\s*@!complete bra\.uni waitLoop;",
            ("async-in-flight", "uninitialized", "race"),
        ),
        Mutation(
            "16 bytes too many are expected",
            r"(expect_tx.*, )16384;",
            ("mbarrier-tx-mismatch", "deadlock"),
            0,
            r"\g<1>16400;",
        ),
        **_CLOSE,
    ),
    triton_case("matmul_wide", (2, 2), _WIDE_TMA, _wide(256, 512, 256), _NO_FENCE, **_CLOSE),
    triton_case(
        "attention_sm80",
        (3, HEADS),
        ("q", "k", "v", "out", I32(LENGTH), _SCALE),
        _attention(True),
        _UNAWAITED,
        no_barrier(1, *_COPIED),
        **_CLOSE,
    ),
    triton_case(
        "attention_sm90",
        (2, HEADS),
        ("q", "k", "v", "out", I32(LENGTH), _SCALE),
        _attention(False),
        _WITH_PROXY,
        _UNAWAITED,
        _NO_FENCE,
        findings=("proxy-fence-missing",),
        **_CLOSE,
    ),
)
