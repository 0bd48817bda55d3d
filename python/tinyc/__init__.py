"""tinyc: a deep-learning compiler in Python on the MLIR Python bindings.

`tinyc.compile(source, target="cpu")` gives a `Model` to run; `tinyc.pipeline.parse(text).run(module)` runs passes. Both
are imported when they are first asked for, so that ``import tinyc`` costs nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

from tinyc.diagnostics import InternalError, TinycError

if TYPE_CHECKING:
    from tinyc import pipeline, simulator
    from tinyc.model import Model, compile, model_free, model_init, model_run
    from tinyc.runtime.sim import SimulationError

__version__ = "0.1.0"
__all__ = [
    "InternalError",
    "Model",
    "SimulationError",
    "TinycError",
    "compile",
    "model_free",
    "model_init",
    "model_run",
    "pipeline",
    "simulator",
]

_MODEL = ("Model", "compile", "model_free", "model_init", "model_run")


def __getattr__(name: str) -> Any:
    if name in _MODEL:
        return getattr(importlib.import_module("tinyc.model"), name)
    if name in ("pipeline", "simulator"):
        return importlib.import_module(f"tinyc.{name}")
    if name == "SimulationError":
        return importlib.import_module("tinyc.runtime.sim").SimulationError
    raise AttributeError(f"module 'tinyc' has no attribute {name!r}")
