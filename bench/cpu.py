"""What programs take on the CPU beside torch, with one thread and with two, by turns; f32 products beside numpy, too.

    pip install torch && .venv/bin/python bench/cpu.py --record      # writes bench/results/cpu.txt; takes half an hour

A ratio is the time of the library over that of a call of the model: the median of the ratios of rounds, in each of
which all run, with as many threads; in front of each all are idle for a while, since threads of the one before spin for
some time. Of two libraries the faster one counts. Products write into memory that is there;
all else makes its results anew, on both sides. Without torch, only the products are measured. A bound that is not kept
is shown as MISSED, and then the exit status is 1.
"""

import argparse
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import ml_dtypes
import numpy as np

import tinyc
from cpu_cases import Case, Group, groups
from figures import Figures, machine, show
from timing import IDLE_SECONDS, repeated, seconds
from tinyc.runtime.threads import THREADS_VARIABLE
from tinyc.text.table import Table

RESULTS = Path(__file__).parent / "results" / "cpu.txt"
PACKAGES = ("llvmlite", "numpy")
HAS_TORCH = importlib.util.find_spec("torch") is not None
#: What says how many threads there are: BLAS libraries and torch read it when they are loaded.
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", THREADS_VARIABLE)
THREAD_COUNTS = (1, 2)
ROUNDS = 9
#: Seconds that each side has in a round, at the least.
ROUND_SECONDS = 0.05

Sides = Mapping[str, Callable[[], Any]]
#: Of a case: the speed of each side, and `ratio`.
Row = tuple[str, dict[str, float]]


#: The side that is part of the case by itself.
_ALONE = "alone"


def measured(case: Case, rounds: int) -> dict[str, float]:
    """The speed of each side, and tinyc's over the faster library's."""
    sides = dict(_sides(case))
    results = {name: side() for name, side in sides.items()}
    results.pop(_ALONE, None)
    expected = np.asarray(results.pop("numpy" if case.in_numpy is not None else "torch"), np.float64)
    most = case.tolerance * np.abs(expected).max()
    for name, found in results.items():
        error = np.abs(np.asarray(found, np.float64) - expected).max()
        if not error <= most:
            raise SystemExit(f"{case.name}: {name}'s numbers are off by {error:g}; {most:g} is allowed")
    if case.alone is not None:
        del sides["torch"]  # it was for the numbers
    times = [{name: _repeated(side) for name, side in sides.items()} for _ in range(rounds)]
    speeds = {name: case.work / min(each[name] for each in times) / 1e9 for name in sides}
    ratios = {name: median(each[name] / each["tinyc"] for each in times) for name in sides if name != "tinyc"}
    return {**speeds, "ratio": min(ratios.values())}


def _sides(case: Case) -> Sides:
    """What computes a case, by name; each call gives its result."""
    kept = {name: case.arrays[name] for name in case.weights}
    model = tinyc.compile(case.program, plan=case.plan, weights=kept)
    arrays = {name: array for name, array in case.arrays.items() if name not in kept}
    (output,) = model.outputs
    if case.in_numpy is None:
        tensors, torch = [_tensor(each) for each in case.arrays.values()], _torch()
        sides: dict[str, Callable[[], Any]] = {
            "tinyc": lambda: model.run_named(arrays)[output],
            "torch": lambda: _array(case.in_torch(torch, *tensors)),
        }
        if case.is_compiled:
            in_torch = torch.compile(partial(case.in_torch, torch))
            sides["torch.compile"] = lambda: _array(in_torch(*tensors))
        if case.alone is not None:
            product = tinyc.compile(case.alone, weights=kept)
            factors = {each: arrays[each] for each in product.inputs}
            sides[_ALONE] = lambda: product.run_named(factors)
        return sides
    in_numpy, (a, b) = case.in_numpy, arrays.values()
    mine, theirs, torchs = (np.empty_like(in_numpy(a, b)) for _ in range(3))
    written: dict[str, Callable[[], Any]] = {
        "tinyc": lambda: model.run_named(arrays, out={output: mine})[output],
        "numpy": lambda: in_numpy(a, b, out=theirs),
    }
    if HAS_TORCH:
        left, right, result = map(_tensor, (a, b, torchs))
        written["torch"] = lambda: _array(case.in_torch(_torch(), left, right, out=result))
    return written


