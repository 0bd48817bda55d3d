"""pranjalssh/fast.cu: a ladder of bf16 products on an H100 SXM, from f32 arithmetic to clusters and stored boxes.

C (column-major) = A (row-major) · B (column-major): both operands lie along K. Speeds are the author's, at 4096.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import ml_dtypes
import numpy as np

from ptxsim import TensorMap

from .published import Launch, PublishedKernel, Repository

FAST_CU_REPOSITORY = Repository("pranjalssh/fast.cu", "38eb642e0c081231d6f695978be63604bd7c689b", "fast.cu")
_PRELUDE = """
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <vector>
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda/barrier>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
typedef __nv_bfloat16 bf16;
#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))
#define cudaCheck(err) (void)(err)
"""
_TILE_K = 64
_PERSISTENT = 128  # CTAs, one on an SM
_ORDER = 128  # entries of a CTA in the list of tiles


@dataclass(frozen=True)
class _Rung:
    """What is different from kernel to kernel of the ladder."""

    number: int
    tflops: float
    tile: tuple[int, int]
    threads: int
    stages: int = 1
    persistent: bool = False
    map_rank: int = 2
    cluster: int = 1
    stores_boxes: bool = False
    has_order: bool = False
    row_pad: int = 0

    @property
    def entry(self) -> str:
        """A part of its name in the PTX."""
        return "matmulKernel3ILi128ELi128ELi64ELi128ELb0" if self.number == 3 else f"matmulKernel{self.number}"

    @property
    def instance(self) -> str:
        """The template's instance that the author's host function makes."""
        (m, n), tail = self.tile, ""
        if self.number == 2:
            return f"M2::matmulKernel2<{m}, {n}, {_TILE_K}, 64, 64, 16, {self.threads}>"
        if self.number == 3:
            tail = ", false"
        elif self.number > 3:
            tail = f", {self.stages}"
        if self.persistent:
            tail += f", {_PERSISTENT}"
        if self.cluster > 1:
            tail += f", {self.cluster}, 1"
        return f"M{self.number}::matmulKernel{self.number}<{m}, {n}, {_TILE_K}, {self.threads}{tail}>"

    @property
    def shared_bytes(self) -> int:
        """The dynamic shared memory: the stages, the stored tile, barriers, the list of tiles."""
        if self.number == 2:
            return 0
        m, n = self.tile
        halves = (m + n) * _TILE_K * self.stages
        size = 2 * halves
        if self.stores_boxes:
            size += 2 * n * (m + m // 64 * self.row_pad) + 16 * self.stages
            size += 4 * _ORDER * self.has_order
            size = -(-size // 128) * 128
        return size

    def launch(self, size: int, depth: int = 0) -> Launch:
        """The launch of a product of that size, size × size × depth if there is one."""
        depth = depth or size
        x, w, y = (np.zeros(shape, ml_dtypes.bfloat16) for shape in ((size, depth), (size, depth), (size, size)))
        (m, n), number = self.tile, np.int32(size)
        ctas = _PERSISTENT if self.persistent else (size // m) * (size // n)
        maps: list[object] = [self._map(x, m), self._map(w, n)]
        args: list[object] = [number, number, np.int32(depth)]
        args += [self._stored_map(y), *maps] if self.stores_boxes else [y, *maps]
        if self.number == 3:
            args.append(np.uint64(0))
        if self.has_order:
            args.append(_tile_order(size // (m * self.cluster), size // n, _PERSISTENT // self.cluster))
        return Launch((ctas, 1, 1), (self.threads, 1, 1), args, self.shared_bytes, (self.cluster, 1, 1))

    def _map(self, array: np.ndarray, rows: int) -> TensorMap:
        """The map of an operand: boxes of `rows` and 64 along K, swizzled by 128 bytes."""
        return _boxes(array, [_TILE_K, rows, 1, 1, 1], self.map_rank)

    def _stored_map(self, array: np.ndarray) -> TensorMap:
        """The map of the result: as it lies in shared memory, columns of 64 beside each other."""
        m, n = self.tile
        consumers = self.threads // 128 - 1
        rows = 64 + self.row_pad
        wide = m // consumers if self.row_pad else m
        return _boxes(array, [rows, n, wide // 64, 1, 1], self.map_rank, swizzle="none")


def _boxes(array: np.ndarray, box: Sequence[int], rank: int, swizzle: str = "128B") -> TensorMap:
    """The map of a matrix [rows, columns]: of two dimensions, or its columns in groups of 64."""
    rows, columns = array.shape
    pitch = 2 * columns
    dims, strides = ([columns, rows], [pitch]) if rank == 2 else ([64, rows, columns // 64, 1, 1], [pitch, 128, 0, 0])
    return TensorMap.tiled(
        rank, array, dims[:rank], strides[: rank - 1], box[:rank], [1] * rank, swizzle=swizzle, l2_promotion="none"
    )


def _tile_order(rows: int, columns: int, clusters: int) -> np.ndarray:
    """The tiles of each cluster along a Hilbert curve, `row << 16 | column`, ended by -1: [128, 128] int32.

    64 clusters take the tiles of the curve by turns.
    """
    side = 1 << max(rows, columns, 1).bit_length() - (max(rows, columns).bit_count() == 1)
    order = np.full((_PERSISTENT, _ORDER), -1, np.int32)
    curve = (_on_curve(side, at) for at in range(side * side))
    tiles = [(row, column) for row, column in curve if row < rows and column < columns]
    for at, (row, column) in enumerate(tiles):
        order[at % clusters, at // clusters] = row << 16 | column
    return order


def _on_curve(side: int, at: int) -> tuple[int, int]:
    """The place on a Hilbert curve of `side` × `side`, the curve's `at`-th."""
    x = y = 0
    scale = 1
    while scale < side:
        right = at >> 1 & 1
        up = (at ^ right) & 1
        if not up:
            if right:
                x, y = scale - 1 - x, scale - 1 - y
            x, y = y, x
        x, y = x + scale * right, y + scale * up
        at >>= 2
        scale <<= 1
    return x, y


