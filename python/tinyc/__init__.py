"""tinyc: a deep-learning compiler in Python on the MLIR Python bindings.

`tinyc.compile(source, target="cpu")` gives a `Model` to run; `tinyc.pipeline.parse(text).run(module)` runs passes. Both
are imported when they are first asked for, so that ``import tinyc`` costs nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

from tinyc.diagnostics import InternalError, TinycError

if TYPE_CHECKING:
    from tinyc import pipeline
    from tinyc.model import Model, compile, model_free, model_init, model_run

__version__ = "0.1.0"
__all__ = [
    "InternalError",
    "Model",
    "TinycError",
    "compile",
    "model_free",
    "model_init",
    "model_run",
    "pipeline",
]

_MODEL = ("Model", "compile", "model_free", "model_init", "model_run")


def __getattr__(name: str) -> Any:
    if name in _MODEL:
        return getattr(importlib.import_module("tinyc.model"), name)
    if name == "pipeline":
        return importlib.import_module("tinyc.pipeline")
    raise AttributeError(f"module 'tinyc' has no attribute {name!r}")
