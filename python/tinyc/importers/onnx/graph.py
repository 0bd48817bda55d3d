"""All nodes of a model, one after another: handlers add their ops to one program.

An error stops its node and, silently, whatever reads that node; all others are still looked at. Nodes that no output
needs are left out.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import onnx

from tinyc.diagnostics import TinycError, Where, progress
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.importers.onnx.attributes import attribute_value, element_of_onnx
from tinyc.importers.onnx.folding import fold
from tinyc.importers.onnx.handlers.registry import HANDLERS_BY_TYPE
from tinyc.importers.onnx.model_file import tensor_array
from tinyc.importers.onnx.node import Node
from tinyc.importers.onnx.program import Program
from tinyc.importers.onnx.values import Known, Tensor, Value
from tinyc.vocabulary.element_type import BY_NAME
from tinyc.vocabulary.types import TensorType

_ELEMENTS = {element.dtype: element for element in BY_NAME.values()}
#: The domains of ONNX's own ops.
_OWN_DOMAINS = ("", "ai.onnx")


class GraphImport:
    """One model; `values` has what each name of the graph means, None where a node failed."""

    def __init__(
        self, model: onnx.ModelProto, bind: Mapping[str, int], folder: Path | None, filename: str | None
    ) -> None:
        self.graph, self.bind, self.folder, self.filename = model.graph, bind, folder, filename
        self.versions = {each.domain: each.version for each in model.opset_import}
        self.program = Program()
        self.values: dict[str, Value | None] = {"": None}
        self.errors: list[TinycError] = []
        self.unsupported: Counter[str] = Counter()
        self.names: set[str] = set()

    def run(self) -> Program:
        """The finished program.

        Raises:
            TinycError: everything that is wrong with the model, or not supported.
        """
        self._initializers()
        self._inputs()
        nodes = _needed(self.graph.node, [each.name for each in self.graph.output])
        for number, node in enumerate(nodes, 1):
            progress("import, node", number, len(nodes))
            self._node(node)
        self._outputs()
        if self.errors:
            raise TinycError.several(self.errors)
        return self.program

    def _where(self, name: str | None) -> Where:
        return Where(node=name or None, file=self.filename)

    # --- the boundary -------------------------------------------------------------------------------------------------

    def _initializers(self) -> None:
        for tensor in self.graph.initializer:
            try:
                array = tensor_array(tensor, self.folder)
                self.values[tensor.name] = Known(array, _ELEMENTS[array.dtype], tensor.name)
            except TinycError as error:
                self._fail(error, tensor.name, (tensor.name,))

    def _inputs(self) -> None:
        for each in self.graph.input:
            if each.name in self.values:  # an initialiser is its default
                continue
            where = self._where(each.name)
            try:
                tensor = self._input_type(each)
                self.values[each.name] = Tensor(self.program.input(each.name, tensor, where), tensor)
            except TinycError as error:
                self._fail(error, each.name, (each.name,))

    def _input_type(self, value: onnx.ValueInfoProto) -> TensorType:
        kind = value.type.WhichOneof("value")
        if kind != "tensor_type":
            described = (kind or "nothing").removesuffix("_type")
            raise TinycError("UnsupportedOnnx", f"input '{value.name}' is a {described}; tinyc takes tensors")
        tensor = value.type.tensor_type
        if not tensor.HasField("shape"):
            raise TinycError("UnsupportedOnnx", f"input '{value.name}' has no shape; state its rank")
        dims = [self._dim(value.name, at, dim) for at, dim in enumerate(tensor.shape.dim)]
        return TensorType(element_of_onnx(tensor.elem_type), tuple(dims))

    def _dim(self, name: str, axis: int, dim: onnx.TensorShapeProto.Dimension) -> Dim:
        """An extent of an input; one without a name gets one."""
        if dim.HasField("dim_value"):
            return dim.dim_value
        text = dim.dim_param or f"{name}_{axis}"
        try:
            extent = extents.parse_extent(text)
        except extents.ExtentError:
            extent = extents.symbol(_identifier(text))
        return extents.substitute(extent, dict(self.bind))

    def _outputs(self) -> None:
        for each in self.graph.output:
            value = self.values.get(each.name)
            if value is None:
                if each.name not in self.values:
                    error = TinycError("InvalidOnnx", f"output '{each.name}' is computed by no node")
                    self._fail(error, each.name, ())
                continue
            where = self._where(each.name)
            node = Node(self.program, "output", 0, (value,), (each.name,), {}, where)
            self.program.outputs.append((each.name, node.tensor(0).number))

    # --- nodes --------------------------------------------------------------------------------------------------------

    def _node(self, proto: onnx.NodeProto) -> None:
        missing = [name for name in proto.input if name and name not in self.values]
        if missing:
            message = (
                f"{proto.op_type} reads '{missing[0]}', which no node before it computes: a cycle, or a typing error"
            )
            self._fail(TinycError("InvalidOnnx", message), _name(proto), proto.output)
            return
        if any(name and self.values[name] is None for name in proto.input):
            self.values.update(dict.fromkeys((name for name in proto.output if name), None))
            return
        try:
            outputs = self._computed(proto)
        except TinycError as error:
            self._fail(error, _name(proto), proto.output)
            return
        for name, value in zip(proto.output, outputs, strict=False):
            if name:
                self.values[name] = value

    def _computed(self, proto: onnx.NodeProto) -> Sequence[Value]:
        attributes = {each.name: attribute_value(each) for each in proto.attribute}
        inputs = [self.values[name] for name in proto.input]
        domain = proto.domain if proto.domain not in _OWN_DOMAINS else ""
        version = self.versions.get(domain, self.versions.get("ai.onnx", 1))
        node = Node(self.program, proto.op_type, version, inputs, proto.output, attributes, self._where(_name(proto)))
        known = fold(node)
        if known is not None:
            return (known,)
        if domain or proto.op_type not in HANDLERS_BY_TYPE:
            kind = f"{domain}.{proto.op_type}" if domain else proto.op_type
            raise TinycError("UnsupportedOnnx", f"tinyc has no op {kind}")
        result = HANDLERS_BY_TYPE[proto.op_type](node)
        if node.unread:
            given = attributes[node.unread[0]]
            raise node.unsupported(f"attribute '{node.unread[0]}' = {given!r} is not known to it")
        return result if isinstance(result, tuple) else (result,)

    def _fail(self, error: TinycError, name: str, outputs: Sequence[str]) -> None:
        """Note an error, and let what reads the outputs be passed over; what is not supported is one line a kind."""
        self.values.update(dict.fromkeys((each for each in outputs if each), None))
        if error.name == "UnsupportedOnnx":
            self.unsupported[error.message] += 1
            if self.unsupported[error.message] > 1:
                return
        self.errors.append(error.at(self._where(name)))


def _name(proto: onnx.NodeProto) -> str:
    """What a node is called: its name, or its first output."""
    return proto.name or next((name for name in proto.output if name), proto.op_type)


def _identifier(text: str) -> str:
    """A symbol for the name of an axis, which may be any text."""
    cleaned = "".join(each if each.isascii() and (each.isalnum() or each == "_") else "_" for each in text)
    return cleaned if cleaned[:1].isalpha() else f"d{cleaned}"


def _needed(nodes: Sequence[onnx.NodeProto], outputs: Sequence[str]) -> list[onnx.NodeProto]:
    """The nodes that outputs need, in their order."""
    wanted = set(outputs)
    kept: list[onnx.NodeProto] = []
    for node in reversed(nodes):
        if wanted & set(node.output):
            wanted.update(node.input)
            kept.append(node)
    return kept[::-1]
