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
from tinyc.diagnostics import TinycError, either
from tinyc.driver.compiled_model import CompiledModel
from tinyc.executors.elements import element_of
from tinyc.importers.onnx.attributes import ONNX_NUMBERS
from tinyc.importers.onnx.model import unknown_inputs
from tinyc.importers.onnx.schemas import NEWEST_OPSET, domain_of
from tinyc.runtime.cuda_driver import require_gpu

_TARGETS = {"CPU": "cpu", "CUDA": "cuda"}


class CompiledRep(BackendRep):
    """A model, compiled; inputs and outputs are in the order of the graph's.

    Where the importer asks for the values of inputs (axes, shapes), the model is compiled at the first run with these
    values, and once for each others.
    """

    def __init__(self, model: onnx.ModelProto, **options: Any) -> None:
        self._model, self._options = model, options
        self._compiled: dict[tuple[Any, ...], CompiledModel] = {}
        self._fixed = unknown_inputs(model)
        defaults = {each.name for each in model.graph.initializer}
        self._inputs = [each.name for each in model.graph.input if each.name not in defaults]
        if not self._fixed:
            self._compiled[()] = self._compile({})

    def _compile(self, constants: dict[str, Any]) -> CompiledModel:
        return tinyc.compile(self._model, constants=constants, **self._options)

    def run(self, inputs: Any, **kwargs: Any) -> tuple[np.ndarray, ...]:
        """Run on one array, a sequence of them, or a mapping by name; the outputs are a named tuple.

        Raises:
            TinycError: as `tinyc.compile` and `Model.run_named`.
        """
        named = _by_name(inputs, self._inputs, "the model takes")
        outputs = self.model_for(named).run_named({k: v for k, v in named.items() if k not in self._fixed})
        return namedtupledict("Outputs", list(outputs))(*outputs.values())

    def model_for(self, inputs: Any) -> CompiledModel:
        """The model, compiled for the values of the inputs that have to be known.

        Raises:
            TinycError: as `tinyc.compile`.
        """
        named = _by_name(inputs, self._inputs, "the model takes")
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
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        """Whether a model is one that tinyc reads, all of its nodes supported, and runs on a device of this machine."""
        try:
            unknown_inputs(model)
        except TinycError:
            return False
        return cls.supports_device(device)

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> CompiledRep:
        """Compile a model for a device.

        Raises:
            TinycError: `UnsupportedTarget`: there is no such device; as `tinyc.compile`.
        """
        return CompiledRep(model, target=_target_of(device), **kwargs)

    @classmethod
    def run_model(cls, model: onnx.ModelProto, inputs: Sequence[Any], device: str = "CPU", **kwargs: Any) -> Any:
        """Compile a model and run it once."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls, node: onnx.NodeProto, inputs: Any, device: str = "CPU", outputs_info: Any = None, **kwargs: Any
    ) -> tuple[np.ndarray, ...]:
        """Compile one node, for the types and shapes of its inputs, and run it; `opset_version` is of its op.

        What `outputs_info` says of the outputs is not needed.

        Raises:
            TinycError: as `prepare` and `CompiledRep.run`; `InputMismatch`: the inputs are not those of the node.
        """
        opset = kwargs.pop("opset_version", 1 if domain_of(node.domain) else NEWEST_OPSET)
        given = _by_name(inputs, [name for name in node.input if name], f"{node.op_type} has")
        named = {name: np.asarray(each) for name, each in given.items()}
        return cls.prepare(_model_of_node(node, named, opset), device, **kwargs).run(named)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether models run on a device: there is a driver and a GPU, where it is one."""
        try:
            if _target_of(device) == "cuda":
                require_gpu()
        except TinycError:
            return False
        return True


def _target_of(device: object) -> str:
    """The target that a device of ONNX means: its kind, and behind a colon its number."""
    kind, _, number = str(device).partition(":")
    if kind not in _TARGETS or number not in ("", "0"):
        message = f"there is no device {device!r}; choose {either(map(repr, _TARGETS))}, which is the first GPU visible"
        raise TinycError("UnsupportedTarget", message)
    return _TARGETS[kind]


def _by_name(inputs: Any, names: Sequence[str], taken: str) -> dict[str, Any]:
    """Inputs by name: a mapping, or an array for each of the names; `taken` begins to say how many there are."""
    if isinstance(inputs, dict):
        return inputs
    given = inputs if isinstance(inputs, list | tuple) else [inputs]
    if len(given) != len(names):
        message = f"the number of inputs is {len(given)}, and {taken} {len(names)}: {', '.join(names) or 'none'}"
        raise TinycError("InputMismatch", f"{message}; give an array for each, or a mapping by name")
    return dict(zip(names, given, strict=True))


def _model_of_node(node: onnx.NodeProto, inputs: dict[str, np.ndarray], opset: int) -> onnx.ModelProto:
    """A model of one node, its inputs typed as arrays are, its outputs as they come."""
    declared = list[onnx.ValueInfoProto]()
    for name, array in inputs.items():
        element = element_of(array.dtype)
        if element is None:
            message = f"input '{name}' is an array of {array.dtype}, which is no element type; convert it"
            raise TinycError("InputMismatch", message)
        declared.append(onnx.helper.make_tensor_value_info(name, ONNX_NUMBERS[element], array.shape))
    outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
    graph = onnx.helper.make_graph([node], node.name or node.op_type, declared, outputs)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid(node.domain, opset)])


prepare = TinycBackend.prepare
run_model = TinycBackend.run_model
run_node = TinycBackend.run_node
is_compatible = TinycBackend.is_compatible
supports_device = TinycBackend.supports_device
