"""Compiles the Triton kernels beside it to PTX, without a GPU: `python test/ptxsim/data/triton/build.py [name …]`.

In: the kernels, and the package triton (3.6.0 made what is checked in; PyTorch is not needed). Out: `<name>.ptx`, and
`<name>.json`: the signature, the constants, the warps of a CTA, the shared memory, the cluster and what Triton chose
for the tensor descriptors.
"""

import json
import linecache
import os
import sys
from pathlib import Path

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

FOLDER = Path(__file__).parent
F16, F32, I32 = "*fp16", "*fp32", "*i32"
ROW = {"x": F32, "out": F32, "columns": "i32"}
PRODUCT = {"a": F16, "b": F16, "c": F16, "m": "i32", "n": "i32", "k": "i32"}
ATTENTION = {"q": F16, "k": F16, "v": F16, "out": F16, "length": "i32", "scale": "fp32"}
TILES = {"a": "tensordesc<fp16[64, 64]>", "b": "tensordesc<fp16[64, 64]>", "c": "tensordesc<fp16[64, 64]>", "k": "i32"}
WIDE = {
    "a": "tensordesc<fp16[128, 64]>",
    "b": "tensordesc<fp16[256, 64]>",
    "c": "tensordesc<fp16[128, 256]>",
    "k": "i32",
}

#: Name of the files → source, kernel, architecture, signature, constants, warps, the arguments divisible by 16.
VARIANTS = {
    "add_gelu": (
        "elementwise",
        "add_gelu",
        80,
        {"x": F32, "y": F32, "out": F32, "n": "i32"},
        {"BLOCK": 256},
        4,
        "x y out",
    ),
    "gather_rows": (
        "elementwise",
        "gather_rows",
        80,
        {"x": F16, "index": I32, "out": F16, "rows": "i32", "columns": "i32"},
        {"ROWS": 8, "COLUMNS": 64},
        4,
        "x index out",
    ),
    "softmax": ("reductions", "softmax", 80, ROW, {"BLOCK": 256}, 4, "x out"),
    "layer_norm": (
        "reductions",
        "layer_norm",
        80,
        {"x": F16, "weight": F32, "bias": F32, "out": F16, "columns": "i32"},
        {"BLOCK": 128},
        4,
        "x weight bias out",
    ),
    "cumulative_sum": (
        "reductions",
        "cumulative_sum",
        80,
        {"x": I32, "out": I32, "columns": "i32"},
        {"BLOCK": 256},
        4,
        "x",
    ),
    "linear_recurrence": (
        "reductions",
        "linear_recurrence",
        80,
        dict.fromkeys(("scale", "shift", "out"), F32),
        {"BLOCK": 256},
        4,
        "",
    ),
    "histogram": (
        "reductions",
        "histogram",
        80,
        {"x": I32, "bins": I32, "n": "i32"},
        {"BLOCK": 256, "BINS": 32},
        4,
        "x bins",
    ),
    "locked_sum": (
        "reductions",
        "locked_sum",
        80,
        {"x": I32, "best": I32, "lock": I32, "columns": "i32"},
        {"BLOCK": 128},
        4,
        "x",
    ),
    "matmul_sm80": ("matmul", "matmul", 80, PRODUCT, {"BM": 32, "BN": 64, "BK": 32, "STAGES": 3}, 4, "a b c n k"),
    "matmul_sm90": ("matmul", "matmul", 90, PRODUCT, {"BM": 64, "BN": 32, "BK": 32, "STAGES": 3}, 4, "a b c n k"),
    "matmul_tma": ("matmul", "matmul_tma", 90, TILES, {"BM": 64, "BN": 64, "BK": 64, "STAGES": 3}, 4, ""),
    "matmul_wide": ("matmul", "matmul_tma", 90, WIDE, {"BM": 128, "BN": 256, "BK": 64, "STAGES": 3}, 8, ""),
    "attention_sm80": (
        "attention",
        "attention",
        80,
        ATTENTION,
        {"D": 32, "BM": 32, "BN": 32, "CAUSAL": True},
        2,
        "q k v out",
    ),
    "attention_sm90": (
        "attention",
        "attention",
        90,
        ATTENTION,
        {"D": 32, "BM": 64, "BN": 32, "CAUSAL": False},
        4,
        "q k v out",
    ),
}
#: Compiled as Triton does by default, with line information and DWARF; the others without.
LOCATED = {"gather_rows"}


def kernels(source: str) -> dict:
    """Return what a source defines, under a file name without a folder: line information tells that name."""
    name = f"{source}.py"
    text = (FOLDER / name).read_text(encoding="utf-8")
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace = {"__name__": source}
    exec(compile(text, name, "exec"), namespace)
    return namespace


def build(name: str) -> None:
    """Compile one variant and write its two files."""
    source, kernel, architecture, signature, constants, warps, divisible = VARIANTS[name]
    os.environ["TRITON_DISABLE_LINE_INFO"] = "0" if name in LOCATED else "1"
    function = kernels(source)[kernel]
    names = list(signature) + list(constants)
    unit = ASTSource(
        function,
        signature | dict.fromkeys(constants, "constexpr"),
        {(names.index(key),): value for key, value in constants.items()},
        {(names.index(key),): [["tt.divisibility", 16]] for key in divisible.split()},
    )
    made = triton.compile(unit, target=GPUTarget("cuda", architecture, 32), options={"num_warps": warps})
    (FOLDER / f"{name}.ptx").write_text(made.asm["ptx"], encoding="utf-8")
    facts = {
        "source": f"{source}.py",
        "entry": made.metadata.name,
        "triton": triton.__version__,
        "signature": signature,
        "constexprs": constants,
        "num_warps": warps,
        "shared_bytes": made.metadata.shared,
        "cluster": [made.metadata.num_ctas, 1, 1],
        "global_scratch_bytes": made.metadata.global_scratch_size,
        "tensor_descriptors": made.metadata.tensordesc_meta,
    }
    (FOLDER / f"{name}.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for variant in sys.argv[1:] or VARIANTS:
        build(variant)
        print(variant)
