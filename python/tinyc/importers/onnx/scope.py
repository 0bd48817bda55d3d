"""The names of one graph: the model's own, a branch's, or a function's body."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import onnx

from tinyc.diagnostics import TinycError
from tinyc.importers.onnx.values import OnnxValue


@dataclass(frozen=True)
class Scope:
    """What names mean, `values`: None is an input of a function that its caller leaves out.

    `versions` are the opsets of the domains, `prefix` is what stands before names of nodes. A branch sees the names of
    `parent`, the graph around it. In a function's body `attributes` are those that the caller gives, and `calls` the
    functions that are being called. `depth` counts the graphs around this one.
    """

    versions: Mapping[str, int]
    prefix: str = ""
    parent: "Scope | None" = None
    attributes: Mapping[str, onnx.AttributeProto] | None = None
    calls: tuple[tuple[str, str, str], ...] = ()
    depth: int = 0
    values: dict[str, OnnxValue | None] = field(default_factory=dict)

    def value(self, name: str) -> OnnxValue | None:
        """What a name means, None where it is left out.

        Raises:
            TinycError: `UnknownSource`.
        """
        scope: Scope | None = self
        while scope is not None:
            if name in scope.values:
                return scope.values[name]
            scope = scope.parent
        if not name:
            return None
        raise TinycError("UnknownSource", f"it reads '{name}', which is no input, and which no node computes")

    def assign(self, names: Sequence[str], values: Sequence[OnnxValue]) -> None:
        """Give the outputs of a node their values.

        Raises:
            TinycError: `InvalidOnnx`: there are not as many.
        """
        for at, name in enumerate(names):
            if name and at >= len(values):
                raise TinycError("InvalidOnnx", f"output {at}, '{name}', is one more than there are; leave it out")
            if name:
                self.values[name] = values[at]

    def attributes_of(self, node: onnx.NodeProto) -> dict[str, onnx.AttributeProto]:
        """The attributes of a node, those of a function's body with what the caller gives in their places.

        Raises:
            TinycError: `InvalidOnnx`: one is there twice, or refers to a function's where there is none.
        """
        found: dict[str, onnx.AttributeProto] = {}
        for each in node.attribute:
            if each.name in found:
                raise TinycError("InvalidOnnx", f"{node.op_type}: the attribute '{each.name}' is given twice")
            if not each.ref_attr_name:
                found[each.name] = each
                continue
            if self.attributes is None:
                message = f"{node.op_type}: the attribute '{each.name}' refers to one of a function, and there is none"
                raise TinycError("InvalidOnnx", message)
            given = self.attributes.get(each.ref_attr_name)
            if given is not None:
                found[each.name] = onnx.AttributeProto()
                found[each.name].CopyFrom(given)
                found[each.name].name = each.name
        return found
