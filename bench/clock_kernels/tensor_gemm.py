"""xudoong/GEMM: f16 products by wmma and mma.sync on an A100, at sizes from 256 to 16384.

Speeds stand in the checkout, in `hgemm-tensorcore/result/performance.csv`: a row for each size, a column for each
kernel with its constants (stage32x4: tiles of 32 along K in 4 stages).
Its sizes were run one after the other, the first ones before the GPU had come to its clock: for a tile of 32 along K
k10 in 4 stages takes 1480 to 1570 cycles of 1.41 GHz at 2048 to 3072 and 1140 to 1200 from 3328 on, 1.41 GHz being 1.29
times the base clock of 1.095 GHz. k12 comes to it at 3840 only, k11 with tiles of 64 at 4608.
"""

import csv
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from .published import Launch, PublishedKernel, Repository

_REPOSITORY = Repository("xudoong/GEMM", "a5c1fd21be78289e67078735d4a02297301682d4", "GEMM")
_FOLDER = "hgemm-tensorcore"
_PAD = 8  # halves between rows that are stored to shared memory


def _speeds(column: str) -> Callable[[Path], Mapping[int, float]]:
    """What reads a column of the table of speeds."""

    def read(kernels: Path) -> Mapping[int, float]:
        with open(kernels / _REPOSITORY.folder / _FOLDER / "result" / "performance.csv") as file:
            return {int(row[""]): float(row[column]) for row in csv.DictReader(file)}

    return read


def _launch(
    tile: tuple[int, int], threads: tuple[int, int, int], shared_halves: int, swizzle: int = 0
) -> Callable[[int], Launch]:
    """The launch of tiles [m, n] over a product; `swizzle` tiles along n are neighbours in the grid's x."""

    def launch(n: int) -> Launch:
        x, w, y = (np.zeros((n, n), np.float16) for _ in range(3))
        rows, columns = n // tile[0], n // tile[1]
        grid = (swizzle, rows, -(-columns // swizzle)) if swizzle else (rows, columns, 1)
        size, one, zero = np.int32(n), np.float16(1), np.float16(0)
        return Launch(grid, threads, [size, size, size, one, x, w, zero, y], 2 * shared_halves)

    return launch


def _staged(tile_k: int, stages: int) -> int:
    """Halves of shared memory of tiles 256 × 128: those of all stages, or the padded result."""
    return max(stages * (256 + 128) * tile_k, 256 * (128 + _PAD))


def _kernel(
    column: str, file: str, launch: Callable[[int], Launch], replaced: Mapping[str, str] | None = None
) -> PublishedKernel:
    return PublishedKernel(
        column,
        _REPOSITORY,
        f"{_FOLDER}/src/kernels/{file}.cu",
        f"kernel{file[1:3]}",
        "a100",
        "sm_80",
        launch,
        _speeds(column),
        includes=(f"{_FOLDER}/include",),
        replaced=replaced or {},
    )


def _stages(tile_k: int, stages: int, given_k: int, given_stages: int) -> Mapping[str, str]:
    """The constants of a variant in place of the file's, and its loops unrolled.

    nvcc 13 leaves the three rounds over a tile of 64 as a loop, which puts the fragments into local memory: that would
    have cost a third of the speed, and the author's was that of tiles of 32.
    """
    rounds = "for (int k = tK; k < bK; k += tK) {"
    wanted = {
        f"const int bK = {given_k};": f"const int bK = {tile_k};",
        f"constexpr int num_stages = {given_stages};": f"constexpr int num_stages = {stages};",
        rounds: f"#pragma unroll\n{rounds}" if tile_k > given_k else rounds,
    }
    return {old: new for old, new in wanted.items() if old != new}


_FOUR, _EIGHT = (128, 1, 1), (256, 1, 1)
TENSOR_GEMM = (
    _kernel("k03-wmma_smem", "k03_wmma_shmem", _launch((128, 128), (32, 2, 2), 256 * 32)),
    _kernel("k04-wmma_smem_opt", "k04_wmma_shmem_opt", _launch((128, 128), (32, 2, 2), 256 * (32 + _PAD))),
    _kernel(
        "k05-wmma_stage",
        "k05_wmma_stage",
        _launch((256, 128), _EIGHT, max(3 * 384 * (32 + _PAD), 256 * (128 + _PAD))),
    ),
    _kernel(
        "k06-wmma_stage_dbreg",
        "k06_wmma_stage_dbreg",
        _launch((256, 128), _EIGHT, max(3 * 384 * (32 + _PAD), 256 * (128 + _PAD))),
    ),
    _kernel("k07-mma_padding", "k07_mma_padding", _launch((128, 128), _FOUR, 256 * (64 + _PAD))),
    _kernel("k08-mma_permute", "k08_mma_permute", _launch((128, 128), _FOUR, max(256 * 64, 128 * (128 + _PAD)))),
    _kernel("k09-mma_stage", "k09_mma_stage", _launch((256, 128), _EIGHT, _staged(32, 3))),
    *(
        _kernel(
            f"k10-mma_stage_dbreg-stage32x{stages}",
            "k10_mma_stage_dbreg",
            _launch((256, 128), _EIGHT, _staged(32, stages)),
            _stages(32, stages, 32, 3),
        )
        for stages in (3, 4)
    ),
    *(
        _kernel(
            f"k11-mma_swizzle-stage{tile_k}x{stages}",
            "k11_mma_swizzle",
            _launch((256, 128), _EIGHT, _staged(tile_k, stages), swizzle=8),
            _stages(tile_k, stages, 32, 4),
        )
        for tile_k, stages in ((32, 4), (64, 3))
    ),
    _kernel("k12-mma_swizzle_opt", "k12_mma_swizzle_opt", _launch((256, 128), _EIGHT, _staged(32, 4), swizzle=16)),
)
