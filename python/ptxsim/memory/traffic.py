"""What the hardware makes of a warp's access: 32-byte sectors of global memory, passes through the banks of shared.

In: the byte indices of the lanes. Patterns repeat all the time, and neither count changes when all lanes move by a
multiple of 128 bytes, so that each pattern is counted once. Source: CUDA C++ Programming Guide, "Compute Capability
5.x" (shared memory: 32 banks of 4 bytes; 8-byte accesses go by half warps and 16-byte ones by quarters).
"""

from dataclasses import dataclass

import numpy as np

SECTOR_BYTES = 32
_BANKS, _BANK_BYTES = 32, 4
#: What shared memory moves in one pass.
PASS_BYTES = _BANKS * _BANK_BYTES
_LINE_BYTES = 128
_NO_LANE = -1
_KEPT_PATTERNS = 4096


@dataclass(slots=True)
class Tally:
    """Accesses of one kind: by `lanes`, by `requests` of warps, by the `units` that these take, and could do with.

    Units are sectors of global memory and passes of shared memory; other spaces have lanes only.
    """

    lanes: int = 0
    requests: int = 0
    units: int = 0
    fewest: int = 0

    def add(self, lanes: int, requests: int = 0, units: int = 0, fewest: int = 0) -> None:
        """Count more of them."""
        self.lanes += lanes
        self.requests += requests
        self.units += units
        self.fewest += fewest


_patterns: dict[tuple[str, int, bytes], tuple[int, int]] = {}


def units(space: str, index: np.ndarray, mask: np.ndarray, dense: bool, size: int) -> tuple[int, int]:
    """The sectors or passes that accesses of `size` bytes at `index` need, and how few they could be.

    Shapes: `index, mask: [n, 32]`; the counts are over all n warps. `dense`: the mask is all ones.
    """
    if dense:
        places = index - (index[:, :1] & -_LINE_BYTES)
    else:
        first = index[np.arange(len(index)), mask.argmax(axis=1)] & -_LINE_BYTES
        places = np.where(mask, index - first[:, None], _NO_LANE * size)
    key = (space, size, places.tobytes())
    if key not in _patterns:
        if len(_patterns) >= _KEPT_PATTERNS:
            _patterns.clear()
        count = _passes if space == "shared" else _sectors
        rows = [count(row[lanes], np.flatnonzero(lanes), size) for row, lanes in zip(places, mask, strict=True)]
        _patterns[key] = (sum(row[0] for row in rows), sum(row[1] for row in rows))
    return _patterns[key]


def _sectors(places: np.ndarray, lanes: np.ndarray, size: int) -> tuple[int, int]:
    touched = {place // SECTOR_BYTES for first in places for place in range(first, first + size, SECTOR_BYTES)}
    return len(touched), -(-len(set(places.tolist())) * size // SECTOR_BYTES)


def _passes(places: np.ndarray, lanes: np.ndarray, size: int) -> tuple[int, int]:
    lanes_together = PASS_BYTES // max(size, _BANK_BYTES)
    needed = groups = 0
    for start in range(0, _BANKS, lanes_together):
        chosen = places[(lanes >= start) & (lanes < start + lanes_together)]
        if chosen.size:
            words = np.unique((chosen[:, None] + np.arange(0, size, _BANK_BYTES)) // _BANK_BYTES)
            needed += int(np.bincount(words % _BANKS).max())
            groups += 1
    return needed, groups
