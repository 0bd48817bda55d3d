"""How fast the way to the GPU is: from a program to PTX, for one kernel and for many. Prints a table.

    .venv/bin/python bench/gpu.py             # bench/results/gpu.txt is what it prints

No GPU is needed. Each row has the figure that was measured and the bound it is meant to stay under; times are the least
of several runs in a warm process.
"""

import functools
import sys
import time
from pathlib import Path
from typing import Any

import tinyc
from figures import Figures, machine, show
from timing import least_seconds, seconds
from tinyc.driver.lowering import Lowering
from tinyc.driver.sources import read_program
from tinyc.runtime import assembler

PACKAGES = ("numba-cuda-mlir",)
EXAMPLES = Path(__file__).parent.parent / "examples"
REGIONS = 200
ARCHITECTURES = ("sm_80", "sm_90a")
WAY = ("region", "plan", "gpu", "nvvm", "ptx")

Node = dict[str, Any]


def seconds_to_ptx(source: Any, arch: str) -> float:
    """Return the least time from a program to its PTX."""
    return least_seconds(lambda: tinyc.compile(source, target="cuda", arch=arch).text("ptx"))


def seconds_by_layer(source: Any, arch: str) -> dict[str, float]:
    """Return the time that each layer on the way to PTX takes, made from the one before it."""
    start = time.perf_counter()
    lowering = Lowering(read_program(source), "cuda", {"arch": arch})
    by_layer = {"tiny": time.perf_counter() - start}
    return by_layer | {layer: seconds(functools.partial(lowering.module, layer)) for layer in WAY}


def network(regions: int) -> dict[str, list[Node]]:
    """Return Tiny JSON of `regions` kernels, no two alike: matrix products with bias and ReLU, and maxima of rows.

    Two kernels of three are products; the extents differ from kernel to kernel, so that none is shared.
    """
    nodes: list[Node] = [_input("x", [64, 64])]
    value, width = "x", 64
    for k in range(regions):
        if k % 3 == 2:
            arg = {"op": "MAX", "axes": [1], "dtype": "fp32"}
            nodes.append({"id": f"m{k}", "uop": "REDUCE", "src": [value], "arg": arg})
        else:
            nodes += _linear(k, value, width, 65 + k)
            value, width = f"y{k}", 65 + k
    return {"uops": nodes}


def _input(name: str, shape: list[int]) -> Node:
    return {"id": name, "uop": "INPUT", "arg": {"tensor_id": name, "dtype": "fp32", "shape": shape}}


def _linear(k: int, source: str, inner: int, outer: int) -> list[Node]:
    """Return the nodes of ``relu(source @ w + b)``, [64, inner] to [64, outer]."""
    product = [64, outer, inner]

    def expanded(name: str, value: str, shape: list[int], axes: list[int]) -> Node:
        return {
            "id": name,
            "uop": "EXPAND",
            "src": [value],
            "arg": {"result_shape": shape, "broadcast_dimensions": axes},
        }

    return [
        _input(f"w{k}", [outer, inner]),
        _input(f"b{k}", [outer]),
        expanded(f"l{k}", source, product, [0, 2]),
        expanded(f"r{k}", f"w{k}", product, [1, 2]),
        {"id": f"p{k}", "uop": "MUL", "src": [f"l{k}", f"r{k}"]},
        {"id": f"s{k}", "uop": "REDUCE", "src": [f"p{k}"], "arg": {"op": "SUM", "axes": [2], "dtype": "fp32"}},
        expanded(f"c{k}", f"b{k}", [64, outer], [1]),
        {"id": f"a{k}", "uop": "ADD", "src": [f"s{k}", f"c{k}"]},
        {"id": f"y{k}", "uop": "RELU", "src": [f"a{k}"]},
    ]


def main() -> int:
    """Measure everything, print the table, and return 1 if a bound is missed."""
    figures = Figures("from a program to PTX")
    for arch in ARCHITECTURES:
        figures.row(
            f"running example, JSON to PTX, {arch}", seconds_to_ptx(EXAMPLES / "gemm_bias_relu.json", arch), "s", 0.5
        )
    program = network(REGIONS)
    for arch in ARCHITECTURES:
        by_layer = seconds_by_layer(program, arch)
        for layer, value in by_layer.items():
            figures.row(f"{REGIONS} regions, {arch}: {layer}", value, "s")
        figures.row(f"{REGIONS} regions, {arch}: all", sum(by_layer.values()), "s", 20)
    if assembler.find_ptxas() is not None:
        ptx = tinyc.compile(program, target="cuda", arch="sm_90a").text("ptx")
        taken = seconds(lambda: assembler.assemble(ptx, "sm_90a"))
        figures.row(f"{REGIONS} regions, sm_90a: ptxas on that", taken, "s")
    show(machine(PACKAGES), figures.table)
    return int(figures.missed > 0)


if __name__ == "__main__":
    sys.exit(main())
