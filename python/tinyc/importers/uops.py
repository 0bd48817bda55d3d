"""One node of a Tiny JSON program to steps: defaults that depend on the operand, repairs, and the Tiny op.

In: a node's resolved arguments (symbols replaced, names of axes replaced) and its operands. Out: the value of its first
result. A node that is faulty in a way that leaves its type clear raises `Recovered`, so that its readers are checked.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tinyc.diagnostics import TinycError, Where
from tinyc.expr import axes, index_map
from tinyc.expr.axes import Axis, AxisExpr
from tinyc.expr.extents import MAX_EXTENT, Dim, Extent
from tinyc.expr.shape_equation import cancel_ends
from tinyc.formulas.steps import Steps
from tinyc.importers.composites import compose_uop
from tinyc.importers.repairs import Immediate, align_operands, require_value_of, same_shape
from tinyc.importers.spellings import BINARY_UOPS, COMPOSITES, Node
from tinyc.importers.written_shapes import expanded_axes, normal_axis
from tinyc.vocabulary.infer.rule import listed
from tinyc.vocabulary.reductions import REDUCTIONS
from tinyc.vocabulary.types import TensorType

_Arguments = dict[str, Any]


class Recovered(Exception):
    """An error in a node whose result has the type `type` nevertheless."""

    def __init__(self, error: TinycError, tensor: TensorType) -> None:
        super().__init__(error, tensor)
        self.error, self.type = error, tensor


def add_node(steps: Steps, node: Node, operands: Sequence[int | Immediate], arguments: _Arguments) -> int:
    """Add the steps of a node that is not an `INPUT` and return its first result.

    Raises:
        TinycError: the broken rule.
        Recovered: the broken rule, where the result's type is clear.
    """
    if node.uop in BINARY_UOPS:
        return _binary(steps, node, operands)
    if node.uop == "WHERE":
        return _where(steps, operands, node.where)
    values = [operand for operand in operands if not isinstance(operand, Immediate)]
    if len(values) != len(operands):
        raise TinycError(
            "InvalidAttribute", f"{node.uop} takes values, not immediate numbers; write a CONST node instead"
        )
    if node.uop in COMPOSITES:
        return compose_uop(node.uop, steps, values, arguments, node.where)
    if node.uop == "REDUCE":
        return _reduce(steps, values[0], arguments, node.where)
    types = [steps.types[value] for value in values]
    if node.uop in _COMPLETE:
        arguments = _COMPLETE[node.uop](arguments, *types)
    return steps.add(node.uop.lower(), values, arguments, node.where)


# --- element-wise -----------------------------------------------------------------------------------------------------


def _binary(steps: Steps, node: Node, operands: Sequence[int | Immediate]) -> int:
    lhs, rhs = align_operands(steps, operands, node.where)
    try:
        return steps.add(node.uop.lower(), (lhs, rhs), {}, node.where)
    except TinycError as error:
        left, right = steps.types[lhs], steps.types[rhs]
        if error.name == "BroadcastMismatch" and left.rank != right.rank:
            raise Recovered(error, max(left, right, key=lambda tensor: tensor.rank)) from None
        raise


def _where(steps: Steps, operands: Sequence[int | Immediate], where: Where) -> int:
    condition, *branches = operands
    if isinstance(condition, Immediate):
        raise TinycError("InvalidAttribute", "the condition of WHERE must be a value, not an immediate number")
    values = align_operands(steps, branches, where)
    return steps.add("where", same_shape(steps, (condition, *values), where), {}, where)


# --- reduce -----------------------------------------------------------------------------------------------------------


def _reduce(steps: Steps, operand: int, arguments: _Arguments, where: Where) -> int:
    """Add a reduce; `init` is one more term."""
    arguments = dict(arguments)
    init = arguments.pop("init", None)
    result = steps.add("reduce", (operand,), arguments, where)
    if init is None:
        return result
    return steps.add(
        REDUCTIONS[arguments["op"]].combine, align_operands(steps, (result, Immediate(init)), where), {}, where
    )


# --- movements --------------------------------------------------------------------------------------------------------


def require_order(source: Sequence[Dim], result: Sequence[Dim]) -> None:
    """Refuse a reshape that only puts symbolic extents into another order: what is meant is a `PERMUTE`.

    Raises:
        TinycError: `NonScop`, since the access is not affine.
    """
    before, after = cancel_ends(source, result)
    if before == after or Counter(before) != Counter(after) or not any(isinstance(n, Extent) for n in before):
        return
    raise TinycError(
        "NonScop",
        f"RESHAPE from {listed(source)} to {listed(result)} keeps the row-major order of the elements and moves no "
        f"axis: reading {listed(before)} as {listed(after)} would scramble the data, and is not an affine access. "
        "Use a PERMUTE to exchange axes, or drop the PERMUTE before it if the axes are in this order without",
    )


def _expand(arguments: _Arguments, operand: TensorType) -> _Arguments:
    """Write `broadcast_dimensions` out: with equal ranks it lists the axes that keep their extent."""
    shape, kept = arguments["shape"], arguments.get("broadcast_dimensions")
    if operand.rank > len(shape):
        raise TinycError(
            "BroadcastMismatch", f"cannot expand {operand} to {listed(shape)}, which has fewer axes; REDUCE or RESHAPE"
        )
    if kept is not None and operand.rank == len(shape):
        _require_kept(operand, shape, kept)
    return {"shape": shape, "broadcast_dimensions": expanded_axes(operand.rank, arguments)}


def _require_kept(operand: TensorType, shape: Sequence[Dim], kept: Sequence[int]) -> None:
    if len(set(kept)) != len(kept) or any(not 0 <= axis < operand.rank for axis in kept):
        raise TinycError(
            "InvalidAxis", f"broadcast_dimensions {list(kept)} must be distinct axes of {operand}, those that are kept"
        )
    for axis, extent in enumerate(operand.shape):
        if axis in kept and extent != shape[axis]:
            raise TinycError(
                "BroadcastMismatch",
                f"broadcast_dimensions {list(kept)} keeps axis {axis}, whose extent is {extent} in {operand} and "
                f"{shape[axis]} in the result {listed(shape)}",
            )
        if axis not in kept and extent != 1:
            raise TinycError(
                "BroadcastMismatch",
                f"axis {axis} of {operand} is not in broadcast_dimensions {list(kept)} and has extent {extent}; only "
                "an extent of 1 can be expanded",
            )


def _pad(arguments: _Arguments, operand: TensorType) -> _Arguments:
    require_value_of(arguments["value"], operand.element)
    lo, hi = tuple(lo for lo, _ in arguments["pad"]), tuple(hi for _, hi in arguments["pad"])
    return {"lo": lo, "hi": hi, "value": arguments["value"]}


def _shrink(arguments: _Arguments, operand: TensorType) -> _Arguments:
    return {"step": (1,) * len(arguments["lo"]), **arguments}


def _pool(arguments: _Arguments, operand: TensorType) -> _Arguments:
    ones = (1,) * len(arguments["kernel"])
    return {"stride": ones, "dilation": ones, **arguments}


def _flip(arguments: _Arguments, operand: TensorType) -> _Arguments:
    return {"axes": tuple(normal_axis(axis, operand.rank) for axis in arguments["axes"])}


def _view(arguments: _Arguments, operand: TensorType) -> _Arguments:
    """Read the index expressions; without any the view is the identity."""
    if not arguments:
        return {"shape": operand.shape, "map": tuple(axes.term(Axis(axis)) for axis in range(operand.rank))}
    for key, name in (("shape", "result_shape"), ("map", "index_map")):
        if key not in arguments:
            raise TinycError("MissingArgument", f"VIEW needs '{name}' in its arg (or no arg: the identity)")
    rank = len(arguments["shape"])
    indices = [index_map.parse_row(e, rank) if isinstance(e, str) else axes.constant(e) for e in arguments["map"]]
    for index in indices:
        _require_small(index)
    return {"shape": arguments["shape"], "map": tuple(indices)}


def _require_small(index: AxisExpr) -> None:
    """Check that every number in an index expression is one of 64 bits."""
    numbers = [index.constant, *(coefficient for _, coefficient in index.terms)]
    divided = [atom for atom, _ in index.terms if not isinstance(atom, Axis)]
    if any(abs(number) > MAX_EXTENT for number in (*numbers, *(atom.divisor for atom in divided))):
        raise TinycError("InvalidAttribute", "an index_map expression has a number beyond 64 bits; use smaller ones")
    for atom in divided:
        _require_small(atom.numerator)


# --- leaves and data-dependent ops ------------------------------------------------------------------------------------


def _const(arguments: _Arguments) -> _Arguments:
    if isinstance(arguments["value"], bool | int | float):
        require_value_of(arguments["value"], arguments["element"])
    return arguments


def _iota(arguments: _Arguments) -> _Arguments:
    return {**arguments, "axis": normal_axis(arguments["axis"], len(arguments["shape"]))}


def _along_axis(arguments: _Arguments, data: TensorType, *others: TensorType) -> _Arguments:
    return {**arguments, "axis": normal_axis(arguments["axis"], data.rank)}


_COMPLETE: Mapping[str, Callable[..., _Arguments]] = {
    "CONST": _const,
    "IOTA": _iota,
    "EXPAND": _expand,
    "PAD": _pad,
    "SHRINK": _shrink,
    "FLIP": _flip,
    "VIEW": _view,
    "POOL": _pool,
    **dict.fromkeys(("GATHER", "SCATTER", "TOPK"), _along_axis),
}
