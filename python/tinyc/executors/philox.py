"""Random numbers of `tiny.rand`: Philox-4x32-10, a function of seed, stream and element position only.

In: seed, stream, a number of elements. Out: 32-bit words, or numbers of the uniform or normal distribution. Element
``e`` takes word ``e % 4`` of counter ``e // 4``, so any part of a tensor can be made alone.

Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011 (library Random123).
"""

import numpy as np

_ROUNDS = 10
_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_WORD = 2**32 - 1
_SHIFT = np.uint64(32)


def philox(counter: np.ndarray, key: tuple[int, int]) -> np.ndarray:
    """The four output words for each counter.

    **Shapes** `counter: [n, 4] uint32` → `[n, 4] uint32`.
    """
    c0, c1, c2, c3 = (counter[:, word].astype(np.uint64) for word in range(4))
    k0, k1 = key
    for _ in range(_ROUNDS):
        left, right = _MULTIPLIERS[0] * c0, _MULTIPLIERS[1] * c2
        c0, c1, c2, c3 = (
            (right >> _SHIFT) ^ c1 ^ np.uint64(k0),
            right & np.uint64(_WORD),
            (left >> _SHIFT) ^ c3 ^ np.uint64(k1),
            left & np.uint64(_WORD),
        )
        k0, k1 = (k0 + _KEY_STEPS[0]) & _WORD, (k1 + _KEY_STEPS[1]) & _WORD
    return np.stack([c0, c1, c2, c3], axis=1).astype(np.uint32)


def words(count: int, seed: int, stream: int) -> np.ndarray:
    """The words of the elements 0 … count - 1, `[count] uint32`; seed and stream are taken modulo 2^64."""
    block = np.arange((count + 3) // 4, dtype=np.uint64)
    counter = np.empty((len(block), 4), np.uint32)
    counter[:, 0], counter[:, 1] = block & np.uint64(_WORD), block >> _SHIFT
    counter[:, 2], counter[:, 3] = stream & _WORD, stream >> 32 & _WORD
    return philox(counter, (seed & _WORD, seed >> 32 & _WORD)).reshape(-1)[:count]


def run_key(seed: int, offset: int) -> int:
    """The key of run number `offset` under `seed`, which goes into the keys of all its random numbers; 63 bits."""
    counter = np.array([[offset & _WORD, offset >> 32 & _WORD, 0, 0]], np.uint32)
    low, high = (int(word) for word in philox(counter, (seed & _WORD, seed >> 32 & _WORD))[0, :2])
    return (high << 32 | low) & 2**63 - 1


def uniform(count: int, seed: int, stream: int, bits: int = 24) -> np.ndarray:
    """`count` numbers on [0, 1) in f32, multiples of ``2^-bits``: the upper bits of each word."""
    return (words(count, seed, stream) >> np.uint32(32 - bits)).astype(np.float32) * np.float32(2.0**-bits)


def normal(count: int, seed: int, stream: int) -> np.ndarray:
    """`count` standard normal numbers in f64: Box-Muller on the word pairs (0, 1) and (2, 3) of each counter."""
    pairs = (words(count + count % 2, seed, stream) >> np.uint32(8)).astype(np.float64).reshape(-1, 2)
    radius = np.sqrt(-2 * np.log((pairs[:, 0] + 1) * 2**-24))
    angle = 2 * np.pi * pairs[:, 1] * 2**-24
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).reshape(-1)[:count]
