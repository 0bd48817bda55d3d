"""Sizes in the place of symbols: in the types and attributes of Tiny ops, of host functions and of kernels.

In: ops, and numbers for some of the symbols. Out: the same ops, edited in place.
"""

from collections.abc import Iterator, Mapping

from tinyc.diagnostics import TinycError
from tinyc.dialects.region.ops import KernelOp, MemRefType, held_tensor, memref_type
from tinyc.dialects.tiny.ops import ShrinkOp
from tinyc.expr import extents
from tinyc.expr.extents import Dim, ExtentError
from tinyc.mlir import func, ir
from tinyc.vocabulary.attributes import decode, extents_attribute, tensor_type, to_type
from tinyc.vocabulary.infer import check_extents
from tinyc.vocabulary.types import TensorType


def bound_extent(extent: Dim, sizes: Mapping[str, int]) -> Dim:
    """An extent with numbers in the place of its symbols.

    Raises:
        TinycError: `InvalidExtent`: it is no size then.
    """
    try:
        return extents.substitute(extent, sizes)
    except ExtentError as error:
        message = f"the extent {extent} with {shown_sizes(sizes)}: {error}; give other sizes"
        raise TinycError("InvalidExtent", message) from None


def shown_sizes(sizes: Mapping[str, int]) -> str:
    """Sizes as a message has them."""
    return ", ".join(f"{name} = {size}" for name, size in sizes.items())


class SymbolBinder:
    """Gives symbols their `sizes`; `seen` are the symbols that were met.

    What it does raises a TinycError: `InvalidExtent`: the numbers make a size that there cannot be.
    """

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self.sizes = sizes
        self.seen: dict[str, None] = {}
        self._types: dict[ir.Type, ir.Type] = {}

    def bind(self, op: ir.OpView) -> None:
        """Give symbols their sizes in one op, not in those inside of it."""
        for region in op.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    argument.set_type(self.type(argument.type))
        for result in op.results:
            result.set_type(self.type(result.type))
        if isinstance(op, func.FuncOp):
            op.attributes["function_type"] = ir.TypeAttr.get(self.type(op.type))
        elif isinstance(op, ShrinkOp):
            for name in ("lo", "hi"):
                bounds = decode(op.attributes[name])
                op.attributes[name] = extents_attribute([self.extent(bound) for bound in bounds])

    def extent(self, extent: Dim) -> Dim:
        """An extent with the sizes."""
        self.seen.update(dict.fromkeys(extents.symbols(extent)))
        return bound_extent(extent, self.sizes)

    def type(self, mlir_type: ir.Type) -> ir.Type:
        """A type with the sizes."""
        if mlir_type not in self._types:
            self._types[mlir_type] = self._bound_type(mlir_type)
        return self._types[mlir_type]

    def _bound_type(self, mlir_type: ir.Type) -> ir.Type:
        if isinstance(mlir_type, ir.FunctionType):
            inputs, results = ([self.type(each) for each in types] for types in (mlir_type.inputs, mlir_type.results))
            return ir.FunctionType.get(inputs, results)
        if isinstance(mlir_type, MemRefType):
            return memref_type(self._tensor(held_tensor(mlir_type)))
        return to_type(self._tensor(tensor_type(mlir_type)))

    def _tensor(self, tensor: TensorType) -> TensorType:
        bound = TensorType(tensor.element, tuple(self.extent(extent) for extent in tensor.shape))
        check_extents(bound)
        return bound


def ops_with_types(inside: ir.Operation | ir.OpView) -> Iterator[ir.OpView]:
    """Every op inside of one, and inside of the functions and kernels there."""
    for region in inside.regions:
        for block in region.blocks:
            for op in list(block.operations):
                yield op
                if isinstance(op, func.FuncOp | KernelOp):
                    yield from ops_with_types(op)
