"""What programs take on the CPU beside torch, numpy and ONNX Runtime, with one thread and with two, by turns.

    pip install torch onnxruntime
    .venv/bin/python bench/cpu.py --record      # writes bench/results/cpu.txt; takes three quarters of an hour

All f32 products are beside numpy, too, products of bytes and convolutions beside ONNX Runtime, too. A ratio is the time
of the library over that of a call of the model: the median of the ratios of rounds, in each of which all run, with as
many threads; in front of each all are idle for a while, since threads of the one before spin for some time. Of several
libraries the fastest one counts. f32 products write into memory that is there; all else makes its results anew, on all
sides. A library that is not installed is left out, and what has no other is not measured. A bound that is not kept is
shown as MISSED, and then the exit status is 1.
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
from tinyc.runtime.threads import THREADS_VARIABLE, thread_count
from tinyc.text.table import Table

RESULTS = Path(__file__).parent / "results" / "cpu.txt"
#: What a case may be beside. The numbers of all others are compared with those of the first that there are.
LIBRARIES = ("numpy", "torch", "onnxruntime")
INSTALLED = tuple(name for name in LIBRARIES if importlib.util.find_spec(name) is not None)
#: What says how many threads there are: BLAS libraries and torch read it when they are loaded.
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", THREADS_VARIABLE)
THREAD_COUNTS = (1, 2)
ROUNDS = 9
#: Seconds that each side has in a round, at the least.
ROUND_SECONDS = 0.05
#: A side whose first call takes more seconds is not called again, and each round has that time: torch takes a minute
#: for a product of bf16 where the CPU has no instructions of it.
LONG_SECONDS = 2

Sides = Mapping[str, Callable[[], Any]]
#: Of a case: the speed of each side, and `ratio`.
Row = tuple[str, dict[str, float]]


#: The side that is part of the case by itself.
_ALONE = "alone"


def measured(case: Case, rounds: int) -> dict[str, float]:
    """The speed of each side, and tinyc's over the fastest library's."""
    sides = dict(_sides(case))
    results: dict[str, Any] = {}
    firsts: dict[str, float] = {}
    for name, side in sides.items():
        start = time.perf_counter()
        results[name] = side()
        firsts[name] = time.perf_counter() - start
    results.pop(_ALONE, None)
    libraries = libraries_of(case)
    expected = np.asarray(results.pop(libraries[0]), np.float64)
    most = case.tolerance * np.abs(expected).max()
    for name, found in results.items():
        error = np.abs(np.asarray(found, np.float64) - expected).max()
        if not error <= most:
            raise SystemExit(f"{case.name}: {name}'s numbers are off by {error:g}; {most:g} is allowed")
    if case.alone is not None:
        sides = {name: side for name, side in sides.items() if name not in libraries}  # they were for the numbers
    times = [{name: _repeated(side, firsts[name]) for name, side in sides.items()} for _ in range(rounds)]
    speeds = {name: case.work / min(each[name] for each in times) / 1e9 for name in sides}
    ratios = {name: median(each[name] / each["tinyc"] for each in times) for name in sides if name != "tinyc"}
    return {**speeds, "ratio": min(ratios.values())}


def _sides(case: Case) -> Sides:
    """What computes a case, by name; each call gives its result."""
    if case.in_numpy is not None:
        return _writing_sides(case, case.in_numpy)
    model = tinyc.compile(case.program, plan=case.plan)
    arrays = {name: case.arrays[name] for name in model.inputs}
    (output,) = model.outputs
    sides: dict[str, Callable[[], Any]] = {"tinyc": lambda: model.run_named(arrays)[output]}
    if "torch" in INSTALLED:
        tensors, torch = [_tensor(each) for each in case.arrays.values()], _torch()
        sides["torch"] = lambda: _array(case.in_torch(torch, *tensors))
        if case.is_compiled:
            in_torch = torch.compile(partial(case.in_torch, torch))
            in_torch(*tensors)  # compiles it
            sides["torch.compile"] = lambda: _array(in_torch(*tensors))
    if case.in_onnxruntime is not None and "onnxruntime" in INSTALLED:
        from onnxruntime_session import session_of

        session = session_of(case.in_onnxruntime.SerializeToString(), thread_count())
        sides["onnxruntime"] = lambda: session.run(None, arrays)[0]
    if case.alone is not None:
        product = tinyc.compile(case.alone)
        factors = {each: arrays[each] for each in product.inputs}
        sides[_ALONE] = lambda: product.run_named(factors)
    return sides


def _writing_sides(case: Case, in_numpy: Callable[..., np.ndarray]) -> Sides:
    """The same of a case that numpy computes: all write into memory that is there."""
    model, (a, b) = tinyc.compile(case.program, plan=case.plan), case.arrays.values()
    (output,) = model.outputs
    mine, theirs, torchs = (np.empty_like(in_numpy(a, b)) for _ in range(3))
    sides: dict[str, Callable[[], Any]] = {
        "tinyc": lambda: model.run_named(case.arrays, out={output: mine})[output],
        "numpy": lambda: in_numpy(a, b, out=theirs),
    }
    if "torch" in INSTALLED:
        left, right, result = map(_tensor, (a, b, torchs))
        sides["torch"] = lambda: _array(case.in_torch(_torch(), left, right, out=result))
    return sides


def libraries_of(case: Case) -> list[str]:
    """The libraries that compute a case and are installed."""
    ways = case.in_numpy, case.in_torch, case.in_onnxruntime
    return [name for name, way in zip(LIBRARIES, ways, strict=True) if way is not None and name in INSTALLED]


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


def _repeated(work: Callable[[], Any], first: float) -> float:
    """Seconds of a call, of as many as fill a round; the `first` one took so many."""
    if first > LONG_SECONDS:
        return first
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
            if match in f"{group.name}: {case.name}" and libraries_of(case):
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


def heading() -> str:
    """Where it was measured, beside what, and what is not there."""
    return machine(("llvmlite", *INSTALLED), *(f"{name} not installed" for name in LIBRARIES if name not in INSTALLED))


def main() -> int:
    """Print the tables, and return 1 if a bound is missed."""
    parser = argparse.ArgumentParser(description="Compare programs on the CPU with torch, numpy and ONNX Runtime.")
    parser.add_argument("--match", default="", help="only cases whose group and name, as 'group: name', have this text")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="rounds that ratios are the median of")
    parser.add_argument("--record", action="store_true", help=f"write {RESULTS.name} as well")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        json.dump(_measured_here(options), sys.stdout)
        return 0
    figures = Figures("speed over the fastest library's")
    found = {threads: with_threads(threads, options) for threads in THREAD_COUNTS}
    if not any(found.values()):
        parser.error(f"no case's group and name have {options.match!r}; see cpu_cases.py")
    tables = [
        table_of(group, threads, found[threads][group.name], figures)
        for group in groups()
        for threads in THREAD_COUNTS
        if group.name in found[threads]
    ]
    show(heading(), figures.table, *tables)
    if options.record:
        with RESULTS.open("w", encoding="utf-8") as file, redirect_stdout(file):
            show(heading(), figures.table, *tables)
    return int(figures.missed > 0)


if __name__ == "__main__":
    sys.exit(main())
