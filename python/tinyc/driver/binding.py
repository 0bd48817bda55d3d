"""Give symbols their values throughout a module.

In: a module whose types have symbolic extents, and a number for some of the symbols. Out: the same module, edited in
place. At the Frontend, Tiny and Region layers the symbols are gone, and assumptions that have become plain numbers are
checked and taken out. From the GPU layer on they are parameters of the kernels: there the program assumes their values.
"""

from collections.abc import Iterable, Mapping

from tinyc.analysis.graphs import body_block, main_function
from tinyc.diagnostics import TinycError, Where
from tinyc.dialects.exec import ops as exec_
from tinyc.dialects.exec.ops import exec_functions
from tinyc.dialects.frontend.ops import FrontendOp
from tinyc.dialects.region.bind import SymbolBinder, bound_extent, ops_with_types, shown_sizes
from tinyc.dialects.tiny.ops import AssumeOp
from tinyc.executors.signature import boundary_of
from tinyc.expr import extents
from tinyc.expr.assumption import Assumption
from tinyc.formulas.schema import AttributeKind
from tinyc.mlir import ir
from tinyc.mlir.locations import where
from tinyc.vocabulary.attributes import assumption_of, decode, extents_attribute
from tinyc.vocabulary.types import symbols_of


def bind_symbols(module: ir.Module, bind: Mapping[str, int]) -> None:
    """Replace symbols by numbers in every type and attribute of `module`.

    Raises:
        TinycError: `UnboundSymbol`: `bind` names a symbol that the program does not have; `AssumptionViolated`;
            `InvalidExtent`: the numbers make a size that there cannot be.
    """
    binder = SymbolBinder(bind)
    # Assumptions first: sizes that break one may make no type at all.
    for op in [op for op in ops_with_types(module.operation) if isinstance(op, AssumeOp)]:
        _bind_assumption(op, binder)
    for op in ops_with_types(module.operation):
        binder.bind(op)
        if isinstance(op, FrontendOp):
            _bind_extents(op, binder)
    _check_known(bind, binder.seen)


def _bind_extents(op: FrontendOp, binder: SymbolBinder) -> None:
    """Give symbols their sizes in the attributes of an op that are lists of extents."""
    for name, each in op.schema.attributes.items():
        if each.kind is AttributeKind.DIMS and name in op.attributes:
            bound = [binder.extent(extent) for extent in decode(op.attributes[name])]
            op.attributes[name] = extents_attribute(bound)


def _bind_assumption(op: AssumeOp, binder: SymbolBinder) -> None:
    assumption = assumption_of(op)
    lhs, rhs = binder.extent(assumption.lhs), binder.extent(assumption.rhs)
    if _check_holds(assumption, lhs, rhs, binder.sizes, where(op.location)):
        op.erase()
        return
    for name, side in (("lhs", lhs), ("rhs", rhs)):
        op.attributes[name] = ir.StringAttr.get(str(side))


def require_sizes(module: ir.Module, bind: Mapping[str, int]) -> None:
    """Let the program of a module that has been lowered to kernels assume the values of symbols.

    Raises:
        TinycError: `UnboundSymbol`: `bind` names a symbol that the inputs do not have; `AssumptionViolated`.
    """
    boundary = boundary_of(module)
    _check_known(bind, symbols_of([each.type for each in boundary.signature.inputs]))
    for assumption in boundary.assumptions:
        _check_holds(assumption, bound_extent(assumption.lhs, bind), bound_extent(assumption.rhs, bind), bind, Where())
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


def _check_holds(
    assumption: Assumption, lhs: extents.Dim, rhs: extents.Dim, bind: Mapping[str, int], where: Where
) -> bool:
    """Whether an assumption has become one about numbers, which is checked then."""
    if not (isinstance(lhs, int) and isinstance(rhs, int)):
        return False
    if not assumption.relates(lhs, rhs):
        message = f"the program relies on {assumption}, and {shown_sizes(bind)} makes it {lhs} and {rhs}"
        raise TinycError("AssumptionViolated", message, where)
    return True
