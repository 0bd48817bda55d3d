"""Cases of `data/cuda/integer.cu`. Expected: numpy on whole arrays; again: Python's integers, one element at a time."""

from collections.abc import Callable

import numpy as np

from ptxsim_cases.case import Arrays, Case, Mutation, poison

N = 100
EDGES = (0, 1, -1, 2, 7, -(2**31), 2**31 - 1, 0x0F0F0F0F, -0x01020304, 31, 32, 255)


def pairs(generator: np.random.Generator, rows: int, dtype: object) -> Arrays:
    """Pairs of numbers, edge values among them; no divisor is 0, and no quotient overflows."""
    bits = np.dtype(dtype).itemsize * 8
    a, b = generator.integers(0, 2**64 - 1, (2, N), dtype=np.uint64)
    a[:12], b[12:24] = np.array(EDGES, np.int64).view(np.uint64), np.array(EDGES, np.int64).view(np.uint64)
    a, b = (x.astype(f"u{bits // 8}") for x in (a, b))
    b[b == 0] = 5
    b[b == 2**bits - 1] = 3
    b[::3] = b[::3] % 97 + 1
    a, b = a.view(dtype), b.view(dtype)
    return {"a": a, "b": b, "out": poison(rows, N, dtype=f"u{bits // 8}")}


def each(function: Callable[..., list[int]], dtype: object) -> Callable[[Arrays], Arrays]:
    """The computation of `out` [rows, n] that calls `function` with each pair as Python integers."""
    mask = 2 ** (np.dtype(dtype).itemsize * 8) - 1

    def compute(arrays: Arrays) -> Arrays:
        columns = [function(int(a), int(b)) for a, b in zip(arrays["a"], arrays["b"], strict=True)]
        return {"out": np.array([[value & mask for value in column] for column in columns], dtype).T}

    return compute


def signed(value: int, bits: int) -> int:
    """The low bits of a number as a two's complement one."""
    value &= 2**bits - 1
    return value - 2**bits if value >> (bits - 1) else value


