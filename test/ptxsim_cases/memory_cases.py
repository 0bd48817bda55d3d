"""Cases of `data/cuda/shared.cu`, `atomics.cu` and `cp_async.cu`: shared memory, atomics, copies."""

from itertools import accumulate

import numpy as np

from ptxsim_cases.case import Arrays, Case, Mutation, no_barrier, poison
from ptxsim_cases.control_cases import integers

F32 = np.float32


def whole(n: int, **outputs: tuple[int, ...]):
    """What makes `x` [n], whole numbers in f32, and poisoned f32 outputs of the shapes."""

    def make(generator: np.random.Generator) -> Arrays:
        outs = {k: poison(*shape, dtype=F32) for k, shape in outputs.items()}
        return {"x": generator.integers(-99, 99, n).astype(F32)} | outs

    return make


def _block_sum(arrays: Arrays) -> Arrays:
    return {"out": np.pad(arrays["x"], (0, 84)).reshape(3, 128).sum(1)}


def _block_sum_again(arrays: Arrays) -> Arrays:
    return {"out": np.array([sum(arrays["x"][k : k + 128].tolist()) for k in range(0, 384, 128)], F32)}


def _transpose(arrays: Arrays) -> Arrays:
    return {"out": np.ascontiguousarray(arrays["x"].reshape(37, 21).T)}


def _transpose_again(arrays: Arrays) -> Arrays:
    return {"out": np.array([arrays["x"][k::21] for k in range(21)])}


def _block_scan(arrays: Arrays) -> Arrays:
    return {"out": np.cumsum(arrays["x"].reshape(2, 96), axis=1).astype(np.int32)}


def _block_scan_again(arrays: Arrays) -> Arrays:
    return {"out": np.array([list(accumulate(row)) for row in arrays["x"].reshape(2, 96).tolist()], np.int32)}


def _barrier_votes(arrays: Arrays) -> Arrays:
    x = arrays["x"].reshape(3, 64)
    return {"out": np.stack([(x > 0).sum(1), (x > -90).all(1), (x > 90).any(1)], 1).astype(np.int32)}


def _barrier_votes_again(arrays: Arrays) -> Arrays:
    rows = arrays["x"].reshape(3, 64).tolist()
    return {"out": np.array([[sum(v > 0 for v in row), min(row) > -90, max(row) > 90] for row in rows], np.int32)}


def _named(arrays: Arrays) -> Arrays:
    return {"out": arrays["x"].reshape(5, 64)[:, ::-1] * np.int32(3)}


def _named_again(arrays: Arrays) -> Arrays:
    return {"out": np.array([[3 * v for v in reversed(row)] for row in arrays["x"].reshape(5, 64).tolist()], np.int32)}


def _atomic_cells(generator: np.random.Generator) -> Arrays:
    cells = np.array([5, 2**31 - 1, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0], np.int32)
    return {"x": generator.integers(-(2**31), 2**31, 100).astype(np.int32), "cells": cells}


def _global_atomics(arrays: Arrays) -> Arrays:
    x = arrays["x"]
    u = x.view(np.uint32).astype(np.uint64)
    low = [
        5 + x.sum(dtype=np.int64),
        x.min(),
        u.max(),
        np.bitwise_and.reduce(x | 255),
        np.bitwise_or.reduce(x & 0xFF00),
    ]
    low += [np.bitwise_xor.reduce(x), 100, 0, -(99 * 50), 77]
    wide = np.array([(u << np.uint64(8)).sum()], np.uint64).view(np.int32)
    return {"cells": np.concatenate([np.array(low).astype(np.int64).astype(np.int32), wide])}


def _global_atomics_again(arrays: Arrays) -> Arrays:
    cells = [5, 2**31 - 1, 0, -1, 0, 0, 0, 0, 0, 0]
    wide = 0
    for x in arrays["x"].tolist():
        cells[0] += x
        cells[1], cells[2] = min(cells[1], x), max(cells[2], x % 2**32)
        cells[3], cells[4], cells[5] = cells[3] & (x | 255), cells[4] | (x & 0xFF00), cells[5] ^ x
        cells[8] -= cells[6]
        cells[9] = 77 if cells[6] == 99 else cells[9]
        cells[6] = 0 if cells[6] >= 1000 else cells[6] + 1
        cells[7] = 9 if cells[7] == 0 or cells[7] > 9 else cells[7] - 1
        wide += x % 2**32 << 8
    words = [cell % 2**32 for cell in cells] + [wide % 2**32, wide >> 32]
    return {"cells": np.array(words, np.uint32).view(np.int32)}


def _float_cells(generator: np.random.Generator) -> Arrays:
    return {
        "x": generator.integers(0, 10, 100).astype(F32),
        "sum": np.zeros(1, F32),
        "wide": np.array([0.5]),
        "packed": np.zeros(2, np.float16),
        "largest": np.zeros(1, np.int32),
    }


