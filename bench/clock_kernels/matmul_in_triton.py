"""Products by `triton_gemm` in the configurations of Triton's tutorial 03, as PTX: needs triton 3.6 and no GPU.

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
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

sys.path.insert(0, str(Path(__file__).parent.parent))

from triton_gemm import product

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


def write(folder: Path) -> None:
    """Write the files into `folder`, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    pointers = dict.fromkeys(("a", "b", "bias", "residual", "c"), "*fp16")
    kinds = {**pointers, **dict.fromkeys(("m", "n", "k", "a_row", "b_step", "c_row"), "i32")}
    signature = {name: kinds.get(name, "constexpr") for name in product.arg_names}
    divisible = {(at,): [["tt.divisibility", 16]] for at, name in enumerate(product.arg_names) if name in kinds}
    found = []
    for capability, (rows, columns, depth, warps, stages) in (
        (capability, each) for capability in SHARED_BYTES for each in CONFIGURATIONS
    ):
        constants = {"TILE_M": rows, "TILE_N": columns, "TILE_K": depth, "GROUP": GROUP, "a_step": 1, "b_column": 1}
        constants |= {"HAS_BIAS": False, "HAS_RESIDUAL": False}
        source = ASTSource(product, signature, constants, divisible)
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
