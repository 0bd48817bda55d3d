"""Matrix products: by pointers (cp.async with mma.sync or wgmma, by architecture), and by tensor descriptors (TMA)."""

# ruff: noqa: N803 - constants are written in capitals, as everywhere in Triton
import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, STAGES: tl.constexpr):
    """c = a @ b: a [m, k], b [k, n], c [m, n], f16, row-major; k a multiple of 16."""
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    column = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    total = tl.zeros([BM, BN], dtype=tl.float32)
    for start in tl.range(0, k, BK, num_stages=STAGES):
        inside = start + depth < k
        from_a = a + row[:, None] * k + (start + depth)[None, :]
        from_b = b + (start + depth)[:, None] * n + column[None, :]
        left = tl.load(from_a, mask=(row[:, None] < m) & inside[None, :], other=0.0)
        right = tl.load(from_b, mask=inside[:, None] & (column[None, :] < n), other=0.0)
        total = tl.dot(left, right, total)
    at = c + row[:, None] * n + column[None, :]
    tl.store(at, total.to(tl.float16), mask=(row[:, None] < m) & (column[None, :] < n))


@triton.jit
def matmul_tma(a, b, c, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, STAGES: tl.constexpr):
    """c = a @ b^T by tensor descriptors: a [m, k], b [n, k], c [m, n], f16."""
    row = tl.program_id(0) * BM
    column = tl.program_id(1) * BN
    total = tl.zeros([BM, BN], dtype=tl.float32)
    for start in tl.range(0, k, BK, num_stages=STAGES):
        total = tl.dot(a.load([row, start]), b.load([column, start]).T, total)
    c.store([row, column], total.to(tl.float16))
