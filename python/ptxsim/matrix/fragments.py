"""Which lane and register holds which element of a matrix.

In: the shape of a matrix and the width of its elements. Out: a `Fragment`, which moves elements between the lanes of a
warp and the matrix. One formula does for all shapes and types: with g = lane / 4 and t = lane mod 4, registers hold
runs of elements along k (or, for accumulators, two along n) that start at t runs, for row g, then for row g + 8, then
the next four runs. The warps of a warpgroup hold 16 rows each, laid out as one warp's. `wmma` has tiles of these
layouts side by side.

Source: PTX ISA §9.7.14.5.1–13 (mma), §9.7.15.5.1.1 (wgmma).
"""

from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np

from ptxsim.machine.warp import WARP
from ptxsim.matrix.modifiers import MatrixShape

GROUP_LANES = 4  # "threadID_in_group" counts these
GROUPS = WARP // GROUP_LANES  # "groupID" counts these: rows of A and C, columns of B
_TILE_ROWS = 16  # of the largest `mma`


@dataclass(frozen=True, eq=False)
class Fragment:
    """Where the elements that the lanes hold lie in a matrix, lowest register and bits first.

    Shapes: `position` [32, elements], into the flattened matrix.
    """

    rows: int
    columns: int
    position: np.ndarray

    @cached_property
    def held(self) -> np.ndarray:
        """Where each element of the flattened matrix is held, the first time if it is held several times."""
        return np.unique(self.position, return_index=True)[1]

    @property
    def transposed(self) -> "Fragment":
        """The layout in which the lanes hold of a transposed matrix what they hold of the matrix in this one."""
        row, column = np.divmod(self.position, self.columns)
        return _fragment(self.columns, self.rows, column, row)

    @property
    def elements(self) -> int:
        """How many elements a lane holds."""
        return self.position.shape[1]

    def matrix(self, elements: np.ndarray) -> np.ndarray:
        """The matrices [..., rows, columns] whose elements [..., 32, e] the lanes hold."""
        batch = elements.shape[:-2]
        flat = elements.reshape(*batch, self.position.size)
        return flat.take(self.held, axis=-1).reshape(*batch, self.rows, self.columns)

    def distributed(self, matrix: np.ndarray) -> np.ndarray:
        """The elements [..., 32, e] that the lanes hold of matrices [..., rows, columns]."""
        return matrix.reshape(*matrix.shape[:-2], self.rows * self.columns).take(self.position, axis=-1)


def _fragment(rows: int, columns: int, row: np.ndarray, column: np.ndarray) -> Fragment:
    return Fragment(rows, columns, row * columns + column)


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


class Fragments(NamedTuple):
    """The layouts of A, of B, and of C and D."""

    a: Fragment
    b: Fragment
    d: Fragment


@cache
def mma_fragments(shape: MatrixShape, bits: int) -> Fragments:
    """The layouts of `mma` for elements of A and B of `bits`."""
    return Fragments(
        multiplicand_a(shape.m, shape.k, bits), multiplicand_b(shape.k, bits), accumulator(shape.m, shape.n)
    )


@cache
def wmma_fragments(shape: MatrixShape, bits: int, least: int = 1) -> Fragments:
    """The layouts of `wmma` for elements of A and B of `bits`, of which a lane holds `least` at least, by repetition.

    The ISA leaves them open. These are what ptxas 13.0 makes of `wmma` for sm_80 and sm_90a: tiles of `mma` after one
    another, m8n32 as the transposed product of m32n8.
    """
    if shape.m < shape.n:
        turned = wmma_fragments(MatrixShape(shape.n, shape.m, shape.k), bits, least)
        return Fragments(turned.b.transposed, turned.a.transposed, turned.d.transposed)
    tile = mma_fragments(MatrixShape(min(shape.m, _TILE_ROWS), GROUPS, shape.k), bits)
    down, right = shape.m // tile.d.rows, shape.n // tile.d.columns
    a, b = _tiled(tile.a, down, 1), _tiled(tile.b, 1, right)
    return Fragments(_repeated(a, least), _repeated(b, least), _tiled(tile.d, down, right))


def _tiled(tile: Fragment, down: int, right: int) -> Fragment:
    """The layout of tiles below or beside each other, in registers after one another."""
    row, column = np.divmod(tile.position, tile.columns)
    places = [(row + i * tile.rows, column + j * tile.columns) for i in range(down) for j in range(right)]
    rows, columns = (np.concatenate(each, axis=1) for each in zip(*places, strict=True))
    return _fragment(tile.rows * down, tile.columns * right, rows, columns)


def _repeated(fragment: Fragment, least: int) -> Fragment:
    """The layout that has all registers again until there are `least` elements."""
    times = max(1, least // fragment.elements)
    return Fragment(fragment.rows, fragment.columns, np.tile(fragment.position, times))
