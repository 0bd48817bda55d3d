"""siboehm/SGEMM_CUDA: f32 products, one improvement after the other, as its README measured them on an RTX A6000."""

from collections.abc import Callable

import numpy as np

from .published import Launch, PublishedKernel, Repository

_REPOSITORY = Repository("siboehm/SGEMM_CUDA", "60cba6f9b20a198116c76f18de8047f44df8c8b8", "SGEMM_CUDA")
_PRELUDE = """
#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))
"""


def _launch(
    tile_m: int, tile_n: int, threads: tuple[int, int, int], m_first: bool = False
) -> Callable[[int, int], Launch]:
    """The launch of tiles over a product; the grid's x runs over the columns, or over the rows if `m_first`."""

    def launch(n: int, k: int) -> Launch:
        x, w, y = (np.zeros(shape, np.float32) for shape in ((n, k), (k, n), (n, n)))
        rows, columns = n // tile_m, n // tile_n
        grid = (rows, columns, 1) if m_first else (columns, rows, 1)
        size = np.int32(n)
        return Launch(grid, threads, [size, size, np.int32(k), np.float32(1), x, w, np.float32(0), y])

    return launch


def _kernel(
    number: int, file: str, instance: str, gflops: float, launch: Callable[[int, int], Launch]
) -> PublishedKernel:
    """A kernel of the ladder; a template is instantiated as the repository's runner does."""
    return PublishedKernel(
        f"sgemm {number}",
        _REPOSITORY,
        f"src/kernels/{file}.cuh",
        instance.partition("<")[0],
        "a6000",
        "sm_86",
        lambda n: launch(n, n),
        lambda _: {4096: gflops / 1e3},
        prelude=_PRELUDE,
        instance=instance if "<" in instance else "",
        shallow=launch,
    )


_TILED = _launch(128, 128, (256, 1, 1))
SGEMM_CUDA = (
    _kernel(1, "1_naive", "sgemm_naive", 309.0, _launch(32, 32, (32, 32, 1), m_first=True)),
    _kernel(
        2,
        "2_kernel_global_mem_coalesce",
        "sgemm_global_mem_coalesce<32>",
        1986.5,
        _launch(32, 32, (1024, 1, 1), m_first=True),
    ),
    _kernel(
        3,
        "3_kernel_shared_mem_blocking",
        "sgemm_shared_mem_block<32>",
        2980.3,
        _launch(32, 32, (1024, 1, 1), m_first=True),
    ),
    _kernel(4, "4_kernel_1D_blocktiling", "sgemm1DBlocktiling<64, 64, 8, 8>", 8474.7, _launch(64, 64, (512, 1, 1))),
    _kernel(5, "5_kernel_2D_blocktiling", "sgemm2DBlocktiling<128, 128, 8, 8, 8>", 15971.7, _TILED),
    _kernel(6, "6_kernel_vectorize", "sgemmVectorize<128, 128, 8, 8, 8>", 18237.3, _TILED),
    _kernel(7, "7_kernel_resolve_bank_conflicts", "sgemmResolveBankConflicts<128, 128, 8, 8, 8>", 16213.4, _TILED),
    _kernel(8, "8_kernel_bank_extra_col", "sgemmResolveBankExtraCol<128, 128, 8, 8, 8>", 16459.2, _TILED),
    _kernel(9, "9_kernel_autotuned", "sgemmAutotuned<128, 128, 16, 8, 8>", 19721.0, _TILED),
    _kernel(
        10,
        "10_kernel_warptiling",
        "sgemmWarptiling<128, 128, 16, 64, 64, 4, 8, 4, 128>",
        21779.3,
        _launch(128, 128, (128, 1, 1)),
    ),
)
