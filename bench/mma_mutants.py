"""What the simulator finds in mutants of scheme `mma`'s kernels: a wait or fence less, a stage off. Prints tables.

    .venv/bin/python bench/mma_mutants.py --record       # writes bench/results/mma_mutants.txt

The kernels are those of test/mma_kernels/kernels.py, the mutants those of mutants.py beside it. The last column has the
kinds of the simulator's findings, or that the result is wrong; a mutant in which nothing is found has its reason there,
or is MISSED, and then the exit status is 1. No GPU, ptxas or nvcc is needed; it takes ten minutes.
"""

import argparse
import sys
from contextlib import redirect_stdout
from pathlib import Path

from figures import Figures, machine, show
from tinyc.text.table import Table

sys.path.insert(0, str(Path(__file__).parent.parent / "test"))

from mma_kernels.kernels import KERNELS, ProductKernel, defect
from mma_kernels.mutants import UNSEEN, mutants_of

RESULTS = Path(__file__).parent / "results" / "mma_mutants.txt"
PACKAGES = ("numpy",)
COLUMNS = ("kernel", "mutant", "found")


def tables() -> tuple[Figures, Table]:
    """How many mutants are found, and each of them."""
    figures = Figures("mutants of the emitted kernels on the simulator, with all checks")
    rows: list[tuple[str, ...]] = []
    for kernel in KERNELS:
        found = _rows(kernel)
        unseen = [row for row in found if row[2].startswith("nothing")]
        missed = sum(row[2] == "MISSED" for row in found)
        figures.row(f"{kernel.name}, {kernel.arch}: mutants", len(found), "")
        figures.row(f"{kernel.name}: in which nothing is found, for a reason", len(unseen), "")
        figures.row(f"{kernel.name}: missed", missed, "", most=0)
        figures.fact(f"{kernel.name}: the kernel itself is right", not defect(kernel, kernel.ptx), True)
        rows += found
    note = "; ".join(f"{kernel}, {place}: {reason}" for (kernel, place), reason in UNSEEN.items())
    return figures, Table("each mutant", COLUMNS, tuple(rows), f"nothing, for a reason: {note}")


def _rows(kernel: ProductKernel) -> list[tuple[str, str, str]]:
    """The mutants of a kernel, each with what is found in it."""
    rows = []
    for mutant in mutants_of(kernel.ptx, kernel.stage_bytes):
        is_unseen = (kernel.name, mutant.place) in UNSEEN
        found = defect(kernel, mutant.text) or ("nothing, for a reason" if is_unseen else "MISSED")
        rows.append((kernel.name, mutant.name, found))
        print(*rows[-1], file=sys.stderr)
    return rows


def main() -> int:
    """Print the tables, and return 1 if a mutant is missed."""
    parser = argparse.ArgumentParser(description="Find defects of mutated kernels on the simulator.")
    parser.add_argument("--record", action="store_true", help=f"write {RESULTS.name} as well")
    options = parser.parse_args()
    figures, mutants = tables()
    heading = machine(PACKAGES)
    show(heading, figures.table, mutants)
    if options.record:
        with RESULTS.open("w", encoding="utf-8") as file, redirect_stdout(file):
            show(heading, figures.table, mutants)
    return int(bool(figures.missed))


if __name__ == "__main__":
    sys.exit(main())
