"""One node after another: a handler adds its ops, or what it is made of is imported in its place.

In: a node and the names that it sees. Out: its values; what is wrong with it is raised. A node is folded, handled, or a
function of the model's or of ONNX's, whose body stands in its place, its name before those of the body's nodes. So
does the branch of an `If` whose condition is known.
"""

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx

from tinyc.diagnostics import InternalError, TinycError, Where
from tinyc.importers.onnx.attributes import attribute_value
from tinyc.importers.onnx.folding import fold
from tinyc.importers.onnx.handlers.registry import HANDLERS_BY_TYPE
from tinyc.importers.onnx.model_file import initializer, tensor_array
from tinyc.importers.onnx.node import OnnxNode
from tinyc.importers.onnx.order import node_name, ordered
from tinyc.importers.onnx.program import FrontendProgram
from tinyc.importers.onnx.schemas import (
    OLDEST_OPSET,
    check_node,
    domain_of,
    function_attributes,
    onnx_refusal,
    op_schema,
    opset_versions,
    refused,
    schema_function,
)
from tinyc.importers.onnx.scope import Scope
from tinyc.importers.onnx.values import Known, OnnxValue

#: How deep functions and branches may lie in each other, and how many nodes all of them together may have.
_MAX_DEPTH = 40
_MAX_EXPANDED = 200_000


class NodeImporter:
    """Adds nodes to a program; `functions` are the model's own, by domain, name and overload."""

    def __init__(
        self,
        program: FrontendProgram,
        functions: Sequence[onnx.FunctionProto],
        folder: Path | None,
        filename: str | None,
    ) -> None:
        self.program, self.folder, self.filename = program, folder, filename
        self.functions = {(domain_of(each.domain), each.name, each.overload): each for each in functions}
        self.expanded = 0
        self._sizes: dict[tuple[str, str, str], int] = {}

    def compute(self, proto: onnx.NodeProto, scope: Scope) -> Sequence[OnnxValue]:
        """The outputs of a node.

        Raises:
            TinycError: what is wrong with the node, or not supported.
        """
        name = scope.prefix + node_name(proto)
        where, first = Where(node=name, file=self.filename), len(self.program.types)
        try:
            return self._named(name, self._values(proto, scope, where), first)
        except TinycError as error:
            raise error.at(where) from error.__cause__

    def _named(self, name: str, values: Sequence[OnnxValue], first: int) -> Sequence[OnnxValue]:
        """The outputs of a node, those that are its own called after it; what it adds is numbered from `first` on."""
        found: list[OnnxValue] = []
        for position, value in enumerate(values):
            own = f"{name}#{position}" if position else name
            if isinstance(value, Known):
                found.append(value if value.name is not None else replace(value, name=own))
                continue
            if value.number >= first:
                self.program.names.setdefault(value.number, own)
            found.append(value)
        return found

    def _values(self, proto: onnx.NodeProto, scope: Scope, where: Where) -> Sequence[OnnxValue]:
        inputs = [scope.value(each) for each in proto.input]
        attributes = scope.attributes_of(proto)
        domain = domain_of(proto.domain)
        called = domain, proto.op_type, proto.overload
        if called in self.functions:
            function = self.functions[called]
            given = function_attributes(function, None, attributes)
            return self._call(function, proto, inputs, given, scope, where.node or "")
        if domain:
            raise refused(proto.op_type, domain)
        return self._own_op(proto, inputs, attributes, scope, where)

    def _own_op(
        self,
        proto: onnx.NodeProto,
        inputs: Sequence[OnnxValue | None],
        attributes: Mapping[str, onnx.AttributeProto],
        scope: Scope,
        where: Where,
    ) -> Sequence[OnnxValue]:
        if "" not in scope.versions:
            raise TinycError("InvalidOnnx", f"{proto.op_type}: the model does not say of which opset its ops are")
        version, name = scope.versions[""], where.node or ""
        schema = op_schema(proto.op_type, version)
        check_node(schema, proto, attributes)
        values = {each: _value(proto.op_type, attribute, self.folder) for each, attribute in attributes.items()}
        version = max(version, OLDEST_OPSET)  # an older op is what it has stayed
        node = OnnxNode(self.program, proto.op_type, version, inputs, proto.output, values, where)
        if proto.op_type == "If":
            return self._branch(node, scope, name)
        try:
            handled = _handled(node)
        except TinycError:
            raise
        except MemoryError as error:
            raise TinycError("InvalidOnnx", f"{proto.op_type}: its sizes are out of all range") from error
        except Exception as error:
            # Handlers rely on ranks, lengths and values that ONNX promises: where it does not, the node is to blame.
            reason = onnx_refusal(version, proto, attributes, inputs)
            if reason is None:
                raise _defect(proto.op_type, error) from error
            raise TinycError("InvalidOnnx", f"{proto.op_type} is not as ONNX has it: {reason}") from error
        if handled is not None:
            return handled
        filled = onnx.NodeProto()
        filled.CopyFrom(proto)
        del filled.attribute[:]
        filled.attribute.extend(attributes.values())
        function = schema_function(schema, version, filled, inputs)
        if function is None:
            raise refused(proto.op_type)
        node.asked.update(schema.attributes)
        _check_all_read(node)
        given = function_attributes(function, schema, attributes)
        try:
            return self._call(function, proto, inputs, given, scope, name)
        except InternalError:
            raise
        except TinycError as error:
            message = f"{proto.op_type}, of which ONNX makes other ops: {error.message}"
            raise TinycError(error.name, message) from None

    # --- what stands for a node ---------------------------------------------------------------------------------------

    def body(self, nodes: Sequence[onnx.NodeProto], outputs: Sequence[str], scope: Scope) -> tuple[OnnxValue, ...]:
        """The values of a body's outputs, which are computed by its nodes from what `scope` has."""
        if scope.depth > _MAX_DEPTH:
            message = f"functions and branches lie in each other more than {_MAX_DEPTH} deep"
            raise TinycError("UnsupportedOnnx", message)
        for each in ordered(nodes, outputs, scope.values.keys()):
            self.expanded += 1
            if self.expanded > _MAX_EXPANDED:
                raise _too_many()
            scope.assign(each.output, self.compute(each, scope))
        found = [scope.value(name) for name in outputs]
        if any(each is None for each in found):
            raise TinycError("MissingArgument", "an output is an input that is left out")
        return tuple(each for each in found if each is not None)

    def _call(
        self,
        function: onnx.FunctionProto,
        proto: onnx.NodeProto,
        inputs: Sequence[OnnxValue | None],
        attributes: Mapping[str, onnx.AttributeProto],
        scope: Scope,
        name: str,
    ) -> Sequence[OnnxValue]:
        called = domain_of(proto.domain), proto.op_type, proto.overload
        if called in scope.calls:
            raise TinycError("CyclicGraph", f"the function '{proto.op_type}' calls itself")
        if called in self.functions and self.expanded + self._size(called) > _MAX_EXPANDED:
            raise _too_many()
        if len(inputs) > len(function.input) or len(proto.output) > len(function.output):
            message = f"'{proto.op_type}' has {len(inputs)} inputs and {len(proto.output)} outputs; the function "
            message += f"takes {len(function.input)} and {len(function.output)} at most"
            raise TinycError("InvalidOnnx", message)
        body = Scope(
            opset_versions(function.opset_import) or scope.versions,
            prefix=f"{name}/",
            attributes=attributes,
            calls=(*scope.calls, called),
            depth=scope.depth + 1,
        )
        body.values.update(dict.fromkeys(function.input))
        body.values.update(zip(function.input, inputs, strict=False))
        wanted = [at for at, each in enumerate(proto.output) if each]
        values = self.body(function.node, [function.output[at] for at in wanted], body)
        by_place = dict(zip(wanted, values, strict=True))
        # What nobody wants stands for itself: its place is passed over.
        return [by_place.get(at, values[0]) for at in range(len(proto.output))] if values else ()

    def _size(self, called: tuple[str, str, str], depth: int = 0) -> int:
        """How many nodes a function has with those that it calls; too deep ones are found where they are imported."""
        if called not in self._sizes and depth <= _MAX_DEPTH:
            self._sizes[called] = 1  # a function that calls itself is found where it does
            calls = [(domain_of(each.domain), each.op_type, each.overload) for each in self.functions[called].node]
            self._sizes[called] = sum(
                1 + (self._size(each, depth + 1) if each in self.functions else 0) for each in calls
            )
        return self._sizes.get(called, 1)

    def _branch(self, node: OnnxNode, scope: Scope, name: str) -> Sequence[OnnxValue]:
        branches = {True: node.required("then_branch"), False: node.required("else_branch")}
        graph: onnx.GraphProto = branches[bool(node.known(0, count=1).array.item())]
        body = Scope(scope.versions, f"{name}/", scope, scope.attributes, scope.calls, scope.depth + 1)
        for tensor in graph.initializer:
            body.values[tensor.name] = initializer(tensor, self.folder)
        return self.body(graph.node, [each.name for each in graph.output], body)


