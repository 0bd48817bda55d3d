"""Products by the kernel of Triton's tutorial 03 in its configurations, as PTX: needs triton 3.6 and no GPU.

    python bench/clock_kernels/matmul_in_triton.py ../kernels/triton

writes there, for sm_90a and sm_80, a file for each configuration that has room on the architecture, and matmul.json: of
each file the tile, the warps, the stages, and the bytes of shared memory.
"""

# pyright: reportMissingImports=false
# Triton is in an environment of its own.
import json
import sys
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

#: Rows, columns and depth of a tile, warps, stages: the tutorial's list for CUDA; bands are of 8 rows of tiles.
CONFIGURATIONS = (
    (128, 256, 64, 8, 3),
    (64, 256, 32, 4, 4),
    (128, 128, 32, 4, 4),
    (128, 64, 32, 4, 4),
    (64, 128, 32, 4, 4),
    (128, 32, 32, 4, 4),
    (64, 32, 32, 2, 5),
    (32, 64, 32, 2, 5),
    (128, 256, 128, 8, 3),
    (256, 128, 128, 8, 3),
    (256, 64, 128, 4, 4),
    (64, 256, 128, 4, 4),
    (128, 128, 128, 4, 4),
    (128, 64, 64, 4, 4),
    (64, 128, 64, 4, 4),
    (128, 32, 64, 4, 4),
)
GROUP = 8
SHARED_BYTES = {90: 232448, 80: 166912}


@triton.jit
def matmul(
    a, b, c, m, n, k, am, bk, cm,
    of_rows: tl.constexpr, of_columns: tl.constexpr, of_depth: tl.constexpr, of_band: tl.constexpr,
):  # fmt: skip
    """Store a · b to c, all row-major with pitches am, bk and cm: a tile by a CTA, in bands of `of_band` rows."""
    number, across, along = tl.program_id(0), tl.cdiv(m, of_rows), tl.cdiv(n, of_columns)
    in_band = of_band * along
    first = number // in_band * of_band
    height = min(across - first, of_band)
    row = first + (number % in_band) % height
    column = (number % in_band) // height
    rows = (row * of_rows + tl.arange(0, of_rows)) % m
    columns = (column * of_columns + tl.arange(0, of_columns)) % n
    inner = tl.arange(0, of_depth)
    from_a = a + (rows[:, None] * am + inner[None, :])
    from_b = b + (inner[:, None] * bk + columns[None, :])
    sums = tl.zeros((of_rows, of_columns), dtype=tl.float32)
    for step in range(tl.cdiv(k, of_depth)):
        left = tl.load(from_a, mask=inner[None, :] < k - step * of_depth, other=0.0)
        right = tl.load(from_b, mask=inner[:, None] < k - step * of_depth, other=0.0)
        sums = tl.dot(left, right, sums)
        from_a += of_depth
        from_b += of_depth * bk
    rows = row * of_rows + tl.arange(0, of_rows)
    columns = column * of_columns + tl.arange(0, of_columns)
    to = c + cm * rows[:, None] + columns[None, :]
    tl.store(to, sums.to(tl.float16), mask=(rows[:, None] < m) & (columns[None, :] < n))


def write(folder: Path) -> None:
    """Write the files."""
    pointers = dict.fromkeys(("a", "b", "c"), "*fp16")
    sizes = dict.fromkeys(("m", "n", "k", "am", "bk", "cm"), "i32")
    divisible = {(at,): [["tt.divisibility", 16]] for at in range(9)}
    found = []
    for capability, (rows, columns, depth, warps, stages) in (
        (capability, each) for capability in SHARED_BYTES for each in CONFIGURATIONS
    ):
        constants = {"of_rows": rows, "of_columns": columns, "of_depth": depth, "of_band": GROUP}
        signature = {**pointers, **sizes, **dict.fromkeys(constants, "constexpr")}
        source = ASTSource(matmul, signature, constants, divisible)
        options = {"num_warps": warps, "num_stages": stages}
        made = triton.compile(source, GPUTarget("cuda", capability, 32), options)
        if made.metadata.shared > SHARED_BYTES[capability]:
            continue
        name = f"matmul-{capability}-{rows}x{columns}x{depth}-{stages}.ptx"
        (folder / name).write_text(made.asm["ptx"])
        facts = {"file": name, "capability": capability, "tile": [rows, columns, depth], "warps": warps}
        found.append({**facts, "stages": stages, "shared_bytes": made.metadata.shared})
    (folder / "matmul.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
