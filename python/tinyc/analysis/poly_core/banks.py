"""Bank conflicts of a tile in shared memory, by enumeration of the lanes' addresses.

Shared memory serves a warp in phases: all lanes at once for accesses of up to 4 bytes, a half warp for 8 and a quarter
for 16 bytes; `ldmatrix` takes the 8 rows of a matrix, of 16 bytes each, in one phase. In a phase, the words of one bank
are served one after the other. Source: CUDA C++ Programming Guide, "Shared Memory" of compute capability 5.x and later;
PTX ISA, ldmatrix.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tinyc.target.target import Target

_LANES = 32
_CHUNK_BYTES = 16  # what a row of an ldmatrix matrix is, and what a swizzle moves


@dataclass(frozen=True)
class BankHint:
    """Reading a tile of `tensor` with `pitch_bytes` between rows by `pattern` takes `ways` times as long as it could.

    Pitches are whole chunks of 16 bytes for "ldmatrix", which reads no others, and words for "column";
    `padded_pitch_bytes` is the least one without conflicts.
    """

    tensor: str
    pattern: str
    pitch_bytes: int
    ways: int
    padded_pitch_bytes: int

    @property
    def remedy(self) -> str:
        """What takes the conflicts away."""
        if self.ways == 1:
            return "none needed"
        swizzle = f", or swizzle chunks of {_CHUNK_BYTES} bytes by the row" if self.pattern == "ldmatrix" else ""
        return f"pad rows to {self.padded_pitch_bytes} bytes{swizzle}"


def conflict_ways(addresses: Sequence[int] | np.ndarray, access_bytes: int, target: Target) -> int:
    """Return the most words of one bank that a phase asks for: 1 where there is no conflict.

    Shapes: `addresses: [lanes]`, of the lanes in order, in bytes; multiples of 4.
    """
    lanes = max(1, _LANES * target.shared_bank_bytes // max(access_bytes, target.shared_bank_bytes))
    words = np.arange(0, access_bytes, target.shared_bank_bytes)
    worst = 1
    places = np.asarray(addresses)
    for first in range(0, len(places), lanes):
        touched = np.unique((places[first : first + lanes, None] + words) // target.shared_bank_bytes)
        worst = max(worst, int(np.bincount(touched % target.shared_banks).max()))
    return worst


def row_addresses(pitch_bytes: int, swizzled: bool = False) -> np.ndarray:
    """Return where the 8 rows of an `ldmatrix` matrix begin; a swizzle moves chunk c of row r to chunk ``c xor r``."""
    rows = np.arange(8)
    return rows * pitch_bytes + (rows * _CHUNK_BYTES if swizzled else 0)


def column_addresses(pitch_bytes: int) -> np.ndarray:
    """Return where the 32 lanes of a warp read that take a column."""
    return np.arange(_LANES) * pitch_bytes


def bank_hint(tensor: str, pattern: str, pitch_bytes: int, target: Target) -> BankHint:
    """Return the conflicts of reading a row-major tile by `pattern`: "ldmatrix", or "column" (a word for each lane).

    Rows of `pitch_bytes` have the next pitch that the pattern can read.
    """
    unit = _CHUNK_BYTES if pattern == "ldmatrix" else target.shared_bank_bytes
    units = -(-pitch_bytes // unit)
    ways = _ways(pattern, units * unit, target)
    padded = units if ways == 1 else units | 1  # an odd number of units has no conflicts
    return BankHint(tensor, pattern, units * unit, ways, padded * unit)


def _ways(pattern: str, pitch_bytes: int, target: Target) -> int:
    if pattern == "ldmatrix":
        return conflict_ways(row_addresses(pitch_bytes), _CHUNK_BYTES, target)
    return conflict_ways(column_addresses(pitch_bytes), target.shared_bank_bytes, target)
