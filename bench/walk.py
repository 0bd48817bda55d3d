"""How fast the walk is: starting, compiling, large graphs, and the code for the CPU. Prints a table.

    .venv/bin/python bench/walk.py            # bench/results/walk.txt is what it prints

Each row has the figure that was measured and the bound it is meant to stay under. Times are the least of several runs,
because other work on the machine only ever adds to them; ratios are measured side by side in one run.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import tinyc
from figures import Figures, machine, show
from timing import least_seconds
from tinyc import pipeline
from tinyc.importers import tiny_json
from workloads import chain, gemm

PACKAGES = ("llvmlite", "numba-cuda-mlir", "numpy")
EXAMPLES = Path(__file__).parent.parent / "examples"
LARGE = 10_000


def cold_start() -> float:
    """Return the seconds that `tinyc-opt` takes, from nothing, on a file of 20 lines."""
    body = "\n".join(f'  %{k + 1} = "tiny.relu"(%{k}) : (tensor<4xf32>) -> tensor<4xf32>' for k in range(17))
    text = f"func.func @main(%0: tensor<4xf32>) -> tensor<4xf32> {{\n{body}\n  return %17 : tensor<4xf32>\n}}\n"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "input.mlir"
        path.write_text(text)
        command = [Path(sys.executable).with_name("tinyc-opt"), path]
        return least_seconds(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))


def json_to_callable() -> float:
    """Return the seconds from the running example's JSON to a model that can run on the CPU, in a warm process."""
    source = EXAMPLES / "gemm_bias_relu.json"
    return least_seconds(lambda: tinyc.compile(source, target="cpu", bind={"M": 150, "N": 130, "K": 70}))


def large_graph(ops: int) -> dict[str, float]:
    """Return the seconds that each step of the front half takes on `ops` element-wise ops."""
    text = json.dumps(chain(ops))
    seconds = {}

    def timed(name: str, work: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        result = work()
        seconds[name] = time.perf_counter() - start
        return result

    module = timed("import", lambda: tiny_json.import_program(text))
    timed("verify", module.operation.verify)
    index_book = tiny_json.import_program(text)
    timed("IndexBook", lambda: pipeline.parse("tiny-to-index-book").run(index_book, verify_each=False))
    timed("regions", lambda: pipeline.parse("tiny-to-region").run(module, verify_each=False))
    return seconds


def gemm_seconds(size: int) -> tuple[float, float]:
    """Return the seconds that an f32 GEMM of `size`³ takes in tinyc and in numpy."""
    model = tinyc.compile(gemm(size, size, size), target="cpu")
    random = np.random.default_rng(0)
    lhs, rhs = (random.standard_normal((size, size), dtype=np.float32) for _ in range(2))
    np.testing.assert_allclose(model(lhs, rhs), lhs @ rhs, rtol=1e-3, atol=1e-3)
    return least_seconds(lambda: model(lhs, rhs), 3), least_seconds(lambda: lhs @ rhs, 3)


def main() -> int:
    """Measure everything, print the table, and return 1 if a bound is missed."""
    figures = Figures("the walk")
    figures.row("tinyc-opt, cold, 20 lines", cold_start(), "s", 0.6)
    figures.row("running example, JSON to callable, warm", json_to_callable(), "s", 0.5)
    large_graph(LARGE // 10)  # the first run imports modules
    half, whole = large_graph(LARGE // 2), large_graph(LARGE)
    for step, seconds in whole.items():
        figures.row(f"{LARGE} element-wise ops: {step}", seconds, "s")
    figures.row(f"{LARGE} element-wise ops: all", sum(whole.values()), "s", 10)
    figures.row("the same, over that of half as many ops", sum(whole.values()) / sum(half.values()), "×", 2.5)
    ours, numpys = gemm_seconds(512)
    figures.row("GEMM f32 512³ on the CPU", ours, "s", 2)
    figures.row("the same, over numpy's time", ours / numpys, "×")
    show(machine(PACKAGES), figures.table)
    return int(figures.missed > 0)


if __name__ == "__main__":
    sys.exit(main())
