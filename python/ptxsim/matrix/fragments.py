"""Which lane and register holds which element of a matrix.

In: the shape of a matrix and the width of its elements. Out: a `Fragment`, which moves elements between the lanes of a
warp and the matrix. One formula does for all shapes and types: with g = lane / 4 and t = lane mod 4, registers hold
runs of elements along k (or, for accumulators, two along n) that start at t runs, for row g, then for row g + 8, then
the next four runs. The warps of a warpgroup hold 16 rows each, laid out as one warp's.

Source: PTX ISA §9.7.14.5.1–13 (mma), §9.7.15.5.1.1 (wgmma).
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from ptxsim.machine.warp import WARP

GROUP_LANES = 4  # "threadID_in_group" counts these
GROUPS = WARP // GROUP_LANES  # "groupID" counts these: rows of A and C, columns of B


@dataclass(frozen=True, eq=False)
class Fragment:
    """Where the elements that the lanes hold lie in a matrix, lowest register and bits first.

    Shapes: `position` [32, elements], into the flattened matrix; `held` [rows · columns], its inverse.
    """

    rows: int
    columns: int
    position: np.ndarray
    held: np.ndarray

    @property
    def elements(self) -> int:
        """How many elements a lane holds."""
        return self.position.shape[1]

    def matrix(self, elements: np.ndarray) -> np.ndarray:
        """The matrices [..., rows, columns] whose elements [..., 32, e] the lanes hold."""
        batch = elements.shape[:-2]
        flat = elements.reshape(*batch, self.rows * self.columns)
        return flat.take(self.held, axis=-1).reshape(*batch, self.rows, self.columns)

    def distributed(self, matrix: np.ndarray) -> np.ndarray:
        """The elements [..., 32, e] that the lanes hold of matrices [..., rows, columns]."""
        return matrix.reshape(*matrix.shape[:-2], self.rows * self.columns).take(self.position, axis=-1)


def _fragment(rows: int, columns: int, row: np.ndarray, column: np.ndarray) -> Fragment:
    position = row * columns + column
    return Fragment(rows, columns, position, np.argsort(position, axis=None))


def _lanes(elements: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The group and the thread in it [32, 1], and the index of each element that a lane holds [1, e]."""
    lane = np.arange(WARP)[:, None]
    return lane // GROUP_LANES, lane % GROUP_LANES, np.arange(elements)[None, :]


@cache
def multiplicand_a(m: int, k: int, bits: int) -> Fragment:
    """The layout of A [m, k], m = 8 or 16 a warp, whose registers hold runs along k."""
    group, thread, index = _lanes(m * k // WARP)
    run = _run(bits)
    register = index // run
    bands = m // GROUPS
    row = group + GROUPS * (register % bands)
    column = (register // bands) * GROUP_LANES * run + thread * run + index % run
    return _fragment(m, k, row, column)


@cache
def multiplicand_b(k: int, bits: int) -> Fragment:
    """The layout of B [k, 8], whose registers hold runs along k."""
    group, thread, index = _lanes(k * GROUPS // WARP)
    run = _run(bits)
    row = (index // run) * GROUP_LANES * run + thread * run + index % run
    return _fragment(k, GROUPS, row, group + 0 * index)


@cache
def accumulator(m: int, n: int) -> Fragment:
    """The layout of C and D [m, n], m = 8 or 16 a warp: pairs along n, for every type."""
    group, thread, index = _lanes(m * n // WARP)
    pair, bands = index // 2, m // GROUPS
    row = group + GROUPS * (pair % bands)
    column = (pair // bands) * 2 * GROUP_LANES + thread * 2 + index % 2
    return _fragment(m, n, row, column)


def _run(bits: int) -> int:
    """The number of elements that lie next to each other in a register."""
    return max(1, 32 // bits)