def _too_many() -> TinycError:
    return TinycError("UnsupportedOnnx", f"functions and branches have more than {_MAX_EXPANDED} nodes")


def _value(op_type: str, attribute: onnx.AttributeProto, folder: Path | None) -> Any:
    try:
        is_tensor = attribute.type == onnx.AttributeProto.TENSOR
        return tensor_array(attribute.t, folder) if is_tensor else attribute_value(attribute)
    except TinycError as error:
        raise TinycError(error.name, f"{op_type}: attribute '{attribute.name}': {error.message}") from None


def _handled(node: OnnxNode) -> Sequence[OnnxValue] | None:
    """What a node is by itself: folded, or as its handler says; None where its op type has no handler.

    Raises:
        TinycError: what is wrong with it.
    """
    known = fold(node)
    if known is not None and not node.unread:
        return (known,)
    if node.op_type not in HANDLERS_BY_TYPE:
        return None
    result = HANDLERS_BY_TYPE[node.op_type](node)
    _check_all_read(node)
    return result if isinstance(result, tuple) else (result,)


def _defect(op_type: str, error: Exception) -> InternalError:
    """The error for a handler that fails at a node that ONNX allows."""
    at = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(at.filename).name}:{at.lineno}, {at.name}"
    return InternalError(f"the importer of {op_type} failed: {type(error).__name__}: {error} ({place})")


def _check_all_read(node: OnnxNode) -> None:
    """Check that each attribute has been asked for."""
    if node.unread:
        name = node.unread[0]
        raise node.unsupported(f"attribute '{name}' = {node.attribute(name)!r:.80} is not known to it")
