"""How fast the CPU walks an axis in order: top-k and scans, beside numpy. Prints a table.

    .venv/bin/python bench/ordered.py         # bench/results/ordered.txt is what it prints

Ratios are measured side by side in one run. The longer one of two scans is four times as long.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

import tinyc
from figures import Figures, machine, show
from timing import least_seconds

PACKAGES = ("llvmlite", "numba-cuda-mlir", "numpy")
CUMULATIVE_SUM = Path(__file__).parent.parent / "examples" / "cumulative_sum.json"
ROWS, LENGTH = 16, 20_000
SHORT, LONG = 2_000, 8_000


def search(k: int) -> dict[str, Any]:
    """Return Tiny JSON of the `k` greatest of each row of an f32 [16, 20000]."""
    declared = {"tensor_id": "X", "dtype": "fp32", "shape": [ROWS, LENGTH]}
    nodes = [
        {"id": "x", "uop": "INPUT", "arg": declared},
        {"id": "t", "uop": "TOPK", "src": ["x"], "arg": {"k": k, "axis": 1, "largest": True}},
    ]
    return {"uops": nodes, "outputs": ["t", "t#1"]}


def top_k(k: int) -> tuple[float, float]:
    """Return the seconds that a search takes in tinyc, and those of `np.sort` on the same rows."""
    model = tinyc.compile(search(k), target="cpu")
    x = np.random.default_rng(0).standard_normal((ROWS, LENGTH), dtype=np.float32)
    np.testing.assert_array_equal(model.run(X=x)["t"], -np.sort(-x)[:, :k])
    return least_seconds(lambda: model.run(X=x)), least_seconds(lambda: np.sort(x))


def scan(length: int) -> tuple[float, float]:
    """Return the seconds that cumulative sums of 64 rows take in tinyc, and those of `np.cumsum`."""
    model = tinyc.compile(CUMULATIVE_SUM, target="cpu", bind={"M": 64, "K": length})
    x = np.random.default_rng(0).standard_normal((64, length), dtype=np.float32)
    np.testing.assert_allclose(model(x), np.cumsum(x, axis=1), rtol=1e-3, atol=1e-3)
    return least_seconds(lambda: model(x)), least_seconds(lambda: np.cumsum(x, axis=1))


def main() -> int:
    """Measure everything, print the table, and return 1 if a bound is missed."""
    figures = Figures("axes that are walked in order")
    for k, most in ((1, 5), (100, 10), (1000, 30)):
        ours, numpys = top_k(k)
        figures.row(f"the {k} greatest of f32 [{ROWS}, {LENGTH}]", ours, "s")
        figures.row("the same, over np.sort's time", ours / numpys, "×", most)
    (short, _), (long, numpys) = scan(SHORT), scan(LONG)
    figures.row(f"cumulative sums of f32 [64, {SHORT}]", short, "s")
    figures.row(f"cumulative sums of f32 [64, {LONG}]", long, "s")
    figures.row("the same, over np.cumsum's time", long / numpys, "×", 3)
    figures.row("the same, over that of the shorter ones", long / short, "×", 6)
    show(machine(PACKAGES), figures.table)
    return int(figures.missed > 0)


if __name__ == "__main__":
    sys.exit(main())
