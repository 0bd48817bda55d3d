"""Cases of `data/triton/`: kernels that Triton compiled, launched as Triton's runtime does.

Each has two pointers more than its source: to scratch memory, which none of them uses. Expected: numpy in double
precision; again: another formula, or plain loops.
"""

import json
import math
from collections.abc import Callable

import numpy as np

from ptxsim_cases.case import DATA, Argument, Arrays, Case, Mutation, no_barrier, poison

F16, F32, I32 = np.float16, np.float32, np.int32


def triton_case(
    name: str, grid: tuple[int, ...], arguments: tuple[Argument, ...], computations: tuple, *mutations: Mutation, **more
) -> Case:
    """The case of a variant; what Triton decided about its launch comes from the JSON beside it."""
    facts = json.loads((DATA / "triton" / f"{name}.json").read_text(encoding="utf-8"))
    scratch = (np.uint64(0), np.uint64(0))
    return Case(
        name,
        f"triton/{name}.ptx",
        facts["entry"],
        (*grid, 1, 1)[:3],
        (facts["num_warps"] * 32, 1, 1),
        arguments + scratch,
        *computations,
        cluster=tuple(facts["cluster"]),
        dynamic_shared_bytes=facts["shared_bytes"],
        mutations=mutations,
        **more,
    )


def floats(*shape: int, dtype: object = F32, **outputs: tuple[int, ...]) -> Callable[[np.random.Generator], Arrays]:
    """What makes `x`, normally distributed, and poisoned outputs of its type."""

    def make(generator: np.random.Generator) -> Arrays:
        return {"x": generator.normal(size=shape).astype(dtype)} | {
            k: poison(*s, dtype=dtype) for k, s in outputs.items()
        }

    return make


N = 1000


def _gelu_inputs(generator: np.random.Generator) -> Arrays:
    x, y = generator.normal(size=(2, N)).astype(F32)
    return {"x": x, "y": y, "out": poison(N, dtype=F32)}


def _gelu(arrays: Arrays) -> Arrays:
    total = arrays["x"].astype(float) + arrays["y"]
    return {"out": (0.5 * total * (1 + np.array([math.erf(v) for v in total * math.sqrt(0.5)]))).astype(F32)}


def _gelu_again(arrays: Arrays) -> Arrays:
    """By the distribution function of the normal distribution, integrated by Simpson's rule."""
    total = arrays["x"].astype(float) + arrays["y"]
    steps = np.linspace(0, 1, 401)[None, :] * total[:, None]
    weights = np.ones(401)
    weights[1:-1:2], weights[2:-1:2] = 4, 2
    integral = (np.exp(-steps * steps / 2) * weights).sum(1) * total / 1200 / math.sqrt(2 * math.pi)
    return {"out": (total * (0.5 + integral)).astype(F32)}


ROWS, COLUMNS = 21, 50


def _gather_inputs(generator: np.random.Generator) -> Arrays:
    index = generator.integers(0, 9, ROWS).astype(I32)
    return floats(9, COLUMNS, dtype=F16, out=(ROWS, COLUMNS))(generator) | {"index": index}


def _gather(arrays: Arrays) -> Arrays:
    return {"out": arrays["x"][arrays["index"]]}


def _gather_again(arrays: Arrays) -> Arrays:
    return {"out": np.array([arrays["x"][int(i)].tolist() for i in arrays["index"]], F16)}


def _softmax(arrays: Arrays) -> Arrays:
    raised = np.exp(arrays["x"].astype(float) - arrays["x"].max(1, keepdims=True))
    return {"out": (raised / raised.sum(1, keepdims=True)).astype(F32)}


def _softmax_again(arrays: Arrays) -> Arrays:
    rows = arrays["x"].astype(float)
    sums = [math.log(math.fsum(math.exp(v) for v in row)) for row in rows]
    return {"out": np.array([[math.exp(v - s) for v in row] for row, s in zip(rows, sums, strict=True)], F32)}


def _norm_inputs(generator: np.random.Generator) -> Arrays:
    weight, bias = generator.normal(size=(2, 300)).astype(F32)
    return floats(3, 300, dtype=F16, out=(3, 300))(generator) | {"weight": weight, "bias": bias}


def _layer_norm(arrays: Arrays) -> Arrays:
    x = arrays["x"].astype(float)
    normal = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    return {"out": (normal * arrays["weight"] + arrays["bias"]).astype(F16)}


def _layer_norm_again(arrays: Arrays) -> Arrays:
    out = []
    for row in arrays["x"].tolist():
        mean = math.fsum(row) / 300
        scale = (math.fsum(v * v for v in row) / 300 - mean * mean + 1e-5) ** -0.5
        out.append([(v - mean) * scale * w + b for v, w, b in zip(row, arrays["weight"], arrays["bias"], strict=True)])
    return {"out": np.array(out).astype(F16)}


