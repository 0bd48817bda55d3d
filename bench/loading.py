"""What it takes to load a model that was saved, beside what it takes to compile it: every example, on cpu and sim.

    .venv/bin/python bench/loading.py         # bench/results/loading.txt is what it prints

Warm is in a process that has done it before, the least of several runs by turns; cold is a process from nothing to a
model that is ready to run. The simulator keeps the PTX that a process has parsed, so that loading it warm is reading
the file. Ratios are measured side by side. Every loaded model gives the bits of the compiled one.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import tinyc
from figures import Figures, machine, show
from programs.example_bindings import BIND, EXAMPLES
from timing import least_seconds, seconds
from tinyc.executors.random_inputs import random_inputs
from tinyc.text.table import Table

PACKAGES = ("llvmlite", "numba-cuda-mlir", "numpy", "pyelftools")
COLUMNS = ("program", "target", "file, bytes", "compile, ms", "load, ms", "compile / load")


def cold_seconds(call: str) -> float:
    """Return the seconds of a process that makes a model by `call`."""
    return least_seconds(lambda: subprocess.run([sys.executable, "-c", f"import tinyc; {call}"], check=True), 3)


def same_bits(one: tinyc.Model, other: tinyc.Model, inputs: dict) -> bool:
    """Whether two models give the same on the same inputs."""
    expected, found = one.run_named(inputs), other.run_named(inputs)
    return {name: array.tobytes() for name, array in expected.items()} == {
        name: array.tobytes() for name, array in found.items()
    }


def main() -> int:
    """Measure everything, print the tables, and return 1 if a bound is missed."""
    rows: list[tuple[str, ...]] = []
    ratios: dict[str, list[float]] = {"cpu": [], "sim": []}
    figures, same = Figures("loading"), True
    with tempfile.TemporaryDirectory() as folder:
        for example, bind in BIND.items():
            source = EXAMPLES / f"{example}.json"
            for target, found in ratios.items():
                path = Path(folder) / f"{example}_{target}.tinyc"
                model = tinyc.compile(source, target, bind=bind)
                size = model.save(path)
                same &= same_bits(model, tinyc.load(path), random_inputs(model.lowering.module("tiny"), 0))
                works = (lambda s=source, t=target, b=bind: tinyc.compile(s, t, bind=b)), (lambda p=path: tinyc.load(p))
                compiling, loading = map(min, zip(*([seconds(work) for work in works] for _ in range(7)), strict=True))
                found.append(compiling / loading)
                times = f"{compiling * 1e3:.1f}", f"{loading * 1e3:.2f}", f"{compiling / loading:.0f} ×"
                rows.append((example, target, str(size), *times))
        for target, found in ratios.items():
            figures.row(f"warm, {target}: compile over load, the least of all examples", min(found), "×", least=10)
        for target in ratios:
            source, path = EXAMPLES / "softmax.json", Path(folder) / f"softmax_{target}.tinyc"
            compiling = cold_seconds(f"tinyc.compile({str(source)!r}, {target!r}, bind={BIND['softmax']})")
            loading = cold_seconds(f"tinyc.load({str(path)!r})")
            figures.row(f"cold, {target}: softmax compiled", compiling, "s")
            figures.row(f"cold, {target}: softmax loaded", loading, "s")
            figures.row(f"cold, {target}: compile over load", compiling / loading, "×", least=1.5)
    figures.fact("every loaded model gives the same bits", same, True)
    show(machine(PACKAGES), Table("models of the examples", COLUMNS, tuple(rows), ""), figures.table)
    return 1 if figures.missed else 0


if __name__ == "__main__":
    sys.exit(main())
