"""tinyc as a backend of ONNX: what `onnx.backend.test` and other tools of `onnx.backend.base` run models by.

    import tinyc.onnx_backend as backend
    outputs = backend.prepare(model, device="CPU").run([x, w])

Needs the package `onnx` (the extra `tinyc[onnx]`). Devices are "CPU" and, where there is a GPU, "CUDA".
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx.backend.base import Backend, BackendRep, namedtupledict

import tinyc
from tinyc.driver.compiled_model import CompiledModel
from tinyc.importers.onnx.model import unknown_inputs

_TARGETS = {"CPU": "cpu", "CUDA": "cuda"}


class CompiledRep(BackendRep):
    """A model, compiled; inputs and outputs are in the order of the graph's.

    Where the importer asks for the values of inputs (axes, shapes), the model is compiled at the first run with these
    values, and once for each others.
    """

    def __init__(self, model: onnx.ModelProto, **options: Any) -> None:
        self._model, self._options = model, options
        self._compiled: dict[tuple[Any, ...], CompiledModel] = {}
        defaults = {each.name for each in model.graph.initializer}
        self._inputs = [each.name for each in model.graph.input if each.name not in defaults]
        self._fixed = unknown_inputs(model)
        if not self._fixed:
            self._compiled[()] = self._compile({})

    def _compile(self, constants: dict[str, Any]) -> CompiledModel:
        return tinyc.compile(self._model, constants=constants, **self._options)

    def run(self, inputs: Any, **kwargs: Any) -> tuple[np.ndarray, ...]:
        """Run on one array, a sequence of them, or a mapping by name; the outputs are a named tuple.

        Raises:
            TinycError: as `tinyc.compile` and `Model.run_named`.
        """
        named = self._by_name(inputs)
        outputs = self.model_for(named).run_named({k: v for k, v in named.items() if k not in self._fixed})
        return namedtupledict("Outputs", list(outputs))(*outputs.values())

    def _by_name(self, inputs: Any) -> dict[str, Any]:
        if isinstance(inputs, np.ndarray):
            inputs = [inputs]
        return inputs if isinstance(inputs, dict) else dict(zip(self._inputs, inputs, strict=True))

    def model_for(self, inputs: Any) -> CompiledModel:
        """The model, compiled for the values of the inputs that have to be known.

        Raises:
            TinycError: as `tinyc.compile`.
        """
        named = self._by_name(inputs)
        while True:
            constants = {name: np.asarray(named[name]) for name in self._fixed if name in named}
            key = tuple((name, each.dtype, each.shape, each.tobytes()) for name, each in constants.items())
            if key in self._compiled:
                return self._compiled[key]
            more = unknown_inputs(self._model, constants=constants) if self._fixed else ()
            if not set(more) <= set(constants) and set(more) <= set(named):
                self._fixed = tuple(dict.fromkeys((*self._fixed, *more)))
            else:
                self._compiled[key] = self._compile(constants)


class TinycBackend(Backend):
    """The backend: `prepare` compiles, through every layer."""

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> CompiledRep:
        """Compile a model for a device.

        Raises:
            TinycError: as `tinyc.compile`.
        """
        return CompiledRep(model, target=_TARGETS[device.partition(":")[0]], **kwargs)

    @classmethod
    def run_model(cls, model: onnx.ModelProto, inputs: Sequence[Any], device: str = "CPU", **kwargs: Any) -> Any:
        """Compile a model and run it once."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether models run on a device."""
        return device.partition(":")[0] in _TARGETS


prepare = TinycBackend.prepare
run_model = TinycBackend.run_model
supports_device = TinycBackend.supports_device
