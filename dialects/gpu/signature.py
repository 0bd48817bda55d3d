"""The arguments of a kernel: its buffers, the status buffer if it has one, and the extents.

In: a `gpu.func` at the level of statements, whose buffers are `!region.memref`s. Out: which argument is what, and the
types and attributes of the same arguments for code that knows memory as rows of elements only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tinyc.codegen.scalars import storage_type
from tinyc.dialects.region.ops import MemRefType, held_tensor
from tinyc.dialects.tiny.attributes import to_type
from tinyc.mlir import ir

STATUS, EXTENT, NAME, TENSOR = "tgpu.status", "tgpu.extent", "tgpu.name", "tgpu.tensor"


@dataclass(frozen=True)
class Signature:
    """The arguments of one kernel, in order, and the attributes that each has."""

    arguments: tuple[Any, ...]
    attributes: tuple[dict[str, Any], ...]

    def flat_types(self, memory_space: Any | None) -> list[Any]:
        """Return the types of the arguments where a buffer is one row of elements in `memory_space`."""
        return [self._flat_type(argument.type, memory_space) for argument in self.arguments]

    @staticmethod
    def _flat_type(kind: Any, memory_space: Any | None) -> Any:
        if isinstance(kind, MemRefType):
            dynamic = ir.ShapedType.get_dynamic_size()
            return ir.MemRefType.get([dynamic], storage_type(held_tensor(kind).element), memory_space=memory_space)
        if isinstance(kind, ir.MemRefType):
            return ir.MemRefType.get(kind.shape, kind.element_type, memory_space=memory_space)
        return kind

    def flat_attributes(self) -> Any:
        """Return the arguments' attributes, and with each buffer the tensor that it holds."""
        entries = []
        for argument, given in zip(self.arguments, self.attributes, strict=True):
            held = {}
            if isinstance(argument.type, MemRefType):
                held = {TENSOR: ir.TypeAttr.get(to_type(held_tensor(argument.type)))}
            entries.append(ir.DictAttr.get({**given, **held}))
        return ir.ArrayAttr.get(entries)

    def buffers(self, values: Sequence[Any]) -> dict[Any, Any]:
        """Return which of `values`, one for each argument, stands for which buffer."""
        pairs = zip(self.arguments, values, strict=True)
        return {argument: value for argument, value in pairs if isinstance(argument.type, MemRefType)}

    def symbols(self, values: Sequence[Any]) -> dict[str, Any]:
        """Return which of `values` is the extent of which name."""
        pairs = zip(self.attributes, values, strict=True)
        return {given[EXTENT].value: value for given, value in pairs if EXTENT in given}

    def status(self, values: Sequence[Any]) -> Any | None:
        """Return which of `values` is the status buffer, or None."""
        return next((value for given, value in zip(self.attributes, values, strict=True) if STATUS in given), None)


def signature_of(function: Any) -> Signature:
    """Return what the arguments of a kernel are."""
    arguments = tuple(function.operation.regions[0].blocks[0].arguments)
    attributes = function.operation.attributes
    given = attributes["arg_attrs"] if "arg_attrs" in attributes else [{}] * len(arguments)
    return Signature(arguments, tuple({name: entry[name] for name in _names(entry)} for entry in given))


def _names(dictionary: Any) -> list[str]:
    return [dictionary[position].name for position in range(len(dictionary))]


def has_statements(function: Any) -> bool:
    """Say whether a kernel is one of statements: whether its buffers are still those of a region."""
    return any(isinstance(argument.type, MemRefType) for argument in function.operation.regions[0].blocks[0].arguments)


def kernels(module: Any) -> list[Any]:
    """Return the kernels of statements in a module, in order."""
    return [
        function
        for inner in module.body.operations
        if inner.operation.name == "gpu.module"
        for function in inner.operation.regions[0].blocks[0].operations
        if function.operation.name == "gpu.func" and has_statements(function)
    ]
