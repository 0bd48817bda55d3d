"""ONNX Runtime as another executor of the same model: what `verify` and `bench` compare a target with.

In: the file of an ONNX model, and inputs of it that are fixed. Out: a function from inputs to outputs by name. The
package is imported here only, and only when it is asked for.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tinyc.diagnostics import TinycError, Where
from tinyc.driver.program_text import shown_argument
from tinyc.driver.sources import is_onnx_file

_Arrays = Mapping[str, np.ndarray]


def onnxruntime_run(program: str, constants: Mapping[str, Any]) -> Callable[[_Arrays], dict[str, np.ndarray]]:
    """A run by ONNX Runtime on the CPU, with the threads that it chooses; inputs that it does not take are left out.

    Raises:
        TinycError: `InvalidOption`: the program is no file of an ONNX model; `UnreadableFile`: it is not installed, or
            refuses the model, or, when it runs, the inputs.
    """
    where = Where(file=shown_argument(program))
    if not is_onnx_file(Path(program)):
        message = "--against onnxruntime: it runs files of ONNX models, and this is none; leave it out, or give a .onnx"
        raise TinycError("InvalidOption", message, where)
    try:
        import onnxruntime
    except ModuleNotFoundError:
        message = "--against onnxruntime: it is not installed; python -m pip install onnxruntime"
        raise TinycError("UnreadableFile", message, where) from None
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # what it has against the model is in the exception
    try:
        session = onnxruntime.InferenceSession(program, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its exceptions share no class
        raise TinycError("UnreadableFile", f"onnxruntime refuses the model: {error}", where) from None
    names, taken = [each.name for each in session.get_outputs()], {each.name for each in session.get_inputs()}
    fixed = _typed(constants, {each.name: each.type for each in session.get_inputs()})

    def run(inputs: _Arrays) -> dict[str, np.ndarray]:
        given = {**fixed, **{name: each for name, each in inputs.items() if name in taken}}
        try:
            found: Any = session.run(names, given)
        except Exception as error:
            raise TinycError("UnreadableFile", f"onnxruntime does not run the model: {error}", where) from None
        return dict(zip(names, found, strict=True))

    return run


def _typed(constants: Mapping[str, Any], types: Mapping[str, str]) -> dict[str, np.ndarray]:
    """Values of inputs as arrays of the types that the model says, `tensor(int64)` and the like."""
    spelled = {"float": "float32", "double": "float64"}
    found: dict[str, np.ndarray] = {}
    for name, value in constants.items():
        if name in types:
            element = types[name].removeprefix("tensor(").removesuffix(")")
            found[name] = np.asarray(value, spelled.get(element, element))
    return found
