"""The arguments of a kernel: its buffers, the status buffer if it has one, and the extents.

In: a `gpu.func` at the level of statements, whose buffers are `!region.memref`s. Out: which argument is what, and the
types and attributes of the same arguments for code that knows memory as rows of elements only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tinyc.codegen.scalars import storage_type
from tinyc.dialects.region.ops import MemRefType, held_tensor
from tinyc.dialects.region.verify import block_of, gpu_kernels
from tinyc.dialects.tiny.attributes import to_type
from tinyc.mlir import ir


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
                held = {"tgpu.tensor": ir.TypeAttr.get(to_type(held_tensor(argument.type)))}
            entries.append(ir.DictAttr.get({**given, **held}))
        return ir.ArrayAttr.get(entries)

    def buffers(self, values: Sequence[Any]) -> dict[Any, Any]:
        """Return which of `values`, one for each argument, stands for which buffer."""
        pairs = zip(self.arguments, values, strict=True)
        return {argument: value for argument, value in pairs if isinstance(argument.type, MemRefType)}

    def symbols(self, values: Sequence[Any]) -> dict[str, Any]:
        """Return which of `values` is the extent of which name."""
        pairs = zip(self.attributes, values, strict=True)
        return {given["tgpu.extent"].value: value for given, value in pairs if "tgpu.extent" in given}

    def status(self, values: Sequence[Any]) -> Any | None:
        """Return which of `values` is the status buffer, or None."""
        pairs = zip(self.attributes, values, strict=True)
        return next((value for given, value in pairs if "tgpu.status" in given), None)


def signature_of(function: Any) -> Signature:
    """Return what the arguments of a kernel are."""
    arguments = tuple(block_of(function).arguments)
    attributes = function.operation.attributes
    given = attributes["arg_attrs"] if "arg_attrs" in attributes else [{}] * len(arguments)
    return Signature(arguments, tuple({each.name: each.attr for each in entry} for entry in given))


def kernels(module: Any) -> list[Any]:
    """Return the kernels of statements in a module, in order: those whose buffers are still a region's."""
    return [
        each
        for each in gpu_kernels(module).values()
        if any(isinstance(argument.type, MemRefType) for argument in block_of(each).arguments)
    ]
