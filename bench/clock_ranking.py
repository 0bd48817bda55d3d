"""How long ranking 16 tensor-core products of 4096³ takes on two cores, and what few steps of each tell. Prints tables.

    .venv/bin/python bench/clock_ranking.py --record       # writes bench/results/clock_ranking.txt

nvcc makes their PTX before anything is measured; ptxas and nvdisasm are needed, no GPU. Then the whole launches are
predicted, as a ranking without shorter ones does: what few steps of each give is compared with that.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

from checkout import processor_seconds
from figures import Figures, machine, rank_correlation, show
from product_variants import PRODUCT_VARIANTS
from ptxsim.clock.ranking.candidates import Candidate
from ptxsim.clock.ranking.rank import FEW_STEPS, RankedKernel, rank_kernels
from ptxsim.clock.sass.toolchain import find_sass_tools
from tinyc.text.table import Table

RESULTS = Path(__file__).parent / "results" / "clock_ranking.txt"
PACKAGES = ("numpy",)
SIZE, DEVICE, JOBS = 4096, "h100", 2
COLUMNS = ("place", "kernel", f"from {FEW_STEPS[0]} and {FEW_STEPS[1]} steps", "whole", "ratio", "near")
NOTE = (
    "nobody has measured these kernels: how right predictions are is in clock.txt. near: how many others are within "
    "5 %, so that their order says nothing"
)


def timed_ranking(candidates: Sequence[Candidate], cache: Path) -> tuple[tuple[RankedKernel, ...], float, float]:
    """The ranking, the seconds that it takes, and those of processors: other work on the machine adds to the first."""
    begun, before = time.perf_counter(), processor_seconds()
    found = rank_kernels(candidates, DEVICE, JOBS, cache)
    return found, time.perf_counter() - begun, processor_seconds() - before


def speed_of(ranked: RankedKernel) -> float:
    """TFLOP/s, 0 of what is refused."""
    return 2 * SIZE**3 / ranked.seconds / 1e12


def tables() -> tuple[Table, Figures]:
    """The order, and the figures with their bounds."""
    candidates = [each.candidate(SIZE) for each in PRODUCT_VARIANTS]
    with tempfile.TemporaryDirectory() as folder:
        few, seconds, of_processors = timed_ranking(candidates, Path(folder) / "few")
        _, again, _ = timed_ranking(candidates, Path(folder) / "few")
        whole_ones = [replace(each, shorter=None) for each in candidates]
        whole, whole_seconds, _ = timed_ranking(whole_ones, Path(folder) / "whole")
    whole_of = {each.name: each for each in whole}
    pairs = [(speed_of(each), speed_of(whole_of[each.name])) for each in few if not each.error]
    rows = tuple(
        (place, each.name, each.error, "", "", "")
        if each.error
        else (
            place,
            each.name,
            f"{speed_of(each):.1f}",
            f"{speed_of(whole_of[each.name]):.1f}",
            f"{speed_of(each) / speed_of(whole_of[each.name]):.3f}",
            len(each.near),
        )
        for place, each in enumerate(few, 1)
    )
    figures = Figures(f"ranking {len(candidates)} kernels with {JOBS} processes")
    figures.row("kernels that are refused", sum(bool(each.error) for each in few), "", most=0)
    figures.row("few steps of each", seconds, "s", most=60)
    figures.row("few steps of each, in seconds of processors", of_processors, "s", most=60 * JOBS)
    figures.row("the same again, kept by content", again, "s")
    figures.row("whole launches", whole_seconds, "s")
    figures.row("Spearman of few steps and whole launches", rank_correlation(*zip(*pairs, strict=True)), "", least=0.95)
    figures.row("largest difference", max(abs(few / whole - 1) for few, whole in pairs) * 100, "%", most=5)
    title = f"products {SIZE} × {SIZE} × {SIZE} by wgmma and TMA on {DEVICE}, predicted TFLOP/s"
    return Table(title, COLUMNS, rows, NOTE), figures


def main() -> int:
    """Rank, print the tables, and return 1 if a bound is missed."""
    parser = argparse.ArgumentParser(description="Rank 16 kernels, and measure how long that takes.")
    parser.add_argument("--record", action="store_true", help=f"write {RESULTS.name} as well")
    options = parser.parse_args()
    tools = find_sass_tools()
    heading = machine(PACKAGES, f"ptxas {tools.ptxas_version}", f"nvdisasm {tools.nvdisasm_version}")
    order, figures = tables()
    show(heading, order, figures.table)
    if options.record:
        with RESULTS.open("w", encoding="utf-8") as file, redirect_stdout(file):
            show(heading, order, figures.table)
    return int(figures.missed > 0)


if __name__ == "__main__":
    sys.exit(main())
