"""How long the simulator's corpus takes with all checks: each of its cases loaded and launched. Prints a table.

    .venv/bin/python bench/simulator_corpus.py --than ../before   # bench/results/simulator_corpus.txt is what it prints

Another checkout of tinyc is measured beside this one: a process of each goes through the corpus a few times, case by
case by turns, so that both meet the same machine. Times are those of the processor, garbage collection included; a
ratio is the median of the rounds. It has a bound, and so has what comes out: numbers, findings and counters are equal
to the byte.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from figures import Figures, machine, show

TREE = Path(__file__).parent.parent
PACKAGES = ("numpy",)
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


class Checkout:
    """A process that runs cases of one checkout."""

    def __init__(self, tree: Path) -> None:
        path = os.pathsep.join(str(tree / folder) for folder in ("python", "test"))
        command, environment = [sys.executable, __file__, "--serve"], {**os.environ, "PYTHONPATH": path}
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.cases: list[str] = json.loads(self._ask(""))

    def _ask(self, question: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{question}\n")
        return self._process.stdout.readline()

    def run(self, case: str) -> Result:
        """Run the case of that name."""
        return Result(*json.loads(self._ask(case)))


def serve() -> None:
    """Answer with the names of the cases; then run those whose names come, in the checkout that is imported."""
    from ptxsim_cases.cases import CASES

    known = {f"{case.ptx}: {case.entry}: {case.name}": case for case in CASES}
    for line in sys.stdin:
        print(json.dumps(_result(known[line.strip()]) if line.strip() else list(known)), flush=True)


def _result(case: Any) -> Result:
    import ptxsim
    from ptxsim_cases.case_launch import launch

    text, arrays = case.text(), case.arrays()
    start = time.process_time()
    module = ptxsim.load(text)
    loaded = time.process_time()
    report = launch(case, module, arrays)
    launched = time.process_time()
    found = [(each.kind, each.message, each.line, each.threads, each.occurrences) for each in report.findings]
    digest = hashlib.sha256(repr((found, report.counters)).encode())
    for array in arrays.values():
        digest.update(array.tobytes())
    return Result(loaded - start, launched - loaded, digest.hexdigest())


def compared(than: Path) -> Figures:
    """The table of this checkout beside another one."""
    checkouts = Checkout(than), Checkout(TREE)
    cases = [name for name in checkouts[0].cases if name in checkouts[1].cases]
    rounds = [[[checkout.run(case) for checkout in checkouts] for case in cases] for _ in range(ROUNDS)]
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
    parser.add_argument("--than", type=Path, help="the other checkout")
    parser.add_argument("--serve", action="store_true", help="run the cases whose names are written to stdin")
    options = parser.parse_args()
    if options.serve:
        serve()
        return 0
    if options.than is None:
        parser.error("--than is missing: give another checkout, as `git worktree add` makes one")
    figures = compared(options.than.resolve())
    show(machine(PACKAGES), figures.table)
    return int(figures.missed > 0)


if __name__ == "__main__":
    sys.exit(main())