def _float_atomics(arrays: Arrays) -> Arrays:
    total = arrays["x"].sum()
    largest = arrays["x"].max(keepdims=True).view(np.int32)
    packed = np.array([total, 100], np.float16)
    return {
        "sum": np.array([total]),
        "wide": np.array([total + 0.5]).astype(float),
        "packed": packed,
        "largest": largest,
    }


def _float_atomics_again(arrays: Arrays) -> Arrays:
    total = sum(int(v) for v in arrays["x"])
    largest = np.array([sorted(arrays["x"].tolist())[-1]], F32).view(np.int32)
    packed = np.array([float(total), 100.0]).astype(np.float16)
    return {"sum": np.array([total], F32), "wide": np.array([total + 0.5]), "packed": packed, "largest": largest}


def _bytes(generator: np.random.Generator) -> Arrays:
    return {"x": generator.integers(0, 256, 1000).astype(np.uint8), "bins": np.zeros(64, np.uint32)}


def _histogram(arrays: Arrays) -> Arrays:
    return {"bins": np.bincount(arrays["x"] & 63, minlength=64).astype(np.uint32)}


def _histogram_again(arrays: Arrays) -> Arrays:
    values = [v % 64 for v in arrays["x"].tolist()]
    return {"bins": np.array([values.count(k) for k in range(64)], np.uint32)}


def _last_block(arrays: Arrays) -> Arrays:
    parts = arrays["x"].reshape(6, 32).sum(1).astype(np.int32)
    return {"parts": parts, "arrived": np.array([6], np.uint32), "total": parts.sum(keepdims=True).astype(np.int32)}


def _last_block_again(arrays: Arrays) -> Arrays:
    x = arrays["x"].tolist()
    parts = [sum(x[k : k + 32]) for k in range(0, 192, 32)]
    return {
        "parts": np.array(parts, np.int32),
        "arrived": np.full(1, 6, np.uint32),
        "total": np.array([sum(x)], np.int32),
    }


def _spin_lock(_: Arrays) -> Arrays:
    value = 7
    for _thread in range(80):
        value = value * 2 % 1009 + 1
    return {"lock": np.zeros(1, np.int32), "counter": np.array([value], np.int32)}


def _spin_lock_again(_: Arrays) -> Arrays:
    # v -> 2 v + 1 has the fixed point -1; only the representative differs: 1 + (2 v mod 1009) lies in [1, 1009].
    value = (pow(2, 80, 1009) * 8 - 1) % 1009
    return {"lock": np.zeros(1, np.int32), "counter": np.array([value or 1009], np.int32)}


def _pipelined(arrays: Arrays) -> Arrays:
    chunks = arrays["x"].reshape(2, 5, 64, 4)[:, :, ::-1]
    return {"out": np.einsum("bctk,c->btk", chunks, np.arange(1, 6)).astype(F32).reshape(2, 256)}


def _pipelined_again(arrays: Arrays) -> Arrays:
    x = arrays["x"].tolist()
    at = [(t * 4 + k, (63 - t) * 4 + k) for t in range(64) for k in range(4)]
    out = np.zeros((2, 256), F32)
    for block in range(2):
        for to, source in at:
            out[block, to] = sum((c + 1) * x[block * 1280 + c * 256 + source] for c in range(5))
    return {"out": out}


def _zero_filled(arrays: Arrays) -> Arrays:
    return {"out": np.pad(arrays["x"], (0, 128 - 101)) + np.int32(1)}


def _zero_filled_again(arrays: Arrays) -> Arrays:
    return {"out": np.array([v + 1 for v in arrays["x"].tolist()] + [1] * 27, np.int32)}


def _reversed(arrays: Arrays) -> Arrays:
    return {"out": np.flip(arrays["x"])}


def _reversed_again(arrays: Arrays) -> Arrays:
    return {"out": np.array([arrays["x"][191 - k] for k in range(192)])}


def _zeros(generator: np.random.Generator) -> Arrays:
    return integers(192, -999, 999, parts=(6,))(generator) | {"arrived": np.zeros(1, np.uint32), "total": poison(1)}


def _lock(_: np.random.Generator) -> Arrays:
    return {"lock": np.zeros(1, np.int32), "counter": np.full(1, 7, np.int32)}


def _case(name, source, make, expected, again, arguments, grid, block, *mutations: Mutation, **more) -> Case:
    grid, block = (*grid, 1, 1)[:3], (*block, 1, 1)[:3]
    return Case(
        name, f"cuda/{source}.ptx", name, grid, block, arguments, make, expected, again, mutations=mutations, **more
    )