def _torch() -> Any:
    return importlib.import_module("torch")


def _tensor(array: np.ndarray) -> Any:
    """The array as a tensor of torch, which knows no bfloat16 of numpy."""
    if array.dtype == ml_dtypes.bfloat16:
        return _torch().from_numpy(array.view(np.int16)).view(_torch().bfloat16)
    return _torch().from_numpy(array)


def _array(tensor: Any) -> np.ndarray:
    if tensor.dtype == _torch().bfloat16:
        return tensor.view(_torch().int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def _repeated(work: Callable[[], Any]) -> float:
    """Seconds of a call, of as many as fill a round."""
    time.sleep(IDLE_SECONDS)
    once = seconds(work)
    if once > ROUND_SECONDS:
        return once
    count = round(ROUND_SECONDS / once)
    return seconds(lambda: repeated(work, count)) / count


def with_threads(threads: int, options: argparse.Namespace) -> dict[str, list[Row]]:
    """What was measured with so many threads, which libraries are told before they are loaded, by group."""
    command = [sys.executable, __file__, "--worker", "--match", options.match, "--rounds", str(options.rounds)]
    environment = {**os.environ, **dict.fromkeys(THREADS, str(threads))}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{THREADS_VARIABLE}={threads} {' '.join(command)} ended with status {done.returncode}")
    return json.loads(done.stdout)


def _measured_here(options: argparse.Namespace) -> dict[str, list[Row]]:
    """What is measured in this process, by group."""
    found: dict[str, list[Row]] = {}
    for group, case in _chosen(options.match):
        found.setdefault(group.name, []).append((case.name, measured(case, options.rounds)))
        print(f"{group.name}: {case.name}: {found[group.name][-1][1]['ratio']:.2f}", file=sys.stderr)
    return found


def _chosen(match: str) -> Iterator[tuple[Group, Case]]:
    """The cases whose group and name have a text, and that there is a library for."""
    for group in groups():
        for case in group.cases():
            if match in f"{group.name}: {case.name}" and (HAS_TORCH or case.in_numpy is not None):
                yield group, case


def table_of(group: Group, threads: int, rows: list[Row], figures: Figures) -> Table:
    """The table of what was measured of a group; adds what was to be to `figures`."""
    called = f"{threads} thread{'s' if threads > 1 else ''}"
    ratios = [speeds["ratio"] for _, speeds in rows]
    for what, value, least in (
        ("geometric mean", geometric_mean(ratios), group.geometric_mean),
        ("worst", min(ratios), group.worst),
    ):
        figures.row(f"{group.name}, {called}, {what}", value, "×", least=least)
    sides = [name for name in rows[0][1] if name != "ratio"]
    cells = [(name, *(f"{speeds[side]:.1f}" for side in sides), f"{speeds['ratio']:.2f}") for name, speeds in rows]
    return Table(f"{group.name}, {called}, {group.unit}", ("case", *sides, "ratio"), tuple(cells))


def main() -> int:
    """Print the tables, and return 1 if a bound is missed."""
    parser = argparse.ArgumentParser(description="Compare programs on the CPU with torch and numpy.")
    parser.add_argument("--match", default="", help="only cases whose group and name, as 'group: name', have this text")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="rounds that ratios are the median of")
    parser.add_argument("--record", action="store_true", help=f"write {RESULTS.name} as well")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        json.dump(_measured_here(options), sys.stdout)
        return 0
    figures = Figures("speed over the faster library's")
    found = {threads: with_threads(threads, options) for threads in THREAD_COUNTS}
    if not any(found.values()):
        parser.error(f"no case's group and name have {options.match!r}; see cpu_cases.py")
    tables = [
        table_of(group, threads, found[threads][group.name], figures)
        for group in groups()
        for threads in THREAD_COUNTS
        if group.name in found[threads]
    ]
    heading = machine((*PACKAGES, "torch") if HAS_TORCH else PACKAGES, *([] if HAS_TORCH else ["torch not installed"]))
    show(heading, figures.table, *tables)
    if options.record:
        with RESULTS.open("w", encoding="utf-8") as file, redirect_stdout(file):
            show(heading, figures.table, *tables)
    return int(figures.missed > 0)


if __name__ == "__main__":
    sys.exit(main())
