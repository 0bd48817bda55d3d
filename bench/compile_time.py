"""How long a matrix product takes from Tiny to PTX and to machine code, beside Triton's product at the same tile.

    .venv/bin/python bench/compile_time.py --triton ../with_triton/bin/python --record
    # writes bench/results/compile_time.txt

relu(X @ W + bias) in f16, in warm processes that take turns; no GPU is needed. tinyc's, which knows the sizes, is of
another size in each turn, from 4096 × 4096 × 4096 down, so that nothing is remembered from the last. `--triton` is an
interpreter that has Triton; without it there are the times of tinyc alone. ptxas is each one's own.
"""

import argparse
import os
import sys
import time
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import tinyc
from checkout import TREE, Checkout, processor_seconds
from figures import Figures, machine, show
from gpu import EXAMPLES
from ptxsim.clock.sass.toolchain import find_sass_tools
from tinyc.runtime import assembler
from tinyc.target import target_of

RESULTS = Path(__file__).parent / "results" / "compile_time.txt"
PACKAGES = ("numba-cuda-mlir",)
WORKER = "compile_time_triton.py"
GEMM = EXAMPLES / "gemm_bias_relu.json"
#: The side of the first product, and how much smaller that of the next one is.
SIZE, STEP = 4096, 128
#: Seconds to PTX; and of the way to machine code, parts of Triton's.
TO_PTX, OF_TRITON = 0.25, 0.5


@dataclass(frozen=True)
class TiledProduct:
    """One tile on both sides: `plan` is tinyc's, `warps` and `stages` are Triton's."""

    arch: str
    tile: tuple[int, int, int]
    plan: dict[str, Any]
    warps: int
    stages: int

    @property
    def title(self) -> str:
        """Architecture and tile."""
        return f"{self.arch}, {' × '.join(map(str, self.tile))}"

    def compiled(self, size: int) -> str:
        """The PTX of a product of `size` along each side."""
        plan = {"scheme": "mma", "tile": list(self.tile), "stages": self.stages, **self.plan}
        bound = dict.fromkeys("MNK", size)
        return tinyc.compile(GEMM, target="cuda", arch=self.arch, bind=bound, plan=plan).text("ptx")

    @property
    def asked_of_triton(self) -> dict[str, Any]:
        """What the worker is asked for."""
        major, minor = target_of(self.arch).compute_capability
        return {"capability": 10 * major + minor, "tile": self.tile, "warps": self.warps, "stages": self.stages}


PRODUCTS = (
    TiledProduct("sm_80", (128, 128, 32), {"warp_tile": "64x64"}, 4, 3),
    TiledProduct("sm_80", (128, 256, 32), {"warp_tile": "64x64"}, 8, 3),
    TiledProduct("sm_90a", (128, 128, 64), {"warp_tile": "64x128", "schedule": "cooperative"}, 8, 3),
    TiledProduct("sm_90a", (128, 256, 64), {"warp_tile": "64x256", "schedule": "cooperative"}, 8, 4),
)


@dataclass(frozen=True)
class Round:
    """What one turn of each took: seconds, those of processors behind them; Triton's are 0 where it is not there."""

    to_ptx: float
    to_cubin: float
    processors: float
    triton: float = 0
    triton_ptxas: float = 0
    triton_processors: float = 0


def one_round(product: TiledProduct, size: int, triton: Checkout | None) -> Round:
    """A turn of tinyc, on a product of `size` along each side, and one of Triton."""
    begun, before = time.perf_counter(), processor_seconds()
    ptx = product.compiled(size)
    made = time.perf_counter()
    assembler.assemble(ptx, product.arch)
    ended, after = time.perf_counter(), processor_seconds()
    ours = made - begun, ended - begun, after - before
    if triton is None:
        return Round(*ours)
    answer = triton.ask(product.asked_of_triton)
    return Round(*ours, answer["seconds"], answer["ptxas"], answer["processors"])


def figures_of(product: TiledProduct, rounds: list[Round]) -> Figures:
    """The least of each, which other work on the machine only ever adds to, and their ratios."""
    figures = Figures(f"{product.title}: least of {len(rounds)} rounds")

    def least(of: str) -> float:
        return min(getattr(each, of) for each in rounds)

    figures.row("Tiny → PTX", least("to_ptx"), "s", TO_PTX)
    figures.row("ptxas on that", min(each.to_cubin - each.to_ptx for each in rounds), "s")
    figures.row("Tiny → cubin", least("to_cubin"), "s")
    figures.row("the same, seconds of processors", least("processors"), "s")
    if least("triton"):
        figures.row("Triton's product → cubin", least("triton"), "s")
        figures.row("of it its ptxas", least("triton_ptxas"), "s")
        figures.row("the same, seconds of processors", least("triton_processors"), "s")
        figures.row("Tiny → cubin over Triton's", least("to_cubin") / least("triton"), "×", OF_TRITON)
        figures.row("the same, median of rounds", median(each.to_cubin / each.triton for each in rounds), "×")
        of_processors = median(each.processors / each.triton_processors for each in rounds)
        figures.row("the same, of seconds of processors", of_processors, "×")
    return figures


def main() -> int:
    """Measure, print the tables, and return 1 if a bound is missed."""
    parser = argparse.ArgumentParser(description="Measure how long products take to compile, beside Triton.")
    parser.add_argument("--triton", type=Path, metavar="PYTHON", help="an interpreter that has Triton")
    parser.add_argument("--arch", action="append", help="only products for this architecture; may be repeated")
    parser.add_argument("--rounds", type=int, default=10, help="turns of each (default: 10)")
    parser.add_argument("--record", action="store_true", help=f"write {RESULTS.name} as well")
    options = parser.parse_args()
    triton = None if options.triton is None else Checkout(TREE, WORKER, interpreter=options.triton)
    found: list[Figures] = []
    for product in PRODUCTS:
        if options.arch is None or product.arch in options.arch:
            sizes = [SIZE - STEP * number % SIZE for number in range(1 + options.rounds)]  # the first one warms up
            _, *rounds = (one_round(product, size, triton) for size in sizes)
            found.append(figures_of(product, rounds))
    heading = machine(PACKAGES, *_versions(triton))
    show(heading, *(each.table for each in found))
    if options.record:
        with RESULTS.open("w", encoding="utf-8") as file, redirect_stdout(file):
            show(heading, *(each.table for each in found))
    return int(any(each.missed for each in found))


def _versions(triton: Checkout | None) -> list[str]:
    """What ran, and how busy the machine was: times of a busy one are too long, ratios of rounds are less so."""
    told = [f"load average {os.getloadavg()[0]:.1f}", f"ptxas {find_sass_tools().ptxas_version}"]
    if triton is not None:
        told.append(f"Triton {triton.ask(PRODUCTS[0].asked_of_triton)['version']}")
    return told


if __name__ == "__main__":
    sys.exit(main())
