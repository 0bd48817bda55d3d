"""Give symbols their values throughout a module.

In: a module whose types have symbolic extents, and a number for some of the symbols. Out: the same module, edited in
place. At the Tiny and Region layers the symbols are gone, and assumptions that have become plain numbers are checked
and taken out. From the GPU layer on they are parameters of the kernels: there the program assumes their values.
"""

from collections.abc import Iterable, Iterator, Mapping

from tinyc.analysis.graphs import body_block, main_function
from tinyc.diagnostics import TinycError, Where
from tinyc.dialects.exec import ops as exec_
from tinyc.dialects.exec.ops import exec_functions
from tinyc.dialects.region.ops import KernelOp, MemRefType, held_tensor, memref_type
from tinyc.dialects.tiny.ops import AssumeOp, ShrinkOp
from tinyc.executors.signature import boundary_of
from tinyc.expr import extents
from tinyc.expr.assumption import Assumption
from tinyc.expr.extents import ExtentError
from tinyc.mlir import func, ir
from tinyc.mlir.locations import where
from tinyc.vocabulary.attributes import assumption_of, decode, extents_attribute, tensor_type, to_type
from tinyc.vocabulary.infer import check_extents
from tinyc.vocabulary.types import TensorType, symbols_of


def bind_symbols(module: ir.Module, bind: Mapping[str, int]) -> None:
    """Replace symbols by numbers in every type and attribute of `module`.

    Raises:
        TinycError: `UnboundSymbol`: `bind` names a symbol that the program does not have; `AssumptionViolated`;
            `InvalidExtent`: the numbers make a size that there cannot be.
    """
    binder = _Binder(bind)
    # Assumptions first: sizes that break one may make no type at all.
    for op in [op for op in _operations(module.operation) if isinstance(op, AssumeOp)]:
        binder.bind_assumption(op)
    for op in _operations(module.operation):
        binder.bind_op(op)
    _check_known(bind, binder.seen)


def require_sizes(module: ir.Module, bind: Mapping[str, int]) -> None:
    """Let the program of a module that has been lowered to kernels assume the values of symbols.

    Raises:
        TinycError: `UnboundSymbol`: `bind` names a symbol that the inputs do not have; `AssumptionViolated`.
    """
    boundary = boundary_of(module)
    _check_known(bind, symbols_of([each.type for each in boundary.signature.inputs]))
    for assumption in boundary.assumptions:
        _check_holds(assumption, _bound(assumption.lhs, bind), _bound(assumption.rhs, bind), bind, Where())
    added = {name: size for name, size in bind.items() if name not in boundary.assumed_sizes}
    hosts, i64 = exec_functions(module), ir.IntegerType.get_signless(64)
    block = hosts[0].regions[0].blocks[0] if hosts else body_block(main_function(module))
    with ir.InsertionPoint.at_block_begin(block):
        for name, size in added.items():
            lhs, predicate = ir.StringAttr.get(name), ir.StringAttr.get("eq")
            if hosts:
                exec_.AssumeOp(lhs=lhs, predicate=predicate, rhs=ir.IntegerAttr.get(i64, size))
            else:
                AssumeOp(lhs=lhs, predicate=predicate, rhs=ir.StringAttr.get(str(size)))


def _check_known(bind: Mapping[str, int], known: Iterable[str]) -> None:
    symbols = list(known)
    unknown = [name for name in bind if name not in symbols]
    if unknown:
        shown = ", ".join(f"'{name}'" for name in symbols) or "none"
        raise TinycError("UnboundSymbol", f"bind: the program has no symbol '{unknown[0]}'; it has {shown}")


def _bound(extent: extents.Dim, bind: Mapping[str, int]) -> extents.Dim:
    """An extent with the numbers in place of its symbols."""
    try:
        return extents.substitute(extent, bind)
    except ExtentError as error:
        message = f"the extent {extent} with {_values(bind)}: {error}; bind other sizes"
        raise TinycError("InvalidExtent", message) from None


def _check_holds(
    assumption: Assumption, lhs: extents.Dim, rhs: extents.Dim, bind: Mapping[str, int], where: Where
) -> bool:
    """Whether an assumption has become one about numbers, which is checked then."""
    if not (isinstance(lhs, int) and isinstance(rhs, int)):
        return False
    if not assumption.relates(lhs, rhs):
        message = f"the program relies on {assumption}, and {_values(bind)} makes it {lhs} and {rhs}"
        raise TinycError("AssumptionViolated", message, where)
    return True


def _values(bind: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in bind.items())


class _Binder:
    def __init__(self, bind: Mapping[str, int]) -> None:
        self.bind = bind
        self.types: dict[ir.Type, ir.Type] = {}
        self.seen: dict[str, None] = {}

    def bind_op(self, op: ir.OpView) -> None:
        for region in op.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    argument.set_type(self._type(argument.type))
        for result in op.results:
            result.set_type(self._type(result.type))
        if isinstance(op, func.FuncOp):
            op.attributes["function_type"] = ir.TypeAttr.get(self._type(op.type))
        elif isinstance(op, ShrinkOp):
            for name in ("lo", "hi"):
                bounds = decode(op.attributes[name])
                op.attributes[name] = extents_attribute([self._extent(bound) for bound in bounds])

    def bind_assumption(self, op: AssumeOp) -> None:
        assumption = assumption_of(op)
        lhs, rhs = self._extent(assumption.lhs), self._extent(assumption.rhs)
        if _check_holds(assumption, lhs, rhs, self.bind, where(op.location)):
            op.erase()
            return
        for name, side in (("lhs", lhs), ("rhs", rhs)):
            op.attributes[name] = ir.StringAttr.get(str(side))

    def _extent(self, extent: extents.Dim) -> extents.Dim:
        self.seen.update(dict.fromkeys(extents.symbols(extent)))
        return _bound(extent, self.bind)

    def _tensor(self, tensor: TensorType) -> TensorType:
        bound = TensorType(tensor.element, tuple(self._extent(extent) for extent in tensor.shape))
        check_extents(bound)
        return bound

    def _type(self, mlir_type: ir.Type) -> ir.Type:
        if mlir_type not in self.types:
            self.types[mlir_type] = self._bound_type(mlir_type)
        return self.types[mlir_type]

    def _bound_type(self, mlir_type: ir.Type) -> ir.Type:
        if isinstance(mlir_type, ir.FunctionType):
            inputs, results = ([self._type(each) for each in types] for types in (mlir_type.inputs, mlir_type.results))
            return ir.FunctionType.get(inputs, results)
        if isinstance(mlir_type, MemRefType):
            return memref_type(self._tensor(held_tensor(mlir_type)))
        return to_type(self._tensor(tensor_type(mlir_type)))


def _operations(inside: ir.Operation | ir.OpView) -> Iterator[ir.OpView]:
    """Every op inside of one, and inside of the functions and kernels there."""
    for region in inside.regions:
        for block in region.blocks:
            for op in list(block.operations):
                yield op
                if isinstance(op, func.FuncOp | KernelOp):
                    yield from _operations(op)
