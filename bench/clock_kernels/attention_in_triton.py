"""Attention's forward pass in Triton, as PTX for sm_90a: needs triton 3.6 and no GPU. Prints the PTX.

python bench/clock_kernels/attention_in_triton.py > attention.ptx
"""

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

ROWS, COLUMNS, HEAD = 128, 128, 128


@triton.jit
def attention(q, k, v, o, length, scale, ROWS: tl.constexpr, COLUMNS: tl.constexpr, HEAD: tl.constexpr):
    """o = softmax(q · kᵀ · scale) · v for one head, [length, HEAD] each, ROWS rows of q by a CTA."""
    head = tl.program_id(1).to(tl.int64) * length * HEAD
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    along, columns = tl.arange(0, HEAD), tl.arange(0, COLUMNS)
    here = tl.load(q + head + rows[:, None] * HEAD + along[None, :])
    keys = k + head + columns[None, :] * HEAD + along[:, None]
    values = v + head + columns[:, None] * HEAD + along[None, :]
    greatest = tl.full([ROWS], float("-inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    sums = tl.zeros([ROWS, HEAD], tl.float32)
    for _ in range(0, length, COLUMNS):
        scores = tl.dot(here, tl.load(keys)) * scale
        larger = tl.maximum(greatest, tl.max(scores, 1))
        weights = tl.exp2(scores - larger[:, None])
        kept = tl.exp2(greatest - larger)
        total = total * kept + tl.sum(weights, 1)
        sums = tl.dot(weights.to(tl.float16), tl.load(values), sums * kept[:, None])
        greatest = larger
        keys += COLUMNS * HEAD
        values += COLUMNS * HEAD
    tl.store(o + head + rows[:, None] * HEAD + along[None, :], (sums / total[:, None]).to(tl.float16))


def ptx() -> str:
    """The PTX of the kernel."""
    pointers = dict.fromkeys(("q", "k", "v", "o"), "*fp16")
    constants = {"ROWS": ROWS, "COLUMNS": COLUMNS, "HEAD": HEAD}
    signature = {**pointers, "length": "i32", "scale": "fp32", **dict.fromkeys(constants, "constexpr")}
    divisible = [["tt.divisibility", 16]]
    source = ASTSource(attention, signature, constants, {(at,): divisible for at in range(5)})
    return triton.compile(source, GPUTarget("cuda", 90, 32), {"num_warps": 8, "num_stages": 3}).asm["ptx"]


if __name__ == "__main__":
    print(ptx())
