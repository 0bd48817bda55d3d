"""What `tinyc bench` does: a program timed, also beside another runtime, by turns in one process.

In: the arguments as `arguments` reads them. Out: a table on stdout, an SVG file, and the exit status: 1 where the two
runtimes give other numbers.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable, Mapping

import numpy as np

from tinyc.diagnostics import TinycError, Where
from tinyc.driver.commands import compiled_model, model_inputs
from tinyc.driver.onnx_runtime import onnxruntime_run
from tinyc.driver.program_text import shown_argument
from tinyc.driver.progress import shown_progress
from tinyc.driver.running import print_line, weights_apart
from tinyc.executors.compare import compare_all
from tinyc.executors.tolerance import Tolerance
from tinyc.explain.bars import bar_picture
from tinyc.explain.svg import svg_text
from tinyc.importers.files import write_file
from tinyc.text.table import Table, print_table

_Arrays = dict[str, np.ndarray]
#: How far two runtimes may be apart: specification 000 §9.
_ALLOWED = Tolerance(1e-3, 1e-3)
#: Seconds that each runtime is warmed up, and measured for at the least.
_WARM_SECONDS = 0.2


def bench_command(arguments: argparse.Namespace) -> int:
    """Time a program, and another runtime on the same model and inputs where one is asked for."""
    if arguments.target in ("sim", "reference"):
        message = f"target '{arguments.target}' has no speed of its own; bench it on 'cpu' or 'cuda'"
        raise TinycError("UnsupportedTarget", message, Where(file=shown_argument(arguments.program)))
    beside = None if arguments.runtime is None else onnxruntime_run(arguments.program, arguments.constant)
    model = compiled_model(arguments)
    weights, inputs = weights_apart(model.weights, model_inputs(arguments, model))
    model.set_weights(weights)
    works: dict[str, Callable[[], _Arrays]] = {"tinyc": lambda: model.run_named(inputs)}
    status = 0
    if beside is not None:
        works["onnxruntime"] = lambda: beside({**weights, **inputs})
        status = _compared(works)
    with shown_progress("bench"):
        seconds = _by_turns(works, arguments.runs)
    rows = _rows(seconds)
    title = f"{shown_argument(arguments.program)}, {os.cpu_count()} cores, least of {arguments.runs} runs by turns"
    print_table(Table(title, ("runtime", "least ms", "median ms", "least over tinyc's"), rows))
    if arguments.svg is not None:
        bars = [(name, min(seconds[name]) * 1e3, f"{least} ms, {ratio}") for name, least, _, ratio in rows]
        write_file(arguments.svg, svg_text(bar_picture(title, bars)))
        print_line("svg", str(arguments.svg))
    return status


def _compared(works: Mapping[str, Callable[[], _Arrays]]) -> int:
    """Say how far the outputs of two runtimes are apart; 1 where that is too far."""
    found, expected = (work() for work in works.values())
    comparisons = compare_all(found, expected, dict.fromkeys(expected, _ALLOWED))
    for each in comparisons:
        print_line("check", f"{each}: {'ok' if each.ok else 'FAILED'}")
    return 0 if all(each.ok for each in comparisons) else 1


def _by_turns(works: Mapping[str, Callable[[], _Arrays]], runs: int) -> dict[str, list[float]]:
    """The seconds of each run: one of each after the other, so that all meet the same machine."""
    for work in works.values():
        end = time.perf_counter() + _WARM_SECONDS
        work()
        while time.perf_counter() < end:
            work()
    found: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(runs):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            found[name].append(time.perf_counter() - start)
    return found


def _rows(seconds: Mapping[str, list[float]]) -> tuple[tuple[str, str, str, str], ...]:
    """A row for each runtime; the last cell is how its least time compares with tinyc's."""
    base = min(seconds["tinyc"])
    return tuple(
        (
            name,
            f"{min(each) * 1e3:.3f}",
            f"{statistics.median(each) * 1e3:.3f}",
            f"{min(each) / base:.2f} ×",
        )
        for name, each in seconds.items()
    )
