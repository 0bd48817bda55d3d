"""Kernels that memory limits, on an H100: fast.cu's sum, and softmax by kernels of our own as fast as published ones.

Speeds are TB/s of what has to be moved: a sum reads its numbers, a softmax reads and writes each number once. Those of
softmax are Quack's, whose kernel reads a row once, and that of torch.compile beside it, whose kernel reads it twice.
The simulator holds arrays, so that some rows or numbers are launched, and the rest is a straight line.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from .fast_cu import FAST_CU_REPOSITORY
from .published import Launch, PublishedKernel, Repository

_OWN = Repository("tinyc, softmax.cu", "", str(Path(__file__).parent))
_ROWS = 16384
_CLUSTER, _THREADS = 8, 512
#: What the author compares with would be most of the PTX.
_WITHOUT_CUB = {
    "#include <cub/cub.cuh>": "#include <cassert>\n#include <chrono>",
    "cub::DeviceReduce::Sum(d_temp, temp_storage, d_in, d_out, N);": "",
}


def _sum(number: int, instance: str, threads: int, batch: int, terabytes: float) -> PublishedKernel:
    """A sum of n int32: each thread adds `batch` of them, or four times as many."""
    of_four = 4 if number > 1 else 1
    of_a_cta = threads * batch * of_four

    def launch(_: int, n: int) -> Launch:
        args = [np.zeros(n, np.int32), np.zeros(1, np.int32), np.int32(n // of_four)]
        return Launch((-(-n // of_a_cta), 1, 1), (threads, 1, 1), args)

    name, some = f"sumKernel{number}", 132 * of_a_cta
    made = _kernel(f"sum {number}", FAST_CU_REPOSITORY, "sum.cu", name, instance, terabytes, launch, 4)
    return replace(made, depth_of=lambda n: n, depths=(4 * some, 8 * some))


def _kernel(
    name: str,
    repository: Repository,
    source: str,
    entry: str,
    instance: str,
    terabytes: float,
    launch: Callable[[int, int], Launch],
    bytes_of_one: int,
) -> PublishedKernel:
    return PublishedKernel(
        name,
        repository,
        source,
        entry,
        "h100",
        "sm_90a",
        lambda n: launch(n, _ROWS),
        lambda _: {2**30: terabytes, 131072: terabytes},
        instance=instance,
        replaced=_WITHOUT_CUB if source == "sum.cu" else {},
        work=lambda n: float(n) * bytes_of_one,
        unit="TB/s",
        shallow=launch,
        depth_of=lambda _: _ROWS,
        depths=(264, 528),
    )


def _softmax_once(n: int, rows: int) -> Launch:
    x, y = (np.zeros((rows, n), np.float32) for _ in range(2))
    return Launch((rows * _CLUSTER, 1, 1), (_THREADS, 1, 1), [x, y], 0, (_CLUSTER, 1, 1))


def _softmax_twice(n: int, rows: int) -> Launch:
    x, y = (np.zeros((rows, n), np.float32) for _ in range(2))
    return Launch((rows, 1, 1), (1024, 1, 1), [x, y, np.int32(n // 4)])


SUMS = (
    _sum(1, "sumKernel1<512, 20>", 512, 20, 3.23276),
    _sum(2, "sumKernel2<1024, 16>", 1024, 16, 3.23969),
    _sum(3, "sumKernel3<1024, 16>", 1024, 16, 3.24011),
    _sum(4, "sumKernel4<1024, 16>", 1024, 16, 3.24147),
)
SOFTMAX = (
    _kernel(
        "softmax, rows read once",
        _OWN,
        "softmax.cu",
        "read_once",
        f"read_once<{_CLUSTER}, {_THREADS}, 8>",
        3.01,
        _softmax_once,
        8 * _ROWS,
    ),
    _kernel(
        "softmax, rows read twice",
        _OWN,
        "softmax.cu",
        "read_twice",
        "read_twice<1024>",
        1.95,
        _softmax_twice,
        8 * _ROWS,
    ),
)
