"""Give symbols their values throughout a Tiny or Region module.

In: a module whose types have symbolic extents, and a number for some of the symbols. Out: the same module, edited in
place, without those symbols; assumptions that have become plain numbers are checked and taken out.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tinyc.analysis import extents
from tinyc.analysis.extents import ExtentError
from tinyc.diagnostics import TinycError
from tinyc.dialects.region.ops import MemRefType, held_tensor, memref_type
from tinyc.dialects.tiny.attributes import decode, extents_attribute, tensor_type, to_type
from tinyc.dialects.tiny.infer import check_extents
from tinyc.dialects.tiny.types import TensorType
from tinyc.dialects.tiny.verify import assumption_of
from tinyc.mlir import ir
from tinyc.text import where


def bind_symbols(module: Any, bind: Mapping[str, int]) -> None:
    """Replace symbols by numbers in every type and attribute of `module`.

    Raises:
        TinycError: `UnboundSymbol`: `bind` names a symbol that the program does not have; `AssumptionViolated`;
            `InvalidExtent`: the numbers make a size that there cannot be.
    """
    _Binder(bind).run(module)


class _Binder:
    def __init__(self, bind: Mapping[str, int]) -> None:
        self.bind = bind
        self.types: dict[Any, Any] = {}
        self.seen: dict[str, None] = {}

    def run(self, module: Any) -> None:
        # Assumptions first: sizes that break one may make no type at all.
        for op in [op for op in _operations(module.operation) if op.operation.name == "tiny.assume"]:
            self._assume(op)
        for op in _operations(module.operation):
            self._op(op)
        unknown = [name for name in self.bind if name not in self.seen]
        if unknown:
            known = ", ".join(f"'{name}'" for name in self.seen) or "none"
            raise TinycError("UnboundSymbol", f"bind: the program has no symbol '{unknown[0]}'; it has {known}")

    def _op(self, op: Any) -> None:
        operation = op.operation
        for region in operation.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    argument.set_type(self._type(argument.type))
        for result in operation.results:
            result.set_type(self._type(result.type))
        if operation.name == "func.func":
            function_type = operation.attributes["function_type"].value
            operation.attributes["function_type"] = ir.TypeAttr.get(self._type(function_type))
        elif operation.name == "tiny.shrink":
            for name in ("lo", "hi"):
                bounds = decode(operation.attributes[name])
                operation.attributes[name] = extents_attribute([self._extent(bound) for bound in bounds])

    def _extent(self, extent: extents.Dim) -> extents.Dim:
        self.seen.update(dict.fromkeys(extents.symbols(extent)))
        try:
            return extents.substitute(extent, self.bind)
        except ExtentError as error:
            values = ", ".join(f"{name} = {value}" for name, value in self.bind.items())
            raise TinycError("InvalidExtent", f"the extent {extent} with {values}: {error}; bind other sizes") from None

    def _tensor(self, tensor: TensorType) -> TensorType:
        bound = TensorType(tensor.element, tuple(self._extent(extent) for extent in tensor.shape))
        check_extents(bound)
        return bound

    def _type(self, mlir_type: Any) -> Any:
        if mlir_type not in self.types:
            self.types[mlir_type] = self._bound_type(mlir_type)
        return self.types[mlir_type]

    def _bound_type(self, mlir_type: Any) -> Any:
        if isinstance(mlir_type, ir.FunctionType):
            inputs, results = ([self._type(each) for each in types] for types in (mlir_type.inputs, mlir_type.results))
            return ir.FunctionType.get(inputs, results)
        if isinstance(mlir_type, MemRefType):
            return memref_type(self._tensor(held_tensor(mlir_type)))
        return to_type(self._tensor(tensor_type(mlir_type)))

    def _assume(self, op: Any) -> None:
        assumption = assumption_of(op)
        lhs, rhs = self._extent(assumption.lhs), self._extent(assumption.rhs)
        if not (isinstance(lhs, int) and isinstance(rhs, int)):
            for name, side in (("lhs", lhs), ("rhs", rhs)):
                op.operation.attributes[name] = ir.StringAttr.get(str(side))
            return
        if not assumption.relates(lhs, rhs):
            values = ", ".join(f"{name} = {value}" for name, value in self.bind.items())
            raise TinycError(
                "AssumptionViolated",
                f"the program relies on {assumption}, and {values} makes it {lhs} and {rhs}",
                where(op.location),
            )
        op.operation.erase()


def _operations(operation: Any) -> Iterator[Any]:
    """Yield every operation inside `operation`."""
    for region in operation.regions:
        for block in region.blocks:
            for op in list(block.operations):
                yield op
                if op.operation.name in ("func.func", "region.kernel"):
                    yield from _operations(op.operation)
