"""Tiny functions for the tests of this folder, written as one line an op."""

from collections.abc import Mapping
from typing import Any

from tinyc.dialects.registry import context
from tinyc.dialects.tiny.ops import build, to_type
from tinyc.expr import extents
from tinyc.mlir import ir
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType


class Program:
    """A function @main under construction; an attribute builds an op: ``p.relu(x)``, ``p.permute(x, perm=(1, 0))``."""

    def __init__(self, **arguments: str | TensorType) -> None:
        """Take the arguments as ``name="f16 M K"``, element type and extents, or as types."""
        with context(), ir.Location.unknown():
            self.module = ir.Module.create()
            types = {name: tensor(each) if isinstance(each, str) else each for name, each in arguments.items()}
            function_type = ir.TypeAttr.get(ir.FunctionType.get([to_type(t) for t in types.values()], []))
            names = [ir.DictAttr.get({"tiny.name": ir.StringAttr.get(name)}) for name in types]
            with ir.InsertionPoint(self.module.body):
                self.function = ir.Operation.create(
                    "func.func",
                    regions=1,
                    attributes={
                        "sym_name": ir.StringAttr.get("main"),
                        "function_type": function_type,
                        "arg_attrs": ir.ArrayAttr.get(names),
                    },
                ).opview
            self.block = self.function.regions[0].blocks.append(*(to_type(t) for t in types.values()))
            self.arguments: Mapping[str, Any] = dict(zip(types, self.block.arguments, strict=True))

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]

    def op(self, kind: str, /, *operands: Any, name: str | None = None, **values: Any) -> Any:
        """Append the op `tiny.<kind>`, at the location `name`, and return its first result."""
        with context(), ir.Location.name(name) if name else ir.Location.unknown(), ir.InsertionPoint(self.block):
            if isinstance(values.get("shape"), str):
                values["shape"] = tensor(f"f32 {values['shape']}").shape
            if "element" in values:
                values["element"] = ElementType(values["element"])
            return build(kind, list(operands), values).operation.results[0]

    def result(self, *values: Any) -> "Program":
        """Return the values from the function, which is then complete."""
        with context(), ir.Location.unknown():
            with ir.InsertionPoint(self.block):
                ir.Operation.create("func.return", operands=list(values))
            inputs = [argument.type for argument in self.block.arguments]
            function_type = ir.FunctionType.get(inputs, [value.type for value in values])
            self.function.attributes["function_type"] = ir.TypeAttr.get(function_type)
        return self

    def __getattr__(self, kind: str) -> Any:
        return lambda *operands, **values: self.op(kind, *operands, **values)

    @property
    def last_reduce(self) -> Any:
        """The last `tiny.reduce`."""
        (*_, reduce) = (op for op in self.block.operations if op.operation.name == "tiny.reduce")
        return reduce

    def sum(self, operand: Any, *axes: int, element: str = "f32", name: str | None = None) -> Any:
        """Append a `sum` reduce."""
        return self.op("reduce", operand, op="sum", axes=axes, element=element, name=name)


def tensor(text: str) -> TensorType:
    """Return the type written as ``f16 M K``."""
    element, *shape = text.split()
    return TensorType(element, tuple(extents.parse_extent(extent) for extent in shape))


def gemm_bias_relu() -> Program:
    """Return the running example (specification 002), its broadcasts written out."""
    p = Program(X="f16 M K", W="f16 K N", bias="f16 N")
    x = p.reshape(p["X"], shape="M 1 K", name="X1")
    w = p.permute(p.reshape(p["W"], shape="1 K N", name="W1"), perm=(0, 2, 1), name="W2")
    x, w = (p.expand(operand, shape="M N K", broadcast_dimensions=(0, 1, 2)) for operand in (x, w))
    y = p.sum(p.mul(x, w, name="P"), 2, name="Y_fp32")
    b = p.reshape(p["bias"], shape="1 N", name="b1")
    b = p.cast(p.expand(b, shape="M N", broadcast_dimensions=(0, 1)), element="f32")
    relu = p.relu(p.add(y, b, name="Yb"), name="Yr")
    return p.result(p.cast(relu, element="f16", name="Y"))
