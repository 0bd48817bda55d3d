"""What the program around the kernels costs: calls from Python, threads, loading and arenas. Prints tables.

    PYTHONPATH=test .venv/bin/python bench/program.py --than ../before     # bench/results/program.txt is what it prints

Calls are measured by turns in a process of this tinyc and in one of another checkout, in windows of 100 calls, of which
the fastest counts: other work on the machine only ever adds to it.
"""

import argparse
import ctypes
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import tinyc
from checkout import TREE, Checkout
from figures import Figures, machine, show
from program_arena import arenas
from program_loading import loading
from program_worker import AXIS, CALLS, WINDOWS, microseconds
from timing import least_seconds
from tinyc.runtime.function_names import TEAM_FUNCTION
from tinyc.runtime.object_code import Code
from tinyc.runtime.threads import team
from workloads.graph import Graph

PACKAGES = ("llvmlite", "numba-cuda-mlir", "numpy")
WORKER = "program_worker.py"
ROUNDS = 3
#: The most that a call of one small kernel may take, validation of its inputs included.
CALL_US = 15
SOFTMAX = TREE / "examples" / "softmax.json"
#: The most that two threads may take to come together and to leave again.
JOIN_US = 5
#: Two threads take the processors' time of one, or nearly; how much sooner they are done depends on what else runs.
THREADS, RUNS, PROCESSOR = 2, 6, 1.3


def added(*shape: int | str) -> dict[str, Any]:
    """Return Tiny JSON of the sum of two tensors: one kernel."""
    inputs = [
        {"id": name, "uop": "INPUT", "arg": {"tensor_id": name, "dtype": "fp32", "shape": list(shape)}} for name in "xw"
    ]
    return {"uops": [*inputs, {"id": "s", "uop": "ADD", "src": ["x", "w"]}]}


def products(count: int, m: int, n: int, k: int) -> dict[str, Any]:
    """Return Tiny JSON of products of one tensor with several: kernels of one generation."""
    graph, space = Graph(), (m, n, k)
    x = graph.input("x", "fp32", m, k).expand(space, 0, 2)
    weights = [graph.input(f"w{number}", "fp32", k, n).permute(1, 0) for number in range(count)]
    return graph.program(*((x * each.expand(space, 1, 2)).reduce("SUM", 2) for each in weights))


PROGRAMS: dict[str, tuple[Any, dict[str, Any]]] = {
    "x + w, [8]": (added(8), {}),
    "x + w, [M, K]": (added("M", "K"), {}),
    "softmax, [M, N], 6 kernels and an arena": (str(SOFTMAX), {"fusion": "none"}),
    "6 products, [64, 128, 128], kernels of a generation for 2 threads": (products(6, 64, 128, 128), {"threads": 2}),
}


def calls(than: Path | None) -> Figures:
    """How long a call takes, and over what it takes in the other checkout."""
    figures = Figures("a call from Python on the CPU")
    trees = {"now": TREE, **({} if than is None else {"before": than})}
    workers = {name: Checkout(tree, WORKER) for name, tree in trees.items()}
    for title, (program, options) in PROGRAMS.items():
        question = {"program": program, "options": options}
        rounds = [{name: worker.ask(question) for name, worker in workers.items()} for _ in range(ROUNDS)]
        for way in rounds[0]["now"]:
            bound = CALL_US if way != "model(x, out=y)" and "kernels" not in title else None
            figures.row(f"{title}: {way}", min(each["now"][way] for each in rounds), "us", bound)
            if than is not None:
                ratio = median(each["now"][way] / each["before"][way] for each in rounds)
                figures.row("the same, over before", ratio, "×", 1)
    return figures


def threads() -> Figures:
    """What two threads that run one model at once take: kernels run without the interpreter's lock."""
    figures = Figures("one model in threads")
    model = tinyc.compile(SOFTMAX)
    x = np.random.default_rng(0).standard_normal((2048, 1024), np.float32)
    outs = [np.empty_like(x) for _ in range(THREADS)]

    def runs(number: int) -> None:
        for _ in range(RUNS):
            model(x, out=outs[number])

    with ThreadPoolExecutor(THREADS) as pool:
        for clock, name, most in ((time.perf_counter, "time", None), (time.process_time, "processor time", PROCESSOR)):
            alone = least_seconds(lambda: [runs(0) for _ in range(THREADS)], clock=clock)
            together = least_seconds(lambda: [*pool.map(runs, range(THREADS))], clock=clock)
            figures.row(f"{THREADS * RUNS} runs of softmax [2048, 1024] by one thread, {name}", alone * 1e3, "ms")
            figures.row(f"the same by {THREADS} threads, over that", together / alone, "×", most)
    return figures


def team_start() -> Figures:
    """How long two threads take to come together and to leave again: they find no turn to take.

    The call from Python is part of it, which one thread's figure tells. Threads that have slept take longer to come: it
    is the least over windows.
    """
    figures, run = Figures("start and join of threads"), team()
    if run is not None:
        code = Code(tinyc.compile(added(AXIS)).artifact().code, [], [TEAM_FUNCTION])
        for count, most in ((1, None), (THREADS, JOIN_US)):
            # The first is how many threads have come, in all calls; of the kernel behind it no turn is left.
            job = (ctypes.c_size_t * 9)(0, 1)
            start = partial(run, code.addresses[TEAM_FUNCTION], ctypes.addressof(job), count)
            figures.row(f"start and join of {count} thread{'s' * (count > 1)}", microseconds(start), "us", most)
            figures.fact("each time as many came", job[0] == count * (1 + CALLS * WINDOWS), True)
    return figures


def main() -> int:
    """Measure everything, print the tables, and return 1 if a bound is missed."""
    parser = argparse.ArgumentParser(description="Measure what the program around the kernels costs.")
    parser.add_argument("--than", type=Path, help="another checkout, as `git worktree add` makes one")
    than = parser.parse_args().than
    called, shared, started = calls(None if than is None else than.resolve()), threads(), team_start()
    (models, loaded), (packed, peaks) = loading(), arenas()
    show(machine(PACKAGES), called.table, shared.table, started.table, models, loaded.table, packed, peaks.table)
    return int(any(each.missed for each in (called, shared, started, loaded, peaks)))


if __name__ == "__main__":
    sys.exit(main())
