"""All nodes of a model, one after another: handlers add their ops to one program.

An error stops its node and, silently, whatever reads that node; all others are still looked at. Nodes that no output
needs are left out.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import onnx

from tinyc.diagnostics import InternalError, TinycError, Where, progress
from tinyc.importers.onnx.boundary import InputSizes, check_constants, fixed_value
from tinyc.importers.onnx.importer import NodeImporter
from tinyc.importers.onnx.model_file import check_messages, initializer
from tinyc.importers.onnx.node import OnnxNode
from tinyc.importers.onnx.order import names_read, node_name, ordered
from tinyc.importers.onnx.program import FrontendProgram
from tinyc.importers.onnx.schemas import opset_versions
from tinyc.importers.onnx.scope import Scope
from tinyc.importers.onnx.values import Known, Tensor


class GraphImport:
    """One model; `constants` are the values of inputs that are fixed.

    `failed` are the names whose nodes failed, `errors` what is wrong.
    """

    def __init__(
        self,
        model: onnx.ModelProto,
        bind: Mapping[str, int],
        constants: Mapping[str, Any],
        folder: Path | None,
        filename: str | None,
    ) -> None:
        self.graph, self.constants, self.folder, self.filename = model.graph, constants, folder, filename
        self.program = FrontendProgram()
        self.errors: list[TinycError] = []
        self.failed: set[str] = set()
        self._unsupported: Counter[str] = Counter()
        check_messages(model)
        if model.ir_version > onnx.IR_VERSION:
            message = f"IR version {model.ir_version} is newer than the package onnx {onnx.__version__}, which knows "
            raise TinycError("UnsupportedOnnx", f"{message}{onnx.IR_VERSION}; update it")
        self.scope = Scope(opset_versions(model.opset_import))
        self.sizes = InputSizes(self.graph.input, bind)
        self.importer = NodeImporter(self.program, model.functions, folder, filename)
        self._declared = {each.name: each for each in (*self.graph.value_info, *self.graph.output)}

    def _where(self, name: str | None) -> Where:
        return Where(node=name or None, file=self.filename)

    def run(self) -> FrontendProgram:
        """The finished program.

        Raises:
            TinycError: everything that is wrong with the model, or not supported.
        """
        self._check_names()
        self._initializers()
        self._inputs()
        nodes = ordered(self.graph.node, [each.name for each in self.graph.output], self._given())
        for number, node in enumerate(nodes, 1):
            progress("import, node", number, len(nodes))
            self._node(node)
        self._outputs()
        if self.errors:
            raise TinycError.several([self._counted(each) for each in self.errors])
        return self.program

    # --- the boundary -------------------------------------------------------------------------------------------------

    def _check_names(self) -> None:
        """Check that inputs, initialisers and outputs have names of their own.

        Raises:
            TinycError: `DuplicateId`, `InvalidOnnx`, `UnknownName`.
        """
        for what, values in (
            ("inputs", self.graph.input),
            ("initialisers", self.graph.initializer),
            ("outputs", self.graph.output),
        ):
            names = Counter(each.name for each in values)
            if "" in names:
                raise TinycError("InvalidOnnx", f"one of the {what} has no name")
            twice = next((name for name, count in names.items() if count > 1), None)
            if twice is not None:
                raise TinycError("DuplicateId", f"two {what} are called '{twice}'; rename one", self._where(twice))
        if not self.graph.output:
            raise TinycError("InvalidOnnx", "the graph has no outputs: there is nothing to compute")
        if self.graph.sparse_initializer:
            raise TinycError("UnsupportedOnnx", "sparse initialisers are out of scope; store them dense")
        check_constants(self.constants, [each.name for each in self.graph.input])

    def _given(self) -> set[str]:
        return {each.name for each in (*self.graph.input, *self.graph.initializer)}

    def _initializers(self) -> None:
        for tensor in self.graph.initializer:
            if tensor.name in self.constants:  # it is the default of an input that is fixed
                continue
            try:
                self.scope.values[tensor.name] = initializer(tensor, self.folder)
            except TinycError as error:
                self._fail(error, tensor.name, (tensor.name,))

    def _inputs(self) -> None:
        """The inputs: those whose values are known, by the user or as their defaults, tell the sizes of others."""
        for each in self.graph.input:
            try:
                tensor = self.sizes.input_type(each)
                if each.name in self.constants:
                    value = fixed_value(each.name, self.constants[each.name], tensor.element)
                    self.scope.values[each.name] = value
                value = self.scope.values.get(each.name)
                if isinstance(value, Known):
                    self.sizes.solve(each.name, tensor, value.shape)
                    self.sizes.check_declared(each, value)
            except TinycError as error:
                self._fail(error, each.name, (each.name,))
        for each in self.graph.input:
            if each.name in self.scope.values or each.name in self.failed:
                continue
            try:
                tensor = self.sizes.input_type(each)
                number = self.program.input(each.name, tensor, self._where(each.name))
                self.scope.values[each.name] = Tensor(number, tensor)
            except TinycError as error:
                self._fail(error, each.name, (each.name,))

    def _outputs(self) -> None:
        for each in self.graph.output:
            if each.name in self.failed:
                continue
            where = self._where(each.name)
            try:
                node = OnnxNode(self.program, "output", 0, (self.scope.value(each.name),), (each.name,), {}, where)
                self.program.outputs.append((each.name, node.tensor(0).number))
            except TinycError as error:
                if error.name == "UnknownSource":
                    error = TinycError("UnknownSource", f"output '{each.name}' is computed by no node")
                self._fail(error, each.name, ())

    # --- nodes --------------------------------------------------------------------------------------------------------

    def _node(self, proto: onnx.NodeProto) -> None:
        if any(name in self.failed for name in names_read(proto)):
            self.failed.update(filter(None, proto.output))
            return
        try:
            self.scope.assign(proto.output, self.importer.compute(proto, self.scope))
            for name in proto.output:
                if name in self._declared and (value := self.scope.value(name)) is not None:
                    self.sizes.check_declared(self._declared[name], value)
        except InternalError:
            raise
        except TinycError as error:
            self._fail(error, node_name(proto), proto.output)

    def _fail(self, error: TinycError, name: str, outputs: Sequence[str]) -> None:
        """Note an error, and let what reads the outputs be passed over; what is not supported is one line a kind."""
        self.failed.update(filter(None, outputs))
        if error.name == "UnsupportedOnnx":
            self._unsupported[error.message] += 1
            if self._unsupported[error.message] > 1:
                return
        self.errors.append(error.at(self._where(name)))

    def _counted(self, error: TinycError) -> TinycError:
        """An error with the number of nodes that it is about."""
        count = self._unsupported[error.message]
        return error if count < 2 else TinycError(error.name, f"{error.message} ({count} nodes)", error.where)
