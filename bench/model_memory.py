"""The memory of a process that loads a saved model and runs it once, beside ONNX Runtime's. A part of `models.py`.

Each side is a fresh process: tinyc's loads the file that `model.save` wrote, ONNX Runtime's the `.onnx` file. Both have
one thread, and the same inputs from a file. What counts is the peak of resident memory: with the interpreter and all
libraries, and with the pages of mapped files that are in memory.
"""

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx

from tinyc.driver.array_files import write_arrays
from tinyc.driver.compiled_model import CompiledModel

_WORKER = Path(__file__).with_name("memory_worker.py")


class Peaks(NamedTuple):
    """The most bytes that a process has had: until the model was loaded, and until it had run."""

    loaded: int
    run: int


def peaks(model: onnx.ModelProto, compiled: CompiledModel, inputs: Mapping[str, np.ndarray]) -> tuple[Peaks, Peaks]:
    """What the process of each side takes for a model: tinyc's, ONNX Runtime's.

    Raises:
        subprocess.CalledProcessError: one of them fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        own, theirs, arrays = (Path(folder, f"model.{suffix}") for suffix in ("tinyc", "onnx", "npz"))
        compiled.save(own)
        onnx.save(model, theirs)
        write_arrays(arrays, inputs)
        return _peaks("tinyc", own, arrays), _peaks("onnxruntime", theirs, arrays)


def _peaks(side: str, model: Path, inputs: Path) -> Peaks:
    command = [sys.executable, str(_WORKER), side, str(model), str(inputs)]
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    loaded, run = map(int, answer.split())
    return Peaks(loaded, run)
