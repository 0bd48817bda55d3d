"""What kernels that memory bounds move, by the counters of the simulator: no GPU is needed. Prints a table.

    .venv/bin/python bench/traffic.py       # bench/results/traffic.txt is what it prints

Bytes are those of operands and results that have all elements, over what it takes to move each once; sectors over the
fewest that hold what is accessed. An operand that is broadcast along rows or columns is a part of its own: what is read
of it, over what it is if each CTA reads it once. Bank conflicts are passes that could be saved, but for those at the
ends of rows that are shared (`ROW_ENDS`). The programs are those of test/run/test_memory_bound.py, with its bounds.
"""

import sys
from pathlib import Path

from figures import machine, show
from tinyc.text.table import Table

sys.path.insert(0, str(Path(__file__).parent.parent / "test"))

from gpu_programs.measured import Run
from gpu_programs.memory_bound import ALIGNED, ROW_ENDS, UNALIGNED

PACKAGES = ("islpy", "llvmlite", "numba-cuda-mlir", "numpy")
COLUMNS = ("program", "scheme", "bytes", "broadcast", "sectors", "16-byte accesses", "bank conflicts", "kept")
#: Bytes of full-size tensors, and of operands once a CTA, at the most; sectors where rows are aligned, and elsewhere.
MOST_BYTES, MOST_SECTORS, MOST_SECTORS_ELSEWHERE = 1.05, 1.1, 1.3


def row(name: str, run: Run, most_sectors: float) -> tuple[object, ...]:
    """The figures of a program, as ratios, and whether they keep their bounds."""
    touched, fewest = run.sectors
    widths = run.bytes_by_width()
    figures = (
        run.full_size_bytes / run.full_size_needed,
        max((each.read / each.most for each in run.broadcast), default=None),
        touched / fewest,
    )
    bounds = (MOST_BYTES, MOST_BYTES, most_sectors)
    kept = all(figure is None or figure <= most for figure, most in zip(figures, bounds, strict=True))
    shown = ("" if figure is None else f"{figure:.3f}" for figure in figures)
    wide = f"{widths[16] / sum(widths.values()):.0%}"
    kept = kept and run.bank_conflicts <= ROW_ENDS.get(name, 0)
    return name, run.scheme, *shown, wide, run.bank_conflicts, "yes" if kept else "MISSED"


def main() -> int:
    """Run all programs, print the table, and return 1 if a bound is missed."""
    cases = [(name, program, MOST_SECTORS) for name, program in ALIGNED.items()]
    cases += [(name, program, MOST_SECTORS_ELSEWHERE) for name, program in UNALIGNED.items()]
    rows = tuple(row(name, Run.of(program()).check(), most) for name, program, most in cases)
    show(machine(PACKAGES), Table("traffic on sm_80, as ratios to what is needed", COLUMNS, rows))
    return int(any(each[-1] == "MISSED" for each in rows))


if __name__ == "__main__":
    sys.exit(main())
