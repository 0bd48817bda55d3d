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

_TARGETS = {"CPU": "cpu", "CUDA": "cuda"}


class CompiledRep(BackendRep):
    """A compiled model; inputs and outputs are in the order of the graph's."""

    def __init__(self, model: tinyc.Model) -> None:
        self.model = model

    def run(self, inputs: Any, **kwargs: Any) -> tuple[np.ndarray, ...]:
        """Run on one array, a sequence of them, or a mapping by name; the outputs are a named tuple.

        Raises:
            TinycError: as `Model.run_named`.
        """
        if isinstance(inputs, np.ndarray):
            inputs = [inputs]
        named = inputs if isinstance(inputs, dict) else dict(zip(self.model.inputs, inputs, strict=True))
        outputs = self.model.run_named(named)
        return namedtupledict("Outputs", list(outputs))(*outputs.values())


class TinycBackend(Backend):
    """The backend: `prepare` compiles, through every layer."""

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> CompiledRep:
        """Compile a model for a device.

        Raises:
            TinycError: as `tinyc.compile`.
        """
        return CompiledRep(tinyc.compile(model, target=_TARGETS[device.partition(":")[0]], **kwargs))

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
