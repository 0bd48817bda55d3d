"""How long the simulator's corpus takes with all checks: each of its 92 cases loaded and launched. Prints a table.

    .venv/bin/python bench/simulator_corpus.py --than ../before   # bench/results/simulator_corpus.txt is what it prints

Another checkout of tinyc is measured by turns with this one, each time in a process of its own, which goes through the
corpus a few times. Times are user and system time of the process, garbage collection included; the least of all rounds
counts. The ratio has a bound, and so has what comes out: numbers, findings and counters are equal to the byte.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from figures import Figures, machine, show  # pyright: ignore[reportMissingImports]

TREE = Path(__file__).parent.parent
PACKAGES = ("numpy",)
#: Processes of each checkout, and how often each of them goes through the corpus.
PROCESSES, ROUNDS = 3, 3
#: What the time may be at most, over that of the other checkout.
RATIO = 0.5


def corpus() -> dict[str, Any]:
    """Go through the corpus of the checkout that is imported: the seconds of each round, and what came out."""
    from ptxsim_cases.cases import CASES  # pyright: ignore[reportMissingImports]

    rounds = [[_case(case) for case in CASES] for _ in range(ROUNDS)]
    return {
        "loading": min(sum(load for load, _, _ in cases) for cases in rounds),
        "launching": min(sum(launch for _, launch, _ in cases) for cases in rounds),
        "both": min(sum(load + launch for load, launch, _ in cases) for cases in rounds),
        "outcomes": [[digest for _, _, digest in cases] for cases in rounds],
    }


def _case(case: Any) -> tuple[float, float, str]:
    import ptxsim
    from ptxsim_cases.case_launch import launch  # pyright: ignore[reportMissingImports]

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
    return loaded - start, launched - loaded, digest.hexdigest()


def measured(tree: Path) -> dict[str, Any]:
    """The times of a checkout, by a process that imports it."""
    path = os.pathsep.join(str(tree / folder) for folder in ("python", "test"))
    command = [sys.executable, __file__, "--one"]
    made = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, check=True, capture_output=True, text=True)
    return json.loads(made.stdout)


def compared(than: Path) -> Figures:
    """The table of this checkout beside another one."""
    turns = [(measured(than), measured(TREE)) for _ in range(PROCESSES)]
    outcomes = [outcome for turn in turns for each in turn for outcome in each["outcomes"]]
    figures = Figures(f"the corpus of the simulator, {len(outcomes[0])} cases, all checks")
    for what, bound in (("loading", None), ("launching", None), ("both", RATIO)):
        before, now = (min(each[what] for each in side) for side in zip(*turns, strict=True))
        figures.row(f"{what}, before", before, "s")
        figures.row(f"{what}, now", now, "s")
        figures.row(f"{what}: now over before", now / before, "×", bound)
    equal = all(outcome == outcomes[0] for outcome in outcomes)
    figures.fact("numbers, findings and counters are those of before", equal, True)
    return figures


def main() -> int:
    """Measure both checkouts, print the table, and return 1 if a bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--than", type=Path, help="the other checkout")
    parser.add_argument("--one", action="store_true", help="only print the results of the checkout that is imported")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(corpus()))
        return 0
    if options.than is None:
        parser.error("--than is missing: give another checkout, as `git worktree add` makes one")
    figures = compared(options.than.resolve())
    show(machine(PACKAGES), figures.table)
    return int(figures.missed > 0)


if __name__ == "__main__":
    sys.exit(main())
