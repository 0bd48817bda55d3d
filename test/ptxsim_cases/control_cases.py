"""Cases of `data/cuda/control.cu`, `warp.cu` and `spaces.cu`: control flow, exchange within a warp, state spaces."""

from collections.abc import Callable

import numpy as np

from ptxsim_cases.case import Arrays, Case, Mutation, no_barrier, poison

N = 100
LANES = np.arange(32)


def integers(n: int, low: int, high: int, **outputs: tuple[int, ...]) -> Callable[[np.random.Generator], Arrays]:
    """What makes `x` [n], i32 in [low, high), and poisoned outputs of the shapes."""

    def make(generator: np.random.Generator) -> Arrays:
        return {"x": generator.integers(low, high, n).astype(np.int32)} | {k: poison(*s) for k, s in outputs.items()}

    return make


def _collatz(arrays: Arrays) -> Arrays:
    value, steps = arrays["x"].astype(np.int64), np.zeros(N, np.int32)
    while (value != 1).any():
        steps += value != 1
        value = np.where(value == 1, 1, np.where(value % 2 == 1, 3 * value + 1, value // 2))
    return {"steps": steps}


def _collatz_again(arrays: Arrays) -> Arrays:
    def length(value: int) -> int:
        return 0 if value == 1 else 1 + length(3 * value + 1 if value % 2 else value // 2)

    return {"steps": np.array([length(int(value)) for value in arrays["x"]], np.int32)}


def _jump_table(arrays: Arrays) -> Arrays:
    v, i = arrays["x"], np.arange(N)
    return {
        "out": np.select([v == 0, v == 1, v == 2, v == 3], [i + 5, i * 7, (i << 3) ^ 255, v ^ 255], -1).astype(np.int32)
    }


def _jump_table_again(arrays: Arrays) -> Arrays:
    branches = {0: lambda i: i + 5, 1: lambda i: i * 7, 2: lambda i: (i * 8) ^ 255, 3: lambda _: 252}
    return {"out": np.array([branches.get(int(v), lambda _: -1)(i) for i, v in enumerate(arrays["x"])], np.int32)}


def _dense_switch(arrays: Arrays) -> Arrays:
    v, i = arrays["x"], np.arange(N)
    grown = np.ones(N, np.int64)
    for k in range(N):
        grown = np.where(k < i, (grown * 3 + k) % 2**32, grown)
    rows = [i + 5, i * 7, (i << 3) ^ 255, np.full(N, 254), grown, np.full(N, 4), np.bitwise_count(i), i // 3]
    return {"out": np.select([v == k for k in range(8)], rows, -1).astype(np.int32)}


def _dense_switch_again(arrays: Arrays) -> Arrays:
    def one(i: int, v: int) -> int:
        total = 3**i + sum(k * 3 ** (i - 1 - k) for k in range(i))
        return {0: i + 5, 1: i * 7, 2: i * 8 ^ 255, 3: 254, 4: total, 5: 4, 6: bin(i).count("1"), 7: i // 3}.get(v, -1)

    return {"out": np.array([one(i, int(v)) % 2**32 for i, v in enumerate(arrays["x"])], np.uint32).view(np.int32)}


def _calls(arrays: Arrays) -> Arrays:
    i = np.arange(N)
    count = i % 4 + 1
    sums = np.concatenate([[0], np.cumsum(arrays["x"])])
    total = (sums[i + count] - sums[i]).astype(np.float32)
    return {
        "out": np.where(i % 2, total / count.astype(np.float32) * np.float32(0.5) + (i + count), total).astype(
            np.float32
        )
    }


def _calls_again(arrays: Arrays) -> Arrays:
    def one(i: int) -> float:
        values = [int(v) for v in arrays["x"][i : i + i % 4 + 1]]
        return sum(values) / len(values) / 2 + i + len(values) if i % 2 else float(sum(values))

    return {"out": np.array([one(i) for i in range(N)], np.float32)}


def _local_sort_again(arrays: Arrays) -> Arrays:
    return {"out": np.array([sorted(row) for row in arrays["x"].reshape(-1, 8).tolist()], np.int32)}


def _shuffles(arrays: Arrays) -> Arrays:
    x, lane = arrays["x"].reshape(-1, 32), LANES
    sources = [
        np.full(32, 5),
        lane * 7 % 32,
        np.where(lane >= 3, lane - 3, lane),
        np.where(lane < 23, lane + 9, lane),
        lane ^ 13,
    ]
    sources += [np.where(lane % 8 >= 2, lane - 2, lane), np.where(lane % 16 + 5 < 16, lane + 5, lane)]
    sources += [lane // 4 * 4 + (lane + 3) % 4]
    moved = np.where(lane + 20 < 32, x[:, (lane + 20) % 32], -1)
    return {"out": np.stack([*(x[:, source].reshape(-1) for source in sources), moved.reshape(-1)]).astype(np.int32)}


def _shuffles_again(arrays: Arrays) -> Arrays:
    def one(warp: list[int], lane: int) -> list[int]:
        rows = [
            warp[5],
            warp[lane * 7 & 31],
            warp[max(lane - 3, 0) if lane > 2 else lane],
            warp[lane + 9 if lane + 9 < 32 else lane],
        ]
        rows += [
            warp[lane ^ 13],
            warp[lane - 2 if lane & 7 > 1 else lane],
            warp[lane + 5 if (lane & 15) < 11 else lane],
        ]
        return [*rows, warp[lane & 28 | (lane + 3) & 3], warp[lane + 20] if lane < 12 else -1]

    warps = arrays["x"].reshape(-1, 32).tolist()
    return {"out": np.array([one(warp, lane) for warp in warps for lane in range(32)], np.int32).T}


def _voters(generator: np.random.Generator) -> Arrays:
    return integers(64, -99, 99)(generator) | {"out": poison(7, 64, dtype=np.uint32)}


def _remainder(value: np.ndarray, divisor: int) -> np.ndarray:
    return np.fmod(value, divisor)


def _votes(arrays: Arrays) -> Arrays:
    x = arrays["x"].reshape(-1, 32).astype(np.int64)
    bits = (np.int64(1) << LANES)[None, :]

    def ballot(mask: np.ndarray) -> np.ndarray:
        return np.where(mask, bits, 0).sum(1, keepdims=True) * np.ones(32, np.int64)

    keys = _remainder(x, 4)
    same = (keys[:, :, None] == keys[:, None, :]) @ bits[0]
    thousands = np.trunc(x / 1000)
    equal = (thousands == thousands[:, :1]).all(1, keepdims=True) * np.ones(32, np.int64)
    halves = np.where(LANES < 16, ballot((x & 2 != 0) & (LANES < 16)), ballot((x & 1 != 0) & (LANES >= 16)))
    some = (x > 60).any(1, keepdims=True) * np.ones(32, np.int64)
    every = (x > -100).all(1, keepdims=True) * np.ones(32, np.int64)
    rows = [ballot(x > 0), some, every, same, equal * (2**32 - 1), equal, halves]
    return {"out": np.stack([row.reshape(-1).astype(np.uint32) for row in rows])}


def _votes_again(arrays: Arrays) -> Arrays:
    def word(flags: list[bool]) -> int:
        return int("".join("01"[bool(flag)] for flag in reversed(flags)), 2)

    columns = []
    for warp in arrays["x"].reshape(-1, 32).tolist():
        uniform = len({int(v / 1000) for v in warp}) == 1
        for lane, v in enumerate(warp):
            same = word([(abs(u) % 4 * (1 if u > 0 else -1)) == (abs(v) % 4 * (1 if v > 0 else -1)) for u in warp])
            half = [(u & (1 if lane >= 16 else 2)) != 0 and (k >= 16) == (lane >= 16) for k, u in enumerate(warp)]
            row = [word([u > 0 for u in warp]), max(warp) > 60, min(warp) > -100, same, (2**32 - 1) * uniform, uniform]
            columns.append([*row, word(half)])
    return {"out": np.array(columns, np.uint32).T}


def _warp_reductions(arrays: Arrays) -> Arrays:
    x = arrays["x"].reshape(-1, 32)
    u = x.view(np.uint32)
    rows = [
        x.sum(1),
        x.min(1),
        u.max(1),
        *(f.reduce(u, axis=1) for f in (np.bitwise_and, np.bitwise_or, np.bitwise_xor)),
    ]
    return {"out": np.stack([np.repeat(row, 32).astype(np.int32) for row in [*rows, x.sum(1)]])}


def _warp_reductions_again(arrays: Arrays) -> Arrays:
    columns = []
    for warp in arrays["x"].reshape(-1, 32).tolist():
        ones, every, some, odd = [v % 2**32 for v in warp], 2**32 - 1, 0, 0
        for v in ones:
            every, some, odd = every & v, some | v, odd ^ v
        columns += [[sum(warp), min(warp), max(ones), every, some, odd, sum(warp)]] * 32
    return {"out": np.array([[v % 2**32 for v in column] for column in columns], np.uint32).T.copy().view(np.int32)}


def _polynomial(arrays: Arrays) -> Arrays:
    c = np.array([0.5, -1.25, 2, 0, -3], np.float32)
    values = np.polyval(c[::-1].astype(np.float64), arrays["x"].astype(np.float64))
    return {"out": (values + c[np.arange(N) % 5]).astype(np.float32)}


def _polynomial_again(arrays: Arrays) -> Arrays:
    c = (0.5, -1.25, 2.0, 0.0, -3.0)
    sums = [sum(f * float(x) ** k for k, f in enumerate(c)) + c[i % 5] for i, x in enumerate(arrays["x"])]
    return {"out": np.array(sums, np.float32)}


def _module_variables(arrays: Arrays) -> Arrays:
    x = arrays["x"]
    table = np.array([1, -2, 300, -400, 5, 32767])
    letters = np.where(x & 1, np.array([*b"xy"])[np.arange(64) % 2], np.array([*b"ab"])[np.arange(64) % 2])
    return {"out": np.concatenate([table[x % 6] + letters, np.bincount(x & 3, minlength=4)]).astype(np.int32)}


def _module_variables_again(arrays: Arrays) -> Arrays:
    x = arrays["x"].tolist()
    made = [[1, -2, 300, -400, 5, 32767][v % 6] + ("ab", "xyz")[v % 2].encode()[i % 2] for i, v in enumerate(x)]
    return {"out": np.array([*made, *(sum(v % 4 == k for v in x) for k in range(4))], np.int32)}


def _three_dimensions(_: Arrays) -> Arrays:
    z, y, x = np.indices((6, 4, 6))
    return {"out": (x + 100 * y + 10000 * z).astype(np.int32)}


def _three_dimensions_again(_: Arrays) -> Arrays:
    out = [[[x + 100 * y + 10000 * z for x in range(6)] for y in range(4)] for z in range(6)]
    return {"out": np.array(out, np.int32)}


def _generic(arrays: Arrays) -> Arrays:
    odd = np.arange(64) % 2
    return {"out": ((arrays["x"][::-1] + 1000 * odd) * 2 + odd).astype(np.int32)}


def _generic_again(arrays: Arrays) -> Arrays:
    x = arrays["x"].tolist()
    return {"out": np.array([2 * x[63 - i] + (2001 if i & 1 else 0) for i in range(64)], np.int32)}


def _activity(_: Arrays) -> Arrays:
    return {"out": np.where(np.arange(48) < 32, 0xFFFFFFFF, 0xFFFF).astype(np.uint32)}


def _activity_again(_: Arrays) -> Arrays:
    return {"out": np.array([2**32 - 1] * 32 + [2**16 - 1] * 16, np.uint32)}


_X_TO_OUT = ("x", "out", np.int32(N))


def _case(name, source, make, expected, again, arguments=_X_TO_OUT, grid=(4, 1, 1), block=(32, 1, 1), **more):
    return Case(name, f"cuda/{source}.ptx", name, grid, block, arguments, make, expected, again, **more)


def _local_sort(arrays: Arrays) -> Arrays:
    return {"out": np.sort(arrays["x"].reshape(-1, 8), axis=1)}


_WARPS = {"arguments": ("x", "out"), "grid": (1, 1, 1), "block": (64, 1, 1)}
CASES = (
    _case("collatz", "control", integers(N, 1, 200, steps=(N,)), _collatz, _collatz_again, ("x", "steps", np.int32(N))),
    _case("jump_table", "control", integers(N, -1, 6, out=(N,)), _jump_table, _jump_table_again),
    _case("dense_switch", "control", integers(N, -1, 9, out=(N,)), _dense_switch, _dense_switch_again),
    _case(
        "calls",
        "control",
        lambda g: integers(N + 4, -99, 99)(g) | {"out": poison(N, dtype=np.float32)},
        _calls,
        _calls_again,
    ),
    _case(
        "local_sort",
        "control",
        integers(8 * N, -99, 99, out=(N, 8)),
        _local_sort,
        _local_sort_again,
        # One of the stores of the array to local memory is missing.
        mutations=(Mutation("element not set", r"^\s*st\.local\S*\s.*;", ("uninitialized",)),),
    ),
    _case("shuffles", "warp", integers(64, -99, 99, out=(9, 64)), _shuffles, _shuffles_again, **_WARPS),
    _case("votes", "warp", _voters, _votes, _votes_again, **_WARPS),
    _case(
        "warp_reductions",
        "warp",
        integers(64, -99, 99, out=(7, 64)),
        _warp_reductions,
        _warp_reductions_again,
        **_WARPS,
    ),
    _case(
        "active_lanes",
        "warp",
        lambda _: {"out": poison(48, dtype=np.uint32)},
        _activity,
        _activity_again,
        ("out",),
        (1, 1, 1),
        (48, 1, 1),
    ),
    _case(
        "polynomial",
        "spaces",
        lambda g: {"x": g.normal(size=N).astype(np.float32), "out": poison(N, dtype=np.float32)},
        _polynomial,
        _polynomial_again,
        rtol=1e-5,
        atol=1e-5,
    ),
    _case(
        "module_variables",
        "spaces",
        integers(64, 0, 99, out=(68,)),
        _module_variables,
        _module_variables_again,
        **_WARPS,
    ),
    _case(
        "three_dimensions",
        "spaces",
        lambda _: {"out": poison(6, 4, 6)},
        _three_dimensions,
        _three_dimensions_again,
        ("out",),
        (2, 2, 3),
        (3, 2, 2),
    ),
    _case(
        "generic_addresses",
        "spaces",
        integers(64, -99, 99, out=(64,)),
        _generic,
        _generic_again,
        mutations=(no_barrier(0, "race", "uninitialized"),),
        **_WARPS,
    ),
)
