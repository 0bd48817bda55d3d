"""Flash attention, forward: one head a program of the second axis, blocks of queries over blocks of keys."""

# ruff: noqa: N803 - constants are written in capitals, as everywhere in Triton
import triton
import triton.language as tl


@triton.jit
def attention(q, k, v, out, length, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    """out = softmax(q k^T scale) v: [heads, length, D], f16; `scale` includes log2(e)."""
    base = tl.program_id(1) * length * D
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    depth = tl.arange(0, D)
    queries = tl.load(q + base + row[:, None] * D + depth[None, :], mask=row[:, None] < length, other=0.0)
    largest = tl.full([BM], float("-inf"), dtype=tl.float32)
    weight = tl.zeros([BM], dtype=tl.float32)
    total = tl.zeros([BM, D], dtype=tl.float32)
    end = tl.minimum(length, (tl.program_id(0) + 1) * BM) if CAUSAL else length
    for start in range(0, end, BN):
        column = start + tl.arange(0, BN)
        inside = column[:, None] < length
        keys = tl.load(k + base + column[:, None] * D + depth[None, :], mask=inside, other=0.0)
        values = tl.load(v + base + column[:, None] * D + depth[None, :], mask=inside, other=0.0)
        scores = tl.dot(queries, keys.T) * scale
        allowed = column[None, :] < length
        if CAUSAL:
            allowed = allowed & (column[None, :] <= row[:, None])
        scores = tl.where(allowed, scores, float("-inf"))
        next_largest = tl.maximum(largest, tl.max(scores, axis=1))
        raised = tl.exp2(scores - next_largest[:, None])
        rescale = tl.exp2(largest - next_largest)
        weight = weight * rescale + tl.sum(raised, axis=1)
        total = tl.dot(raised.to(tl.float16), values, total * rescale[:, None])
        largest = next_largest
    result = (total / weight[:, None]).to(tl.float16)
    tl.store(out + base + row[:, None] * D + depth[None, :], result, mask=row[:, None] < length)
