"""Cases of `data/cuda/scheduling.cu` and `sm90.cu`: waiting for others, and what sm_90 adds to a single warp."""

from fractions import Fraction

import ml_dtypes
import numpy as np

from ptxsim_cases.case import Arrays, Case, Mutation, poison
from ptxsim_cases.control_cases import integers
from ptxsim_cases.float_cases import rounded

N = 100
BF16 = np.dtype(ml_dtypes.bfloat16)


def _flags(generator: np.random.Generator) -> Arrays:
    return integers(96, -99, 99, made=(96,), out=(96,))(generator) | {"flag": np.zeros(3, np.uint32)}


def _flag_wait(arrays: Arrays) -> Arrays:
    made = arrays["x"] * np.int32(5)
    return {"made": made, "out": made.reshape(3, 32)[:, ::-1].reshape(96), "flag": np.ones(3, np.uint32)}


def _flag_wait_again(arrays: Arrays) -> Arrays:
    made = [v * 5 for v in arrays["x"].tolist()]
    out = [made[k // 32 * 32 + 31 - k % 32] for k in range(96)]
    return {"made": np.array(made, np.int32), "out": np.array(out, np.int32), "flag": np.array([1, 1, 1], np.uint32)}


def _dependent(arrays: Arrays) -> Arrays:
    return {"out": arrays["x"] - np.int32(1)}


def _dependent_again(arrays: Arrays) -> Arrays:
    return {"out": np.array([v - 1 for v in arrays["x"].tolist()], np.int32)}


def _election(_: np.random.Generator) -> Arrays:
    return {"count": np.zeros(1, np.int32), "agreed": poison(96, dtype=np.uint32)}


def _elected(_: Arrays) -> Arrays:
    return {"count": np.array([3], np.int32), "agreed": np.ones(96, np.uint32)}


def _matrices(generator: np.random.Generator) -> Arrays:
    return {"x": generator.integers(0, 2**16, (4, 8, 8)).astype(np.uint16), "out": poison(4, 8, 8, dtype=np.uint16)}


def _stored(arrays: Arrays) -> Arrays:
    x = arrays["x"]
    return {"out": np.concatenate([x[:2], x[2:].transpose(0, 2, 1)])}


def _stored_again(arrays: Arrays) -> Arrays:
    out = np.empty((4, 8, 8), np.uint16)
    for k, row, column in np.ndindex(4, 8, 8):
        out[k, row, column] = arrays["x"][k][(row, column) if k < 2 else (column, row)]
    return {"out": out}


def _fp8_inputs(generator: np.random.Generator) -> Arrays:
    x = (generator.normal(size=(N, 2)) * 2.0 ** generator.integers(-12, 12, (N, 2))).astype(np.float32)
    x[:4] = [[1e6, -1e6], [448, 464], [0, 2**-10], [57344, -61440]]
    narrow = {name: poison(N, 2, dtype=np.uint8) for name in ("e4m3", "e5m2")}
    return {"x": x} | narrow | {"wide": poison(N, 2, 2, dtype=np.float16)}


def _fp8(arrays: Arrays) -> Arrays:
    x = arrays["x"]
    e4m3 = np.clip(x, -448, 448).astype(ml_dtypes.float8_e4m3fn)
    e5m2 = np.clip(x, -57344, 57344).astype(ml_dtypes.float8_e5m2)
    wide = np.stack([e4m3.astype(np.float16), e5m2.astype(np.float16)], 1)
    return {"e4m3": e4m3.view(np.uint8), "e5m2": e5m2.view(np.uint8), "wide": wide}


def _fp8_again(arrays: Arrays) -> Arrays:
    def narrow(name: str, largest: float) -> np.ndarray:
        exact = [max(min(Fraction(float(v)), Fraction(largest)), Fraction(-largest)) for v in arrays["x"].flat]
        return np.array([max(min(rounded(v, name), largest), -largest) for v in exact], np.float16).reshape(N, 2)

    e4m3, e5m2 = narrow("e4m3", 448.0), narrow("e5m2", 57344.0)
    magnitude = np.abs(e4m3.astype(float))
    exponent = np.maximum(np.floor(np.log2(np.maximum(magnitude, 2.0**-9))), -6)
    code = ((exponent + 6) * 8 + magnitude / 2.0 ** (exponent - 3)).astype(
        np.uint8
    )  # the hidden bit adds 8: one exponent
    code |= np.where(np.signbit(e4m3), 128, 0).astype(np.uint8)
    return {"e4m3": code, "e5m2": (e5m2.view(np.uint16) >> 8).astype(np.uint8), "wide": np.stack([e4m3, e5m2], 1)}


def _bfloats(generator: np.random.Generator) -> Arrays:
    a, b = generator.normal(size=(2, N, 2)).astype(BF16)
    return {"a": a, "b": b, "out": poison(3, N, 2, dtype=BF16)}


def _bfloat_sums(arrays: Arrays) -> Arrays:
    a, b = arrays["a"].astype(np.float32), arrays["b"].astype(np.float32)
    return {"out": np.stack([a + b, a * b, a - b]).astype(BF16)}


def _bfloat_sums_again(arrays: Arrays) -> Arrays:
    pairs = [(Fraction(float(x)), Fraction(float(y))) for x, y in zip(arrays["a"].flat, arrays["b"].flat, strict=True)]
    rows = [[x + y for x, y in pairs], [x * y for x, y in pairs], [x - y for x, y in pairs]]
    return {"out": np.array([[rounded(v, "bf16") for v in row] for row in rows]).astype(BF16).reshape(3, N, 2)}


def _pairs(generator: np.random.Generator) -> Arrays:
    a, b = generator.integers(-99, 99, (2, N)).astype(np.int32)
    return {"a": a, "b": b, "out": poison(3, N)}


def _clamps(arrays: Arrays) -> Arrays:
    a, b = arrays["a"], arrays["b"]
    return {
        "out": np.stack(
            [np.maximum(np.maximum(a, b), 0), np.minimum(np.minimum(a, b), 40), np.maximum(np.maximum(a, b), -40)]
        )
    }


def _clamps_again(arrays: Arrays) -> Arrays:
    pairs = list(zip(arrays["a"].tolist(), arrays["b"].tolist(), strict=True))
    return {
        "out": np.array(
            [[max(*p, 0) for p in pairs], [min(*p, 40) for p in pairs], [max(*p, -40) for p in pairs]], np.int32
        )
    }


def _case(name, source, make, expected, again, arguments, grid, block, *mutations: Mutation) -> Case:
    shape = (grid, 1, 1), (block, 1, 1)
    return Case(name, f"cuda/{source}.ptx", name, *shape, arguments, make, expected, again, mutations=mutations)


_WARP_BARRIER = r"^\s*bar\.warp\.sync\s.*;"
_S = np.int32(N)
CASES = (
    _case(
        "flag_wait",
        "scheduling",
        _flags,
        _flag_wait,
        _flag_wait_again,
        ("x", "made", "flag", "out"),
        3,
        64,
        Mutation("the flag is not released", r"st\.release\.gpu", ("race",), 0, "st.relaxed.gpu"),
        Mutation("the flag is not acquired", r"ld\.acquire\.gpu", ("race",), 0, "ld.relaxed.gpu"),
        Mutation("the lanes are not waited for", _WARP_BARRIER, ("race",)),
        Mutation("the lanes do not wait", _WARP_BARRIER, ("race",), 1),
        Mutation("the flag is not set", r"^\s*st\.release.*;", ("deadlock",)),
    ),
    _case(
        "dependent_grid",
        "scheduling",
        integers(N, -99, 99, out=(N,)),
        _dependent,
        _dependent_again,
        ("x", "out", _S),
        4,
        32,
    ),
    _case("elected_lanes", "scheduling", _election, _elected, _elected, ("count", "agreed"), 1, 96),
    _case("store_matrices", "sm90", _matrices, _stored, _stored_again, ("x", "out"), 1, 32),
    _case("fp8_conversions", "sm90", _fp8_inputs, _fp8, _fp8_again, ("x", "e4m3", "e5m2", "wide", _S), 4, 32),
    _case("bfloat_sums", "sm90", _bfloats, _bfloat_sums, _bfloat_sums_again, ("a", "b", "out", _S), 4, 32),
    _case("integer_clamps", "sm90", _pairs, _clamps, _clamps_again, ("a", "b", "out", _S), 4, 32),
)
