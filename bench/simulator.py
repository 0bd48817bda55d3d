"""How fast the PTX simulator is, on one core: instructions, a large product, and what its checks cost. Prints tables.

    .venv/bin/python bench/simulator.py       # bench/results/simulator.txt is what it prints

The first table has what was measured and the bound that it is meant to keep; times are the least of several launches,
and what the checks cost is measured side by side. The second has every case of the corpus (test/ptxsim_cases/cases.py):
launches of kernels that nvcc, Triton and LLVM compiled, most of them tiny. Loading a module is not counted: the time
that it takes has its own column.
"""

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import ptxsim
from figures import Figures, machine, show
from ptxsim import CHECKS, Module, Report
from tinyc.text.table import Table

sys.path.insert(0, str(Path(__file__).parent.parent / "test"))

from ptxsim_cases.case import Case
from ptxsim_cases.case_launch import launch
from ptxsim_cases.cases import CASES
from ptxsim_cases.mixed_cases import mixed_case

PACKAGES = ("llvmlite", "numpy")
#: The mixed kernel as it is measured: CTAs of 8 warps each, and rounds of its loop.
MIXED_CTAS, MIXED_ROUNDS = 8, 100
#: Cases of the corpus that are measured by the same measure, besides the mixed kernel; two to twelve warps a CTA.
COMPARED = ("transpose", "softmax", "matmul_sm80", "specialised_gemm", "matmul_wide")


@dataclass(frozen=True)
class Measure:
    """The least time of some launches, with all checks and without any; and the report of the last."""

    seconds: float
    unchecked_seconds: float
    report: Report

    @property
    def instructions(self) -> int:
        """Warp-instructions of a launch."""
        return self.report.counters.warp_instructions

    @property
    def rate(self) -> float:
        """Warp-instructions a second, with all checks."""
        return self.instructions / self.seconds

    @property
    def cost(self) -> float:
        """The time with all checks over that without any."""
        return self.seconds / self.unchecked_seconds


def measured(case: Case, runs: int = 3) -> Measure:
    """How long a case takes, with checks and without by turns."""
    module = ptxsim.load(case.text())
    pairs = [(_timed(case, module, CHECKS), _timed(case, module, ())) for _ in range(runs)]
    return Measure(min(pair[0][0] for pair in pairs), min(pair[1][0] for pair in pairs), pairs[-1][0][1])


def _timed(case: Case, module: Module, checks: Sequence[str]) -> tuple[float, Report]:
    arrays = case.arrays()
    start = time.perf_counter()
    report = launch(case, module, arrays, checks)
    return time.perf_counter() - start, report


def mix(report: Report) -> str:
    """What share of the instructions of a launch each opcode has, if it is a hundredth or more."""
    counts = report.counters.instructions
    shares = [(opcode, 100 * count / counts.total()) for opcode, count in counts.most_common()]
    return ", ".join(f"{opcode} {share:.0f} %" for opcode, share in shares if share >= 1)


def summary() -> Figures:
    """The table of what has a bound."""
    figures = Figures("the simulator")
    mixed = measured(mixed_case(MIXED_CTAS, MIXED_ROUNDS))
    results = {case.name: measured(case, 9) for case in CASES if case.name in COMPARED}
    figures.row("mixed code, 8 warps a CTA, all checks", mixed.rate / 1000, "k warp-instr/s", least=100)
    figures.row("GEMM 256×512×256 f16, wgmma tile 128×256×64 (Triton)", results["matmul_wide"].seconds, "s", 15)
    figures.row("mixed code: all checks over none", mixed.cost, "×", 3)
    for name, result in results.items():
        figures.row(f"{name}: all checks over none", result.cost, "×", 3)
    for name, result in results.items():
        figures.row(f"{name}, all checks", result.rate / 1000, "k warp-instr/s")
    figures.note = f"mixed code: {mixed.instructions} warp-instructions: {mix(mixed.report)}"
    return figures


def by_case() -> Table:
    """The table of the corpus, a row a case."""
    columns = ("case", "CTAs", "warps", "load, s", "warp-instr", "launch, s", "per second", "checks, ×")
    rows: list[tuple[object, ...]] = []
    for case in CASES:
        start = time.perf_counter()
        ptxsim.load(case.text())
        load = time.perf_counter() - start
        result = measured(case, 1)
        x, y, z = case.grid
        warps = -(-case.block[0] * case.block[1] * case.block[2] // 32)
        measures = load, result.instructions, result.seconds, round(result.rate), result.cost
        rows.append((case.name, x * y * z, warps, *measures))
    return Table("the corpus, all checks", columns, tuple(rows))


def main() -> int:
    """Measure everything, print the tables, and return 1 if a bound is missed."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    figures = summary()
    show(machine(PACKAGES, "on one core"), figures.table, by_case())
    return int(figures.missed > 0)


if __name__ == "__main__":
    sys.exit(main())