def whole(
    shape: tuple[int, ...], low: int, high: int, **outputs: np.ndarray
) -> Callable[[np.random.Generator], Arrays]:
    """What makes `x`, i32 in [low, high), and copies of the outputs as they are before the launch."""
    return lambda generator: (
        {"x": generator.integers(low, high, shape).astype(I32)} | {k: array.copy() for k, array in outputs.items()}
    )


def _cumulative_sum(arrays: Arrays) -> Arrays:
    return {"out": np.cumsum(arrays["x"], axis=1).astype(I32)}


def _cumulative_sum_again(arrays: Arrays) -> Arrays:
    return {"out": np.array([[sum(row[: k + 1]) for k in range(len(row))] for row in arrays["x"].tolist()], I32)}


def _recurrence_inputs(generator: np.random.Generator) -> Arrays:
    scale, shift = generator.uniform(-1, 1, (2, 512)).astype(F32)
    return {"scale": scale, "shift": shift, "out": poison(512, dtype=F32)}


def _recurrence(arrays: Arrays) -> Arrays:
    """By doubling: what 1, 2, 4 … steps together do."""
    scale, shift = (arrays[name].astype(float).reshape(2, 256) for name in ("scale", "shift"))
    for step in (2**k for k in range(8)):
        back = [np.pad(v[:, :-step], ((0, 0), (step, 0)), constant_values=c) for v, c in ((scale, 1), (shift, 0))]
        scale, shift = scale * back[0], scale * back[1] + shift
    return {"out": shift.reshape(512).astype(F32)}


def _recurrence_again(arrays: Arrays) -> Arrays:
    out, state = [], 0.0
    for t, (scale, shift) in enumerate(zip(arrays["scale"].tolist(), arrays["shift"].tolist(), strict=True)):
        state = (0.0 if t % 256 == 0 else scale * state) + shift
        out.append(state)
    return {"out": np.array(out, F32)}


def _histogram(arrays: Arrays) -> Arrays:
    return {"bins": np.bincount(arrays["x"], minlength=32).astype(I32)}


def _histogram_again(arrays: Arrays) -> Arrays:
    return {"bins": np.array([arrays["x"].tolist().count(k) for k in range(32)], I32)}


def _locked(arrays: Arrays) -> Arrays:
    return {"best": arrays["x"].max(1).sum(keepdims=True).astype(I32), "lock": np.zeros(1, I32)}


def _locked_again(arrays: Arrays) -> Arrays:
    return {"best": np.array([sum(max(row) for row in arrays["x"].tolist())], I32), "lock": np.array([0], I32)}


_OVER = Mutation("bound off by one", r"setp\.lt\.s32", ("out-of-bounds",), None, "setp.le.s32")
CASES = (
    triton_case(
        "add_gelu", (4,), ("x", "y", "out", I32(N)), (_gelu_inputs, _gelu, _gelu_again), _OVER, rtol=1e-5, atol=1e-6
    ),
    triton_case(
        "gather_rows",
        (3,),
        ("x", "index", "out", I32(ROWS), I32(COLUMNS)),
        (_gather_inputs, _gather, _gather_again),
        _OVER,
    ),
    triton_case(
        "softmax",
        (3,),
        ("x", "out", I32(200)),
        (floats(3, 200, out=(3, 200)), _softmax, _softmax_again),
        *(no_barrier(k, "race", "uninitialized") for k in (0, 1, 2)),
        rtol=1e-5,
        atol=1e-7,
    ),
    triton_case(
        "layer_norm",
        (3,),
        ("x", "weight", "bias", "out", I32(300)),
        (_norm_inputs, _layer_norm, _layer_norm_again),
        no_barrier(0, "race", "uninitialized"),
        rtol=2e-3,
        atol=2e-3,
    ),
    triton_case(
        "cumulative_sum",
        (3,),
        ("x", "out", I32(200)),
        (whole((3, 200), -99, 99, out=poison(3, 200)), _cumulative_sum, _cumulative_sum_again),
        no_barrier(0, "race", "uninitialized"),
    ),
    triton_case(
        "linear_recurrence",
        (2,),
        ("scale", "shift", "out"),
        (_recurrence_inputs, _recurrence, _recurrence_again),
        no_barrier(0, "race", "uninitialized"),
        rtol=1e-4,
        atol=1e-5,
    ),
    triton_case(
        "histogram",
        (4,),
        ("x", "bins", I32(N)),
        (whole((N,), 0, 32, bins=np.zeros(32, I32)), _histogram, _histogram_again),
        no_barrier(0, "race", "uninitialized"),
        no_barrier(1),
    ),
    # All threads of a program load what one of them then stores, and nothing is between: a race, though only the value
    # that the storing thread has read itself is used.
    triton_case(
        "locked_sum",
        (3,),
        ("x", "best", "lock", I32(100)),
        (whole((3, 100), -99, 99, best=np.zeros(1, I32), lock=np.zeros(1, I32)), _locked, _locked_again),
        findings=("race",),
    ),
)
