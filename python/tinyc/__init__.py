"""tinyc: a deep-learning compiler in Python on the MLIR Python bindings.

`tinyc.compile(source, target="cpu")` gives a `Model` to run, `tinyc.load(path)` one that was saved;
`tinyc.pipeline.parse(text).run(module)` runs passes. All are imported when they are first asked for, so that
``import tinyc`` costs nothing, and `load` works where MLIR is not installed.
"""

import importlib
from typing import TYPE_CHECKING, Any

from tinyc.diagnostics import InternalError, TinycError

if TYPE_CHECKING:
    from tinyc import pipeline, simulator
    from tinyc.driver.compile import compile, model_free, model_init, model_run
    from tinyc.driver.load import load
    from tinyc.driver.model import Model
    from tinyc.runtime.device_array import DeviceArray
    from tinyc.runtime.sim import SimulationError

__version__ = "0.1.0"
__all__ = [
    "DeviceArray",
    "InternalError",
    "Model",
    "SimulationError",
    "TinycError",
    "compile",
    "load",
    "model_free",
    "model_init",
    "model_run",
    "pipeline",
    "simulator",
]

#: Name → the module that has it.
_HOMES = {
    "DeviceArray": "tinyc.runtime.device_array",
    "Model": "tinyc.driver.model",
    "SimulationError": "tinyc.runtime.sim",
    "load": "tinyc.driver.load",
    **dict.fromkeys(("compile", "model_free", "model_init", "model_run"), "tinyc.driver.compile"),
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in ("pipeline", "simulator"):
        return importlib.import_module(f"tinyc.{name}")
    raise AttributeError(f"module 'tinyc' has no attribute {name!r}")
