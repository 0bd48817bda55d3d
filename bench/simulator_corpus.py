"""How long the simulator's corpus takes with all checks: each of its cases loaded and launched. Prints a table.

    .venv/bin/python bench/simulator_corpus.py --than ../before   # bench/results/simulator_corpus.txt is what it prints

Another checkout of tinyc is measured beside this one: a process of each goes through the corpus a few times, case by
case by turns, so that both meet the same machine. Times are those of the processor, garbage collection included; a
ratio is the median of the rounds. It has a bound, and so has what comes out: numbers, findings and counters are equal
to the byte.
"""

import argparse
import sys
from pathlib import Path
from statistics import median
from typing import NamedTuple

from checkout import TREE, Checkout
from figures import Figures, machine, show

PACKAGES = ("numpy",)
WORKER = "simulator_worker.py"
ROUNDS = 9
#: What the time may be at most, over that of the other checkout.
RATIO = 0.5


class Result(NamedTuple):
    """Seconds of the processor to load a case and to launch it, and a digest of what came out."""

    loading: float
    launching: float
    outcome: str

    @property
    def both(self) -> float:
        """The seconds of loading and launching."""
        return self.loading + self.launching


def compared(than: Path) -> Figures:
    """The table of this checkout beside another one."""
    checkouts = Checkout(than, WORKER), Checkout(TREE, WORKER)
    before, now = (checkout.ask("") for checkout in checkouts)
    cases = [name for name in before if name in now]
    rounds = [[[Result(*checkout.ask(case)) for checkout in checkouts] for case in cases] for _ in range(ROUNDS)]
    figures = Figures(f"the corpus of the simulator, {len(cases)} cases, all checks")
    for what, bound in (("loading", None), ("launching", None), ("both", RATIO)):
        totals = [[sum(getattr(pair[side], what) for pair in pairs) for side in (0, 1)] for pairs in rounds]
        for side, name in enumerate(("before", "now")):
            figures.row(f"{what}, {name}", median(total[side] for total in totals), "s")
        figures.row(f"{what}: now over before", median(now / before for before, now in totals), "×", bound)
    equal = all(before.outcome == now.outcome for pairs in rounds for before, now in pairs)
    figures.fact("numbers, findings and counters are those of before", equal, True)
    return figures


def main() -> int:
    """Measure both checkouts, print the table, and return 1 if a bound is missed."""
    parser = argparse.ArgumentParser(description="Measure the corpus of the simulator beside another checkout.")
    parser.add_argument("--than", type=Path, required=True, help="the other checkout, as `git worktree add` makes one")
    options = parser.parse_args()
    figures = compared(options.than.resolve())
    show(machine(PACKAGES), figures.table)
    return int(figures.missed > 0)


if __name__ == "__main__":
    sys.exit(main())