def _arithmetic(arrays: Arrays) -> Arrays:
    x, y = arrays["a"].astype(np.int64), arrays["b"].astype(np.int64)
    ux, uy = arrays["a"].view(np.uint32).astype(np.uint64), arrays["b"].view(np.uint32).astype(np.uint64)
    quotient = (np.abs(x) // np.abs(y)) * np.sign(x) * np.sign(y)
    shift = (uy & 31).astype(np.int64)
    low24 = [(v << 40) >> 40 for v in (x, y)]
    rows = [x + y, x - y, x * y, (x * y) >> 32, ux * uy >> np.uint64(32), quotient, x - quotient * y, ux // uy, ux % uy]
    rows += [np.minimum(x, y), np.maximum(ux, uy), np.abs(x), np.abs(x - y) + 7, low24[0] * low24[1]]
    rows += [x >> shift, ux >> shift.astype(np.uint64), x << shift, (x + y) >> 1]
    rows += [np.clip(x + y, -(2**31), 2**31 - 1), np.clip(x - y, -(2**31), 2**31 - 1)]
    rows += [(x * 5).astype(np.uint8).astype(np.int64) + (y - 3).astype(np.int8)]
    rows += [x.astype(np.int16).astype(np.int64) * y.astype(np.int16)]
    return {"out": np.stack([np.asarray(row).astype(np.uint32) for row in rows])}


def _arithmetic_again(x: int, y: int) -> list[int]:
    ux, uy, shift = x % 2**32, y % 2**32, y % 32
    quotient, rest = divmod(abs(x), abs(y))
    quotient, rest = (-quotient if (x < 0) != (y < 0) else quotient), (-rest if x < 0 else rest)
    rows = [
        x + y,
        x - y,
        x * y,
        (x * y) >> 32,
        (ux * uy) >> 32,
        quotient,
        rest,
        ux // uy,
        ux % uy,
        min(x, y),
        max(ux, uy),
    ]
    rows += [abs(x), abs(x - y) + 7, signed(x, 24) * signed(y, 24), x >> shift, ux >> shift, x << shift, (x + y) // 2]
    rows += [min(max(x + y, -(2**31)), 2**31 - 1), min(max(x - y, -(2**31)), 2**31 - 1)]
    return [*rows, (x * 5) % 256 + signed(y - 3, 8), signed(x, 16) * signed(y, 16)]


def _wide(arrays: Arrays) -> Arrays:
    """By 32-bit halves in 64-bit numbers."""
    x, y = arrays["a"], arrays["b"]
    m, s = np.uint64(0xFFFFFFFF), np.uint64(32)

    def high(p: np.ndarray, q: np.ndarray) -> np.ndarray:
        middle = (p >> s) * (q & m) + ((p & m) * (q & m) >> s)
        return (p >> s) * (q >> s) + (middle >> s) + (((p & m) * (q >> s) + (middle & m)) >> s)

    sx, sy, z = x.view(np.int64), y.view(np.int64), x * np.uint64(3)
    low_sum, borrow = y + z, (y < z).astype(np.uint64)
    signed_high = high(x, y) - np.where(sx < 0, y, np.uint64(0)) - np.where(sy < 0, x, np.uint64(0))
    rest = np.fmod(sx, sy)
    zeros = np.array([64 - int(v).bit_length() for v in x], np.uint64)
    lanes = np.unpackbits(x[:, None].view(np.uint8), axis=1, bitorder="little")
    reverse = np.packbits(lanes[:, ::-1], axis=1, bitorder="little").view(np.uint64)[:, 0]
    rows = [
        x + y + (low_sum < y),
        low_sum,
        x - y - borrow,
        x * z + y * y + high(y, z),
        high(x, y),
        signed_high,
        x // y,
        rest,
    ]
    rows += [zeros * np.uint64(64) + np.bitwise_count(x), reverse, (x & m) * (y & m)]
    rows += [x.astype(np.int32).astype(np.int64) * y.astype(np.int32) + (x >> np.uint64(3)).view(np.int64)]
    rows += [(x & m) + (y & m), sx >> (y & np.uint64(63)).astype(np.int64)]
    return {"out": np.stack([np.asarray(row).astype(np.uint64) for row in rows])}


def _wide_again(x: int, y: int) -> list[int]:
    sx, sy = signed(x, 64), signed(y, 64)
    pair, other = x << 64 | y, y << 64 | (x * 3) % 2**64
    rest = abs(sx) % abs(sy) * (-1 if sx < 0 else 1)
    rows = [
        (pair + other) >> 64,
        pair + other,
        (pair - other) >> 64,
        (pair * other) >> 64,
        (x * y) >> 64,
        (sx * sy) >> 64,
    ]
    rows += [
        x // y,
        rest,
        (64 - x.bit_length()) * 64 + x.bit_count(),
        int(f"{x:064b}"[::-1], 2),
        x % 2**32 * (y % 2**32),
    ]
    return [*rows, signed(x, 32) * signed(y, 32) + (x >> 3), x % 2**32 + y % 2**32, sx >> (y % 64)]


def _field(value: np.ndarray, at: np.ndarray, length: np.ndarray) -> np.ndarray:
    """`length` bits of 32 from bit `at` on; bits beyond the 31st are zero."""
    return value >> at & ((np.uint64(1) << length) - np.uint64(1))


def _bits(arrays: Arrays) -> Arrays:
    """By matrices of bits: [n, 32], the lowest first."""
    x, y = arrays["a"].astype(np.uint64), arrays["b"].astype(np.uint64)
    m = np.uint64(2**32 - 1)
    bit = (x[:, None] >> np.arange(32, dtype=np.uint64) & np.uint64(1)).astype(np.int64)
    weights = 2 ** np.arange(32)
    top = np.where(bit.any(1), 31 - bit[:, ::-1].argmax(1), -1)
    bytes_ = np.concatenate([arrays[name][:, None].view(np.uint8) for name in "ab"], axis=1)
    chosen = bytes_[:, [0, 5, 2, 7]].copy().view(np.uint32)[:, 0]
    both = y << np.uint64(32) | x
    shift = np.minimum(y & np.uint64(63), np.uint64(32))
    dots = [
        (arrays["a"][:, None].view(t).astype(int) * arrays["b"][:, None].view(t)).sum(1) + 100
        for t in (np.int8, np.uint8)
    ]
    at, length = y & np.uint64(31), y >> np.uint64(8) & np.uint64(31)
    field = _field(x, at, length)
    last = np.minimum(at + length - np.uint64(1), np.uint64(31)).astype(np.int64)
    sign = np.where(length > 0, bit[np.arange(N), last], 0).astype(np.uint64)
    taken = np.minimum(length, np.uint64(32) - at)
    extended = np.where(sign == 1, field | (m << taken & m), field)
    mask = ((np.uint64(1) << length) - np.uint64(1)) << at & m
    inserted = (y & ~mask) | (x << at & mask)
    magnitude = np.where(x >> np.uint64(31) == 1, ~x & m, x)
    most = np.array([int(v).bit_length() - 1 for v in magnitude])
    shifted = np.where(most < 0, -1, 31 - most)
    z = x >> np.uint64(7)
    selector = y >> np.uint64(3)
    order = np.stack([(selector >> np.uint64(4 * k) & np.uint64(15)).astype(int) for k in range(4)], 1)
    byte = np.take_along_axis(bytes_, order & 7, 1)
    permuted = np.where(order & 8, (byte >> 7) * 255, byte).astype(np.uint8).view(np.uint32)[:, 0]
    rows = [bit.sum(1), 31 - top, bit @ weights[::-1], np.where(x > 0, bit.argmax(1) + 1, 0), chosen]
    rows += [
        both >> np.uint64(21) & m,
        both >> shift & m,
        (x & y) ^ (~x & m | np.uint64(0x0F0F0F0F)),
        *dots,
        field,
        extended,
    ]
    rows += [inserted, top, shifted, _nth_set(bit, at.astype(int), (y >> np.uint64(8) & np.uint64(7)).astype(int) - 3)]
    rows += [(x & y) | (x & z) | (y & z), permuted]
    return {"out": np.stack([np.asarray(row).astype(np.int64).astype(np.uint32) for row in rows])}


def _nth_set(bit: np.ndarray, base: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """The bit that `fns` finds: the |offset|-th set one from `base` up or down, or all ones."""
    place = np.arange(32)
    up = np.where(bit * (place >= base[:, None]), 1, 0)
    down = np.where(bit * (place <= base[:, None]), 1, 0)[:, ::-1]
    hits = [(np.cumsum(side, 1) == np.abs(offset)[:, None]) & (side == 1) for side in (up, down)]
    found = np.where(offset > 0, np.where(hits[0].any(1), hits[0].argmax(1), -1), -1)
    found = np.where((offset < 0) & hits[1].any(1), 31 - hits[1].argmax(1), found)
    return np.where(offset == 0, np.where(bit[np.arange(N), base] == 1, base, -1), found)


def _bits_again(x: int, y: int) -> list[int]:
    text = f"{x:032b}"
    pool = x.to_bytes(4, "little") + y.to_bytes(4, "little")
    at, length, offset = y % 32, y >> 8 & 31, (y >> 8 & 7) - 3
    funnel = (y << 32 | x) >> min(y % 64, 32)
    inside = text[::-1][at : at + length]
    field = int(inside[::-1] or "0", 2)
    extended = field - (int(inside[-1:] or "0") << len(inside))
    inserted = [x >> (k - at) & 1 if at <= k < at + length else y >> k & 1 for k in range(32)]
    most = (x if x < 2**31 else 2**32 - 1 - x).bit_length() - 1
    steps = range(at, 32) if offset > 0 else range(at, -1, -1)
    hits = [k for k in steps if x >> k & 1]
    nth = (at if x >> at & 1 else -1) if offset == 0 else (hits[abs(offset) - 1] if len(hits) >= abs(offset) else -1)
    picks = [(pool[c & 7] >> 7) * 255 if c & 8 else pool[c & 7] for c in ((y >> 3 >> 4 * k) & 15 for k in range(4))]
    rows = [text.count("1"), (text + "1").index("1"), int(text[::-1], 2), (text[::-1].find("1") + 1)]
    rows += [int.from_bytes(bytes(pool[k] for k in (0, 5, 2, 7)), "little"), y << 11 | x >> 21, funnel]
    rows += [(x & y) ^ ((2**32 - 1 - x) | 0x0F0F0F0F)]
    rows += [sum(signed(pool[k], 8) * signed(pool[k + 4], 8) for k in range(4)) + 100]
    rows += [
        sum(pool[k] * pool[k + 4] for k in range(4)) + 100,
        field,
        extended,
        sum(b << k for k, b in enumerate(inserted)),
    ]
    rows += [x.bit_length() - 1, -1 if most < 0 else 31 - most, nth]
    majority = [(x >> k & 1) + (y >> k & 1) + (x >> 7 >> k & 1) >= 2 for k in range(32)]
    return [*rows, sum(b << k for k, b in enumerate(majority)), int.from_bytes(bytes(picks), "little")]


_OUT = ("a", "b", "out", np.int32(N))
_SHAPE = {"grid": (4, 1, 1), "block": (32, 1, 1), "ptx": "cuda/integer.ptx", "arguments": _OUT}
CASES = (
    Case(
        "integer_arithmetic",
        entry="integer_arithmetic",
        make=lambda generator: pairs(generator, 22, np.int32),
        expected=_arithmetic,
        again=each(_arithmetic_again, np.uint32),
        mutations=(
            # The guard lets thread n through: it reads and writes behind the arrays' last row.
            Mutation("bound off by one", r"setp\.ge\.s32", ("out-of-bounds",), 0, "setp.gt.s32"),
            Mutation("address off by two bytes", r"\[%rd(\d+)\];", ("misaligned",), 0, r"[%rd\1+2];"),
        ),
        **_SHAPE,
    ),
    Case(
        "bit_operations",
        entry="bit_operations",
        make=lambda generator: pairs(generator, 18, np.uint32),
        expected=_bits,
        again=each(_bits_again, np.uint32),
        **_SHAPE,
    ),
    Case(
        "wide_integers",
        entry="wide_integers",
        make=lambda generator: pairs(generator, 14, np.uint64),
        expected=_wide,
        again=each(_wide_again, np.uint64),
        **_SHAPE,
    ),
)