def _product_on_cores(size: int, depth: int) -> Launch:
    """The launch of the first kernel, which multiplies on the f32 pipes."""
    x, w, y = (np.zeros(shape, ml_dtypes.bfloat16) for shape in ((size, depth), (depth, size), (size, size)))
    number = np.int32(size)
    return Launch((size // 128, size // 128, 1), (128, 1, 1), [number, number, np.int32(depth), x, w, y])


def _kernel(number: int, entry: str, instance: str, tflops: float, launch: Callable[[int], Launch]) -> PublishedKernel:
    return PublishedKernel(
        f"matmul {number}",
        FAST_CU_REPOSITORY,
        f"examples/matmul/matmul_{number}.cuh",
        entry,
        "h100",
        "sm_90a",
        launch,
        lambda _: {4096: tflops},
        prelude=_PRELUDE,
        instance=instance,
        options=("--use_fast_math",),
    )


_WIDE = _Rung(5, 610, (128, 256), 384, 3)
_BY_VALUE = replace(_WIDE, number=6, tflops=660, persistent=True)
_CLUSTERED = replace(_BY_VALUE, number=8, tflops=734, map_rank=3, cluster=2)
_STORED = replace(_CLUSTERED, number=10, tflops=758, stores_boxes=True)
_LADDER = (
    _Rung(2, 317, (64, 64), 128),
    _Rung(3, 423, (128, 128), 128),
    _Rung(4, 498, (128, 128), 256, 5),
    _WIDE,
    _BY_VALUE,
    replace(_BY_VALUE, number=7, tflops=704, map_rank=5),
    _CLUSTERED,
    replace(_CLUSTERED, number=9, tflops=747),
    _STORED,
    replace(_STORED, number=11, tflops=764, has_order=True),
    replace(_STORED, number=12, tflops=771, has_order=True, row_pad=8),
)
_FIRST_ORDER = "Schedule<1, NUM_SM, BM, BN, 16, 8>"
FAST_CU = (
    replace(
        _kernel(
            1,
            "sgemmWarptiling",
            "sgemmWarptiling<128, 128, 16, 64, 64, 4, 8, 4, 128>",
            32,
            lambda size: _product_on_cores(size, size),
        ),
        shallow=_product_on_cores,
    ),
    *(_kernel(each.number, each.entry, each.instance, each.tflops, each.launch) for each in _LADDER),
)

#: A sweep over K that TileLang published for an H800, from 256 to 16384, beside what another kernel, the fifth of the
#: ladder, is predicted to do on an H100. The sizes that they took are not told: m = n = 8192 is assumed.
_SIDE = 8192
K_SWEEP = (
    replace(
        next(each for each in FAST_CU if each.name == "matmul 5"),
        name="matmul 5, 8192 × 8192 × n",
        launch=lambda k: _WIDE.launch(_SIDE, k),
        published=lambda _: {256: 386, 16384: 766},
        work=lambda k: 2.0 * _SIDE * _SIDE * k,
    ),
)
#: Kernel 6 with its first order of tiles: each CTA takes the next ones of a row. Its README tells 400 TFLOP/s.
FIRST_ORDER = replace(
    FAST_CU[5],
    name="matmul 6, first order",
    published=lambda _: {4096: 400.0},
    replaced={_FIRST_ORDER: _FIRST_ORDER.replace("<1", "<0")},
)
