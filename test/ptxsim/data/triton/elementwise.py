"""Element-wise kernels: a masked sum with GELU, and a gather with a strided, two-dimensional mask."""

# ruff: noqa: N803 - constants are written in capitals, as everywhere in Triton
import triton
import triton.language as tl


@triton.jit
def add_gelu(x, y, out, n, BLOCK: tl.constexpr):
    """out = gelu(x + y), by the erf of libdevice."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    total = tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside)
    tl.store(out + at, 0.5 * total * (1.0 + tl.erf(total * 0.70710678)), mask=inside)


@triton.jit
def gather_rows(x, index, out, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """out[i, j] = x[index[i], j], f16."""
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    j = tl.arange(0, COLUMNS)
    inside = (i[:, None] < rows) & (j[None, :] < columns)
    row = tl.load(index + i, mask=i < rows, other=0)
    values = tl.load(x + row[:, None] * columns + j[None, :], mask=inside)
    tl.store(out + i[:, None] * columns + j[None, :], values, mask=inside)
