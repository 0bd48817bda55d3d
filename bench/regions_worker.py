"""The worker of `regions.py`: compiles programs for the CPU with the options of its command line, and runs them.

    regions_worker.py '{"fusion": "none"}'

It is asked first for `{"compile": name, "program": Tiny JSON}`, and then for `{"run": name}`, as often as is wanted.
"""

import dataclasses
import json
import sys
import time
from typing import Any

import numpy as np

import tinyc
from checkout import answer_with
from tinyc.dialects.tiny.to_region import TinyToRegion
from tinyc.executors.random_inputs import random_inputs
from tinyc.expr import extents
from tinyc.runtime.program import Program

#: A program runs so often that one answer takes about that long.
SECONDS = 0.05


class Compiled:
    """A program that is ready to run on random inputs; `count` runs take about `SECONDS`."""

    def __init__(self, source: Any, options: dict[str, Any]) -> None:
        self._model = tinyc.compile(source, **options)
        self.program = self._model.lowering.program()
        self.inputs = random_inputs(self._model.lowering.module("tiny"), 0)
        self.outputs = self.run()
        self.count = 1
        self.count = max(1, round(SECONDS / self.seconds()))

    def run(self) -> dict[str, np.ndarray]:
        """Its outputs."""
        return self._model.run_named(self.inputs)

    def seconds(self) -> float:
        """The seconds of the processor that a run takes."""
        start = time.process_time()
        for _ in range(self.count):
            self.run()
        return (time.process_time() - start) / self.count


def moved_bytes(program: Program) -> int:
    """The bytes of all buffers that kernels read and write, each counted for every kernel that does."""
    sizes = {buffer.name: extents.evaluate(buffer.size, {}) for buffer in program.buffers}
    buffers = [name for kernel in program.kernels for name in (*kernel.reads, *kernel.writes)]
    return sum(sizes[name] for name in buffers)


def main() -> None:
    """Answer."""
    options: dict[str, Any] = json.loads(sys.argv[1])
    taken = {field.name for field in dataclasses.fields(TinyToRegion)}
    compiled: dict[str, Compiled] = {}

    def answer(question: dict[str, Any]) -> Any:
        if "run" in question:
            return compiled[question["run"]].seconds()
        if not options.keys() <= taken:
            return None  # this tinyc has no such option
        found = compiled[question["compile"]] = Compiled(question["program"], options)
        means = [float(np.abs(array.astype(np.float64)).mean()) for array in found.outputs.values()]
        return {"regions": len(found.program.kernels), "bytes": moved_bytes(found.program), "means": means}

    answer_with(answer)


if __name__ == "__main__":
    main()
