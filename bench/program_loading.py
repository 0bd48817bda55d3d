"""Loading a model that was saved, or kept in the cache, beside compiling it. A part of `program.py`.

Every example is compiled and loaded, on cpu and sim.

Warm is in a process that has done it before, the least of several runs by turns; cold is a process from nothing to a
model that is ready to run. Such a process has the bytecode of what it imports, as packages have that pip installs;
where an environment lets Python keep none, compiling the sources takes as long again. The simulator keeps the PTX that
a process has parsed, so that loading it warm is reading the file. Ratios are measured side by side. Every loaded model
gives the bits of the compiled one.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import tinyc
from figures import Figures
from programs.example_bindings import BIND, EXAMPLES
from timing import least_seconds, seconds
from tinyc.executors.random_inputs import random_inputs
from tinyc.text.table import Table

COLUMNS = ("program", "target", "file, bytes", "compile, ms", "load, ms", "compile / load")
TARGETS = "cpu", "sim"
TURNS = 7
PRODUCT = dict.fromkeys("MNK", 256)
#: Prints the seconds from the import of tinyc to the first result of a program.
SECOND_START = f"""
import time
import numpy
start = time.perf_counter()
import tinyc
tinyc.compile({str(EXAMPLES / "softmax.json")!r}).run(X=numpy.ones((4, 8), "float32"))
print(time.perf_counter() - start)
"""


def loading() -> tuple[Table, Figures]:
    """What each example takes, and the figures that have bounds."""
    figures, same = Figures("loading"), True
    rows: list[tuple[str, ...]] = []
    ratios: dict[str, list[float]] = {target: [] for target in TARGETS}
    with tempfile.TemporaryDirectory() as folder:
        for example in BIND:
            for target in TARGETS:
                row, ratio, is_same = _measured(example, target, _file(folder, example, target))
                rows.append(row)
                ratios[target].append(ratio)
                same &= is_same
        for target, found in ratios.items():
            figures.row(f"warm, {target}: compile over load, the least of all examples", min(found), "×", least=10)
        for target in TARGETS:
            source, path = EXAMPLES / "softmax.json", _file(folder, "softmax", target)
            compiling = _cold_seconds(f"tinyc.compile({str(source)!r}, {target!r}, bind={BIND['softmax']})", folder)
            reading = _cold_seconds(f"tinyc.load({str(path)!r})", folder)
            figures.row(f"cold, {target}: softmax compiled", compiling, "s")
            figures.row(f"cold, {target}: softmax loaded", reading, "s")
            figures.row(f"cold, {target}: compile over load", compiling / reading, "×", least=1.5)
        _second_start(figures, folder)
    figures.fact("every loaded model gives the same bits", same, True)
    return Table("models of the examples", COLUMNS, tuple(rows), ""), figures


def _file(folder: str, example: str, target: str) -> Path:
    return Path(folder) / f"{example}_{target}.tinyc"


def _measured(example: str, target: str, path: Path) -> tuple[tuple[str, ...], float, bool]:
    """The row of an example, how much sooner it is loaded than compiled, and whether it gives the same bits."""
    source, bind = EXAMPLES / f"{example}.json", BIND[example]
    model = tinyc.compile(source, target, bind=bind)
    size = model.save(path)
    is_same = _same_bits(model, tinyc.load(path), random_inputs(model.lowering.module("tiny"), 0))
    works = (lambda: tinyc.compile(source, target, bind=bind)), (lambda: tinyc.load(path))
    compiling, reading = map(min, zip(*([seconds(work) for work in works] for _ in range(TURNS)), strict=True))
    times = f"{compiling * 1e3:.1f}", f"{reading * 1e3:.2f}", f"{compiling / reading:.0f} ×"
    return (example, target, str(size), *times), compiling / reading, is_same


def _said_by(code: str, folder: str) -> bytes:
    """What a process prints that runs `code`; the bytecode of what it imports is kept in the folder."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": f"{folder}/bytecode"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return subprocess.check_output([sys.executable, "-c", code], env=environment)


def _cold_seconds(call: str, folder: str) -> float:
    """The seconds of a process that makes a model by `call`."""
    return least_seconds(lambda: _said_by(f"import tinyc; {call}", folder), 3)


def _second_start(figures: Figures, folder: str) -> None:
    """What a program takes that has been compiled before: in a process that has done it, and from nothing."""
    cache = Path(folder) / "cache"
    os.environ["TINYC_CACHE"] = str(cache)
    works = {"compiled": lambda: shutil.rmtree(cache, ignore_errors=True), "taken from the cache": lambda: None}
    for (what, before), bound in zip(works.items(), (0.5, 0.02), strict=True):
        turns: list[float] = []
        for _ in range(TURNS):
            before()
            turns.append(seconds(lambda: tinyc.compile(EXAMPLES / "gemm_bias_relu.json", bind=PRODUCT)))
        figures.row(f"one product of 256³, {what}", min(turns), "s", most=bound)
    turns = [float(_said_by(SECOND_START, folder)) for _ in range(TURNS)]
    figures.row("softmax, compiled before: from numpy to the first result", min(turns), "s", most=0.1)
    os.environ["TINYC_CACHE"] = ""


def _same_bits(one: tinyc.Model, other: tinyc.Model, inputs: dict[str, Any]) -> bool:
    """Whether two models give the same on the same inputs."""
    expected, found = one.run_named(inputs), other.run_named(inputs)
    return {name: array.tobytes() for name, array in expected.items()} == {
        name: array.tobytes() for name, array in found.items()
    }
