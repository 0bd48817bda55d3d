"""Products of f32 on the CPU beside those of numpy and torch, with one thread and with two, by turns.

    .venv/bin/python bench/cpu.py --record            # writes bench/results/cpu.txt; takes some minutes

A ratio is the time of the library over that of a call of the model, both with the output's memory given: the median of
the ratios of rounds, in each of which all run, with as many threads. Where torch is installed, the faster of the two
libraries counts. A bound that is not kept is shown as MISSED, and then the exit status is 1.
"""

import argparse
import importlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import numpy as np

import tinyc
from figures import Figures, machine, show
from gemm_cases import LAYOUTS, Product
from timing import seconds
from tinyc.runtime.threads import THREADS_VARIABLE
from tinyc.text.table import Table
from workloads.graph import Graph, Program

RESULTS = Path(__file__).parent / "results" / "cpu.txt"
PACKAGES = ("llvmlite", "numpy")
HAS_TORCH = importlib.util.find_spec("torch") is not None
#: What says how many threads there are: BLAS libraries and torch read it when they are loaded.
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", THREADS_VARIABLE)
THREAD_COUNTS = (1, 2)
CUBES = (256, 512, 1024, 2048)
#: Rows of a product with a matrix of 4096 × 4096.
ROWS = (1, 4, 16)
ROUNDS = 9
#: Seconds that each side has in a round, at the least.
ROUND_SECONDS = 0.05
#: What is asked of all products together, and of the worst.
GEOMETRIC_MEAN, WORST = 1.0, 0.8


@dataclass(frozen=True)
class Case:
    """A product: its program, the shapes of `a` and `b`, whether each is transposed, and the same in numpy."""

    name: str
    program: Program
    shapes: tuple[tuple[int, ...], tuple[int, ...]]
    moved: tuple[bool, bool]
    flops: int
    expected: Callable[[np.ndarray, np.ndarray, np.ndarray | None], np.ndarray]


def cases() -> list[Case]:
    """Cubes in all layouts, products of few rows, and many small ones."""
    sizes = [((n, n, n), layout) for n in CUBES for layout in LAYOUTS] + [((m, 4096, 4096), "nn") for m in ROWS]
    return [*(_product(*shape, layout) for shape, layout in sizes), _batched(64, 128, 128, 64)]


def _product(m: int, n: int, k: int, layout: str) -> Case:
    product = Product(m, n, k, "tf32", layout)  # of f32, which a CPU rounds to nothing less

    def expected(a: np.ndarray, b: np.ndarray, out: np.ndarray | None) -> np.ndarray:
        left, right = (each if lies == "n" else each.T for each, lies in zip((a, b), layout, strict=True))
        return np.matmul(left, right, out=out)

    shapes = product.shapes
    moved = layout[0] == "t", layout[1] == "t"
    name = f"{m} × {n} × {k}, {layout}"
    return Case(name, product.program, (shapes["a"], shapes["b"]), moved, product.flops, expected)


def _batched(batch: int, m: int, n: int, k: int) -> Case:
    graph = Graph()
    a, b = graph.input("a", "fp32", batch, m, k), graph.input("b", "fp32", batch, k, n)
    space = (batch, m, n, k)
    c = (a.expand(space, 0, 1, 3) * b.permute(0, 2, 1).expand(space, 0, 2, 3)).reduce("SUM", 3)
    shapes = (batch, m, k), (batch, k, n)

    def expected(a: np.ndarray, b: np.ndarray, out: np.ndarray | None) -> np.ndarray:
        return np.matmul(a, b, out=out)

    return Case(
        f"{batch} of {m} × {n} × {k}", graph.program(c), shapes, (False, False), 2 * batch * m * n * k, expected
    )


def libraries() -> dict[str, Callable[[Case, np.ndarray, np.ndarray, np.ndarray], Callable[[], Any]]]:
    """What a product is compared with, by name: gives the call that writes its result to an array."""
    found: dict[str, Callable[[Case, np.ndarray, np.ndarray, np.ndarray], Callable[[], Any]]] = {
        "numpy": lambda case, a, b, out: lambda: case.expected(a, b, out)
    }
    if HAS_TORCH:
        found["torch"] = _in_torch
    return found


