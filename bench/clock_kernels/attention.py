"""Attention's forward pass by Triton 3.6 on an H100: head dimension 128, not causal, 64 heads of n rows.

Its PTX is made by `attention_in_triton.py` beside this file, and lies as triton/attention.ptx in the folder of the
checkouts. Speeds are those of Triton in the figures of Shah et al., arXiv 2407.08608, of another kernel and version
(4096 rows: 389; pytorch/benchmark, pull request 2391: 458): reported, not asked to be met.
"""

import numpy as np

from .published import Launch, PublishedKernel, Repository

_HEADS, _HEAD, _ROWS = 64, 128, 128
#: What its stages take; the kernel's own figure is not in its PTX.
_SHARED_BYTES = 128 * 1024


def _launch(n: int) -> Launch:
    operands = [np.zeros((_HEADS, n, _HEAD), np.float16) for _ in range(4)]
    scratch = [np.uint64(0), np.uint64(0)]
    args = [*operands, np.int32(n), np.float32(0.125), *scratch]
    return Launch((n // _ROWS, _HEADS, 1), (256, 1, 1), args, _SHARED_BYTES)


ATTENTION = (
    PublishedKernel(
        "attention",
        Repository("attention by Triton 3.6", "", "triton"),
        "attention.ptx",
        "attention",
        "h100",
        "sm_90a",
        _launch,
        lambda _: {4096: 389},
        work=lambda n: 4.0 * n * n * _HEAD * _HEADS,
    ),
)
