"""Attention's forward pass in Triton, as PTX for sm_90a: needs triton 3.6 and no GPU. Prints the PTX.

python bench/clock_kernels/attention_in_triton.py > attention.ptx
"""

# pyright: reportMissingImports=false
# Triton is in an environment of its own.
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

ROWS, COLUMNS, HEAD = 128, 128, 128


@triton.jit
def attention(q, k, v, o, length, scale, of_rows: tl.constexpr, of_columns: tl.constexpr, of_head: tl.constexpr):
    """Store softmax(q · kᵀ · scale) · v to o for one head, [length, of_head] each, of_rows rows of q by a CTA."""
    head = tl.program_id(1).to(tl.int64) * length * of_head
    rows = tl.program_id(0) * of_rows + tl.arange(0, of_rows)
    along, columns = tl.arange(0, of_head), tl.arange(0, of_columns)
    here = tl.load(q + head + rows[:, None] * of_head + along[None, :])
    keys = k + head + columns[None, :] * of_head + along[:, None]
    values = v + head + columns[:, None] * of_head + along[None, :]
    greatest = tl.full([of_rows], float("-inf"), tl.float32)
    total = tl.zeros([of_rows], tl.float32)
    sums = tl.zeros([of_rows, of_head], tl.float32)
    for _ in range(0, length, of_columns):
        scores = tl.dot(here, tl.load(keys)) * scale
        larger = tl.maximum(greatest, tl.max(scores, 1))
        weights = tl.exp2(scores - larger[:, None])
        kept = tl.exp2(greatest - larger)
        total = total * kept + tl.sum(weights, 1)
        sums = tl.dot(weights.to(tl.float16), tl.load(values), sums * kept[:, None])
        greatest = larger
        keys += of_columns * of_head
        values += of_columns * of_head
    tl.store(o + head + rows[:, None] * of_head + along[None, :], (sums / total[:, None]).to(tl.float16))


def ptx() -> str:
    """The PTX of the kernel."""
    pointers = dict.fromkeys(("q", "k", "v", "o"), "*fp16")
    constants = {"of_rows": ROWS, "of_columns": COLUMNS, "of_head": HEAD}
    signature = {**pointers, "length": "i32", "scale": "fp32", **dict.fromkeys(constants, "constexpr")}
    divisible = [["tt.divisibility", 16]]
    source = ASTSource(attention, signature, constants, {(at,): divisible for at in range(5)})
    return triton.compile(source, GPUTarget("cuda", 90, 32), {"num_warps": 8, "num_stages": 3}).asm["ptx"]


if __name__ == "__main__":
    print(ptx())