def _in_torch(case: Case, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> Callable[[], Any]:
    torch: Any = importlib.import_module("torch")
    left, right, result = (torch.from_numpy(each) for each in (a, b, out))
    left, right = (each.mT if is_moved else each for each, is_moved in zip((left, right), case.moved, strict=True))
    return lambda: torch.matmul(left, right, out=result)


def measured(case: Case, rounds: int) -> dict[str, float]:
    """The GFLOP/s of each side, and tinyc's speed over the faster library's."""
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(shape, dtype=np.float32) for shape in case.shapes)
    model = tinyc.compile(case.program)
    (output,) = model.outputs
    expected = case.expected(a, b, None)
    mine, theirs = np.empty_like(expected), np.empty_like(expected)
    inputs, out = {"a": a, "b": b}, {output: mine}
    sides: dict[str, Callable[[], Any]] = {"tinyc": lambda: model.run_named(inputs, out=out)}
    sides |= {name: library(case, a, b, theirs) for name, library in libraries().items()}
    for name, side in sides.items():
        side()
        found = mine if name == "tinyc" else theirs
        if not np.allclose(found, expected, rtol=1e-4, atol=1e-4 * np.sqrt(case.shapes[0][-1])):
            raise SystemExit(f"{case.name}: {name}'s numbers differ from numpy's by {np.abs(found - expected).max():g}")
    times = [{name: _repeated(side) for name, side in sides.items()} for _ in range(rounds)]
    speeds = {name: case.flops / min(each[name] for each in times) / 1e9 for name in sides}
    ratios = {name: median(each[name] / each["tinyc"] for each in times) for name in sides if name != "tinyc"}
    return {**speeds, "ratio": min(ratios.values())}


def _repeated(work: Callable[[], Any]) -> float:
    """Seconds of a call, of as many as fill a round."""
    once = seconds(work)
    count = max(1, round(ROUND_SECONDS / once))
    return seconds(lambda: [work() for _ in range(count)]) / count


def with_threads(threads: int, options: argparse.Namespace) -> list[tuple[str, dict[str, float]]]:
    """What was measured with so many threads, which libraries are told before they are loaded."""
    command = [sys.executable, __file__, "--worker", "--match", options.match, "--rounds", str(options.rounds)]
    environment = {**os.environ, **dict.fromkeys(THREADS, str(threads))}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{THREADS_VARIABLE}={threads} {' '.join(command)} ended with status {done.returncode}")
    return json.loads(done.stdout)


def table_of(threads: int, rows: Sequence[tuple[str, dict[str, float]]], figures: Figures) -> Table:
    """The table of what was measured; adds what was to be to `figures`."""
    called = f"{threads} thread{'s' if threads > 1 else ''}"
    ratios = [speeds["ratio"] for _, speeds in rows]
    figures.row(
        f"speed over the faster library's, {called}, geometric mean", geometric_mean(ratios), "×", least=GEOMETRIC_MEAN
    )
    figures.row(f"speed over the faster library's, {called}, worst", min(ratios), "×", least=WORST)
    sides = [name for name in rows[0][1] if name != "ratio"]
    cells = [(name, *(f"{speeds[side]:.1f}" for side in sides), f"{speeds['ratio']:.2f}") for name, speeds in rows]
    return Table(f"f32 products, {called}, GFLOP/s", ("product", *sides, "ratio"), tuple(cells))


def main() -> int:
    """Print the tables, and return 1 if a bound is missed."""
    parser = argparse.ArgumentParser(description="Compare products on the CPU with numpy's and torch's.")
    parser.add_argument("--match", default="", help="only products whose name has this text")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="rounds that ratios are the median of")
    parser.add_argument("--record", action="store_true", help=f"write {RESULTS.name} as well")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    chosen = [each for each in cases() if options.match in each.name]
    if not chosen:
        parser.error(f"no product's name has {options.match!r}; there are {', '.join(each.name for each in cases())}")
    if options.worker:
        rows: list[tuple[str, dict[str, float]]] = []
        for each in chosen:
            rows.append((each.name, measured(each, options.rounds)))
            print(f"{each.name}: {rows[-1][1]['ratio']:.2f}", file=sys.stderr)
        json.dump(rows, sys.stdout)
        return 0
    figures = Figures("f32 products over the faster of numpy and torch" if HAS_TORCH else "f32 products over numpy")
    tables = [table_of(threads, with_threads(threads, options), figures) for threads in THREAD_COUNTS]
    heading = machine((*PACKAGES, "torch") if HAS_TORCH else PACKAGES, *([] if HAS_TORCH else ["torch not installed"]))
    show(heading, figures.table, *tables)
    if options.record:
        with RESULTS.open("w", encoding="utf-8") as file, redirect_stdout(file):
            show(heading, figures.table, *tables)
    return int(figures.missed > 0)


if __name__ == "__main__":
    sys.exit(main())