_N = np.int32
_ARRIVE = r"^\s*bar\.arrive\s+1, 128;"
_WAIT_GROUP = r"^\s*cp\.async\.wait_group\s+\d+;"
CASES = (
    _case(
        "block_sum",
        "shared",
        whole(300, out=(3,)),
        _block_sum,
        _block_sum_again,
        ("x", "out", _N(300)),
        (3,),
        (128,),
        no_barrier(0),
        no_barrier(1),
        Mutation("bound off by one", r"setp\.ge\.s32", ("out-of-bounds",), 0, "setp.gt.s32"),
        # The odd lanes of a warp wait at the barrier, the even ones do not.
        Mutation(
            "barrier inside a branch",
            r"^\s*bar\.sync\s+0;",
            ("barrier-divergence", "deadlock"),
            0,
            "\n{ .reg .pred %odd; .reg .b32 %low; mov.u32 %low, %tid.x; and.b32 %low, %low, 1; "
            "setp.eq.u32 %odd, %low, 1; @%odd bar.sync 0; }",
        ),
    ),
    _case(
        "transpose",
        "shared",
        whole(777, out=(21, 37)),
        _transpose,
        _transpose_again,
        ("x", "out", _N(37), _N(21)),
        (2, 3),
        (16, 16),
        no_barrier(0, "race", "uninitialized"),
        dynamic_shared_bytes=16 * 17 * 4,
    ),
    _case(
        "block_scan",
        "shared",
        integers(192, -99, 99, out=(2, 96)),
        _block_scan,
        _block_scan_again,
        ("x", "out"),
        (2,),
        (96,),
        no_barrier(0, "race", "uninitialized"),
        no_barrier(1, "race", "uninitialized"),
    ),
    _case(
        "barrier_votes",
        "shared",
        integers(192, -99, 99, out=(3, 3)),
        _barrier_votes,
        _barrier_votes_again,
        ("x", "out"),
        (3,),
        (64,),
    ),
    _case(
        "named_barriers",
        "shared",
        integers(320, -99, 99, out=(5, 64)),
        _named,
        _named_again,
        ("x", "out", _N(5)),
        (1,),
        (128,),
        Mutation("full is never said", _ARRIVE, ("deadlock",)),
        Mutation("empty is not waited for", r"^\s*bar\.sync 2, 128;", ("race", "barrier-divergence", "deadlock")),
    ),
    _case(
        "global_atomics",
        "atomics",
        _atomic_cells,
        _global_atomics,
        _global_atomics_again,
        ("x", "cells", _N(100)),
        (4,),
        (32,),
    ),
    _case(
        "float_atomics",
        "atomics",
        _float_cells,
        _float_atomics,
        _float_atomics_again,
        ("x", "sum", "wide", "packed", "largest", _N(100)),
        (4,),
        (32,),
    ),
    _case(
        "histogram",
        "atomics",
        _bytes,
        _histogram,
        _histogram_again,
        ("x", "bins", _N(1000)),
        (3,),
        (96,),
        no_barrier(0, "race", "uninitialized"),
        no_barrier(1),
    ),
    _case(
        "last_block", "atomics", _zeros, _last_block, _last_block_again, ("x", "parts", "arrived", "total"), (6,), (32,)
    ),
    _case(
        "spin_lock",
        "atomics",
        _lock,
        _spin_lock,
        _spin_lock_again,
        ("lock", "counter"),
        (2,),
        (40,),
        Mutation("the lock is never released", r"^\s*atom\.\S*exch.*;", ("deadlock",)),
    ),
    _case(
        "pipelined",
        "cp_async",
        whole(2560, out=(2, 256)),
        _pipelined,
        _pipelined_again,
        ("x", "out", _N(5)),
        (2,),
        (64,),
        no_barrier(0, "race", "async-in-flight"),
        no_barrier(1, "race", "async-in-flight"),
        Mutation("a group is not waited for", _WAIT_GROUP, ("async-in-flight",)),
        Mutation("one group too few is waited for", _WAIT_GROUP, ("async-in-flight",), 0, "cp.async.wait_group 2;"),
    ),
    _case(
        "zero_filled_tail",
        "cp_async",
        integers(101, -99, 99, out=(128,)),
        _zero_filled,
        _zero_filled_again,
        ("x", "out", _N(101)),
        (1,),
        (32,),
        Mutation("the copies are not waited for", r"^\s*cp\.async\.wait_all;", ("async-in-flight", "uninitialized")),
        Mutation("the tail is read in full", r"(\[%rd?\d+\], 16), %r\d+;", ("out-of-bounds",), 0, r"\1;"),
    ),
    _case(
        "copies_at_a_barrier",
        "cp_async",
        integers(192, -99, 99, out=(192,)),
        _reversed,
        _reversed_again,
        ("x", "out"),
        (1,),
        (64,),
        Mutation("the copies do not arrive", r"^\s*cp\.async\.mbarrier\.arrive.*;", ("async-in-flight",)),
        Mutation("one arrival too many is expected", r"mov\.u32\s+(%r\d+), 64;", ("deadlock",), 0, r"mov.u32 \1, 65;"),
    ),
)
