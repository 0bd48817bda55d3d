"""A matrix product in Triton, to compare with: tiles in groups for L2, one accumulator tile a program, and an epilogue.

In: the pointers and strides of a [m, k], b [k, n], c [m, n], and what follows the product. Out: a kernel that Triton
compiles, and the configurations that it chooses from. It imports Triton alone, so that the interpreter that has Triton
needs nothing of tinyc. The scheme is that of Triton's tutorial 03.
"""

# pyright: reportMissingImports=false, reportOperatorIssue=false, reportIndexIssue=false
# ruff: noqa: N803 - constants of a kernel are in capitals
import triton
import triton.language as tl

#: What is tuned over, for operands of 2 bytes: tile, stages, warps.
_TILES = (
    (128, 256, 64, 3, 8),
    (256, 128, 64, 3, 8),
    (128, 256, 64, 4, 8),
    (256, 128, 64, 4, 8),
    (128, 128, 64, 3, 4),
    (128, 128, 64, 4, 8),
    (128, 128, 32, 4, 4),
    (128, 64, 64, 4, 4),
    (64, 128, 64, 4, 4),
    (64, 256, 64, 4, 4),
    (64, 64, 64, 5, 4),
    (32, 128, 64, 5, 4),
    (16, 128, 128, 4, 4),
    (16, 64, 128, 5, 4),
    (16, 32, 256, 4, 2),
)
_GROUP = 8


@triton.jit
def product(
    a,
    b,
    bias,
    residual,
    c,
    m,
    n,
    k,
    a_row,
    a_step,
    b_step,
    b_column,
    c_row,
    TILE_M: tl.constexpr,
    TILE_N: tl.constexpr,
    TILE_K: tl.constexpr,
    GROUP: tl.constexpr,
    HAS_BIAS: tl.constexpr,
    HAS_RESIDUAL: tl.constexpr,
):
    """C = a @ b, or relu(a @ b + bias), or a @ b + residual; sums in f32, those of i8 in i32."""
    program = tl.program_id(0)
    tiles_m, tiles_n = tl.cdiv(m, TILE_M), tl.cdiv(n, TILE_N)
    group = program // (GROUP * tiles_n)
    height = min(tiles_m - group * GROUP, GROUP)
    at = program % (GROUP * tiles_n)
    rows = (group * GROUP + at % height) * TILE_M + tl.arange(0, TILE_M)
    columns = at // height * TILE_N + tl.arange(0, TILE_N)
    steps = tl.arange(0, TILE_K)
    # rows and columns that are beyond are read at others, and are not written
    a_tile = a + (rows % m)[:, None] * a_row + steps[None, :] * a_step
    b_tile = b + steps[:, None] * b_step + (columns % n)[None, :] * b_column
    kind: tl.constexpr = tl.int32 if a.dtype.element_ty == tl.int8 else tl.float32
    sums = tl.zeros((TILE_M, TILE_N), kind)
    for step in range(tl.cdiv(k, TILE_K)):
        left = k - step * TILE_K
        x = tl.load(a_tile, mask=steps[None, :] < left, other=0)
        y = tl.load(b_tile, mask=steps[:, None] < left, other=0)
        sums = tl.dot(x, y, sums, input_precision="tf32", out_dtype=kind)
        a_tile += TILE_K * a_step
        b_tile += TILE_K * b_step
    inside = (rows < m)[:, None] & (columns < n)[None, :]
    place = rows[:, None] * c_row + columns[None, :]
    if HAS_BIAS:
        added = tl.load(bias + columns, mask=columns < n, other=0)
        sums = tl.maximum(sums + added[None, :].to(kind), 0)
    if HAS_RESIDUAL:
        sums += tl.load(residual + place, mask=inside, other=0).to(kind)
    tl.store(c + place, sums.to(c.dtype.element_ty), mask=inside)


def configurations(element_bytes: int) -> list[triton.Config]:
    """What `triton.autotune` chooses from, for operands of so many bytes: a tile of any of them has the same bytes."""
    made: list[triton.Config] = []
    for rows, columns, steps, stages, warps in _TILES:
        tile = {"TILE_M": rows, "TILE_N": columns, "TILE_K": steps * 2 // element_bytes, "GROUP": _GROUP}
        made.append(triton.Config(tile, num_stages=stages, num_warps=warps))
    return made
