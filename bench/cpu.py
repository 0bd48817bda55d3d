"""Products of f32 on the CPU beside numpy's, one thread each, by turns.

    .venv/bin/python bench/cpu.py --record            # writes bench/results/cpu.txt; takes some minutes

A ratio is the time of numpy over that of a call of the model, both with the output's memory given: the median of the
ratios of rounds, in each of which both run. numpy's BLAS is told to use one thread, as tinyc does. A bound that is not
kept is shown as MISSED, and then the exit status is 1.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean, median

import numpy as np

import tinyc
from figures import Figures, machine, show
from gemm_cases import LAYOUTS, Product
from timing import seconds
from tinyc.text.table import Table
from workloads.graph import Graph, Program

RESULTS = Path(__file__).parent / "results" / "cpu.txt"
PACKAGES = ("llvmlite", "numpy")
#: What BLAS libraries read when they are loaded.
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
CUBES = (256, 512, 1024, 2048)
#: Rows of a product with a matrix of 4096 × 4096.
ROWS = (1, 4, 16)
ROUNDS = 9
#: Seconds that each side has in a round, at the least.
ROUND_SECONDS = 0.05
#: What is asked of all products together, and of the worst.
GEOMETRIC_MEAN, WORST = 1.0, 0.8
COLUMNS = ("product", "GFLOP/s", "numpy", "ratio")


@dataclass(frozen=True)
class Case:
    """A product: its program, the shapes of `a` and `b`, and the same in numpy."""

    name: str
    program: Program
    shapes: tuple[tuple[int, ...], tuple[int, ...]]
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
    return Case(f"{m} × {n} × {k}, {layout}", product.program, (shapes["a"], shapes["b"]), product.flops, expected)


def _batched(batch: int, m: int, n: int, k: int) -> Case:
    graph = Graph()
    a, b = graph.input("a", "fp32", batch, m, k), graph.input("b", "fp32", batch, k, n)
    space = (batch, m, n, k)
    c = (a.expand(space, 0, 1, 3) * b.permute(0, 2, 1).expand(space, 0, 2, 3)).reduce("SUM", 3)
    shapes = (batch, m, k), (batch, k, n)

    def expected(a: np.ndarray, b: np.ndarray, out: np.ndarray | None) -> np.ndarray:
        return np.matmul(a, b, out=out)

    return Case(f"{batch} of {m} × {n} × {k}", graph.program(c), shapes, 2 * batch * m * n * k, expected)


def measured(case: Case, rounds: int) -> tuple[str, float, float, float]:
    """The row of a case: its name, GFLOP/s of both, and the ratio."""
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(shape, dtype=np.float32) for shape in case.shapes)
    model = tinyc.compile(case.program)
    (output,) = model.outputs
    expected = case.expected(a, b, None)
    mine, theirs = np.empty_like(expected), np.empty_like(expected)
    inputs, out = {"a": a, "b": b}, {output: mine}

    def own() -> None:
        model.run_named(inputs, out=out)

    def numpy() -> None:
        case.expected(a, b, theirs)

    own()
    if not np.allclose(mine, expected, rtol=1e-4, atol=1e-4 * np.sqrt(case.shapes[0][-1])):
        raise SystemExit(f"{case.name}: the numbers differ from numpy's by up to {np.abs(mine - expected).max():g}")
    times = [[_repeated(each) for each in (own, numpy)] for _ in range(rounds)]
    best = [min(each[side] for each in times) for side in (0, 1)]
    own_speed, numpy_speed = (case.flops / each / 1e9 for each in best)
    return case.name, own_speed, numpy_speed, median(other / own for own, other in times)


def _repeated(work: Callable[[], None]) -> float:
    """Seconds of a call, of as many as fill a round."""
    once = seconds(work)
    count = max(1, round(ROUND_SECONDS / once))
    return seconds(lambda: [work() for _ in range(count)]) / count


def tables(chosen: Sequence[Case], rounds: int) -> tuple[Table, Figures]:
    """What was measured, and what it was to be."""
    rows, ratios = [], []
    for each in chosen:
        name, own, numpy, ratio = measured(each, rounds)
        print(f"{name}: {ratio:.2f}", file=sys.stderr)
        ratios.append(ratio)
        rows.append((name, f"{own:.1f}", f"{numpy:.1f}", f"{ratio:.2f}"))
    figures = Figures("f32 products over numpy's, one thread")
    figures.row("speed over numpy's, geometric mean", geometric_mean(ratios), "×", least=GEOMETRIC_MEAN)
    figures.row("speed over numpy's, worst", min(ratios), "×", least=WORST)
    return Table("f32 products, one thread", COLUMNS, tuple(rows)), figures


def main() -> int:
    """Print the tables, and return 1 if a bound is missed."""
    parser = argparse.ArgumentParser(description="Compare products on the CPU with numpy's.")
    parser.add_argument("--match", default="", help="only products whose name has this text")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="rounds that ratios are the median of")
    parser.add_argument("--record", action="store_true", help=f"write {RESULTS.name} as well")
    options = parser.parse_args()
    if any(os.environ.get(name) != "1" for name in THREADS):  # numpy has read them already
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **dict.fromkeys(THREADS, "1")})
    chosen = [each for each in cases() if options.match in each.name]
    if not chosen:
        parser.error(f"no product's name has {options.match!r}; there are {', '.join(each.name for each in cases())}")
    table, figures = tables(chosen, options.rounds)
    heading = machine(PACKAGES)
    show(heading, figures.table, table)
    if options.record:
        with RESULTS.open("w", encoding="utf-8") as file, redirect_stdout(file):
            show(heading, figures.table, table)
    return int(figures.missed > 0)


if __name__ == "__main__":
    sys.exit(main())
