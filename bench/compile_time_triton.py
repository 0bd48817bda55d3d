"""The worker of `compile_time.py` in the interpreter that has Triton: compiles `triton_gemm.product` without a GPU.

It is asked for `{"capability": 80, "tile": [128, 128, 32], "warps": 4, "stages": 3}`, and answers with the seconds that
the way to a cubin took, those that were ptxas', and those of processors. Nothing of it comes from a cache.
"""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false
import os
import tempfile
import time
from typing import Any

from checkout import answer_with, processor_seconds

_CACHE = tempfile.TemporaryDirectory(prefix="tinyc-triton-")
os.environ["TRITON_CACHE_DIR"] = _CACHE.name
os.environ["TRITON_ALWAYS_COMPILE"] = "1"

import triton  # noqa: E402 - it reads the environment
from triton import knobs  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402

from triton_gemm import product  # noqa: E402

_POINTERS = ("a", "b", "bias", "residual", "c")
#: What a run of 4096 x 4096 x 4096 with dense rows tells Triton: strides of 1, and numbers that 16 divides.
_NUMBERS = ("m", "n", "k", "a_row", "b_step", "c_row")
_DIVISIBLE = [["tt.divisibility", 16]]


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    """Compile once."""
    rows, columns, steps = asked["tile"]
    constants = {"a_step": 1, "b_column": 1, "TILE_M": rows, "TILE_N": columns, "TILE_K": steps, "GROUP": 8}
    constants |= {"HAS_BIAS": True, "HAS_RESIDUAL": False}
    kinds = {**dict.fromkeys(_POINTERS, "*fp16"), **dict.fromkeys(_NUMBERS, "i32")}
    signature = {name: kinds.get(name, "constexpr") for name in product.arg_names}
    divisible = {(at,): _DIVISIBLE for at, name in enumerate(product.arg_names) if name in kinds}
    target = GPUTarget("cuda", asked["capability"], 32)
    options = {"num_warps": asked["warps"], "num_stages": asked["stages"]}
    stages: dict[str, float] = {}
    knobs.compilation.listener = lambda *, times, **_: stages.update(times.lowering_stages)  # in microseconds
    begun, before = time.perf_counter(), processor_seconds()
    made = triton.compile(ASTSource(product, signature, constants, divisible), target=target, options=options)
    seconds, of_processors = time.perf_counter() - begun, processor_seconds() - before
    assert made.asm["cubin"]
    ptxas = stages["cubin"] / 1e6
    return {"seconds": seconds, "ptxas": ptxas, "processors": of_processors, "version": triton.__version__}


if __name__ == "__main__":
    answer_with(answer)
