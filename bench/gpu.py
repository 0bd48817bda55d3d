"""How fast the way to the GPU is: from a program to PTX, for one kernel and for many. Prints a table.

    .venv/bin/python bench/gpu.py             # bench/gpu.txt is one such table

No GPU is needed. Each row has the figure that was measured and the bound it is meant to stay under; times are the least
of several runs in a warm process.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import tinyc
from tinyc.runtime import assembler

EXAMPLES = Path(__file__).parent.parent / "examples"
REGIONS = 200
ARCHITECTURES = ("sm_80", "sm_90a")
#: The layers on the way to PTX, each made from the one before it.
WAY = ("tiny", "region", "plan", "gpu", "nvvm", "ptx")

Node = dict[str, Any]


def seconds_by_layer(source: Any, arch: str, runs: int) -> dict[str, float]:
    """Return the least time from a program to its PTX, layer by layer, and `all` of it."""
    measured = [_seconds_by_layer(source, arch) for _ in range(runs)]
    return min(measured, key=lambda seconds: seconds["all"])


def _seconds_by_layer(source: Any, arch: str) -> dict[str, float]:
    start = before = time.perf_counter()
    model = tinyc.compile(source, target="cuda", arch=arch)
    seconds = {"compile, before a text is asked for": time.perf_counter() - start}
    for layer in WAY:
        before = time.perf_counter()
        model.text(layer)
        seconds[layer] = time.perf_counter() - before
    return seconds | {"all": time.perf_counter() - start}


def network(regions: int) -> dict[str, list[Node]]:
    """Return Tiny JSON of `regions` kernels, no two alike: matrix products with bias and ReLU, row sums, exponentials.

    Two kernels of three are products; the extents differ from kernel to kernel, so that none is shared.
    """
    nodes: list[Node] = [_input("x", [64, 64])]
    width = 64
    for k in range(regions):
        source = nodes[-1]["id"]
        if k % 3 == 2:
            nodes.append({"id": f"e{k}", "uop": "EXP2", "src": [source]})
        else:
            width, before = 65 + k, width
            nodes += _linear(k, source, before, width)
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
    table = Table("what", "measured", "bound", "", title=f"tinyc {tinyc.__version__}, {os.cpu_count()} cores")
    missed = 0

    def row(what: str, value: float, bound: float | None = None) -> None:
        nonlocal missed
        misses = bound is not None and value > bound
        missed += misses
        table.add_row(what, f"{value:.3g} s", "" if bound is None else f"{bound:g} s", "missed" if misses else "")

    seconds_by_layer(EXAMPLES / "gemm_bias_relu.json", "sm_80", 1)  # the first run imports modules
    for arch in ARCHITECTURES:
        whole = seconds_by_layer(EXAMPLES / "gemm_bias_relu.json", arch, 5)["all"]
        row(f"running example, JSON to PTX, warm, {arch}", whole, 0.5)
    program = network(REGIONS)
    for arch in ARCHITECTURES:
        seconds = seconds_by_layer(program, arch, 1)
        for layer, value in seconds.items():
            row(f"{REGIONS} regions, {arch}: {layer}", value, 20 if layer == "all" else None)
    if assembler.find_ptxas() is not None:
        ptx = tinyc.compile(program, target="cuda", arch="sm_90a").text("ptx")
        start = time.perf_counter()
        assembler.assemble(ptx, "sm_90a")
        row(f"{REGIONS} regions, sm_90a: ptxas, another program", time.perf_counter() - start)
    Console().print(table)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
