"""Where a value's elements come from: access maps through chains of movements.

`trace` follows the movements below a value down to the first value that none defines, and gives the composed map with
the guards that pads leave, or says which op is not affine and why (`NonScop`). IR in, frozen data out.
"""

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tinyc.analysis.index_book.axis_arguments import axis_arguments
from tinyc.analysis.limits import Excess, excess, overflow
from tinyc.analysis.movement import Guard, NotAffine, Read, exact, movement_read
from tinyc.analysis.tiny_ops import producer_of
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import axes
from tinyc.expr.axes import AxisExpr, Index, Shape
from tinyc.expr.extents import ExtentError, is_nonnegative
from tinyc.mlir import ir
from tinyc.vocabulary.attributes import arguments, tensor_type, vocabulary_name

#: The axes of each dimension of a value, where some are split (`index_book.splits.Splits.of`).
DimAxes = Callable[[ir.Value], tuple[Shape, ...]]


@dataclass(frozen=True)
class Access:
    """Element ``(i0, …)`` of a value is ``source[map]``; where guards fail, the value of the first that does."""

    source: ir.Value
    map: Index
    guards: tuple[Guard, ...] = ()

    @property
    def expressions(self) -> tuple[AxisExpr, ...]:
        """The rows of the map, then what the guards bound."""
        return (*self.map, *(guard.expression for guard in self.guards))

    def with_expressions(self, expressions: Sequence[AxisExpr]) -> "Access":
        """The access with other `expressions`, which are in the order of its own."""
        rank = len(self.map)
        pairs = zip(expressions[rank:], self.guards, strict=True)
        guards = tuple(Guard(expression, guard.size, guard.value) for expression, guard in pairs)
        return Access(self.source, tuple(expressions[:rank]), guards)


@dataclass(frozen=True)
class NonScop:
    """The op at which a chain of movements stops being quasi-affine, and why: in words, or what is too much."""

    op: ir.OpView
    cause: str | Excess

    @property
    def reason(self) -> str:
        """Why, in words that do not depend on names, which do not survive as text."""
        return self.about(self.op.name)

    def about(self, name: str) -> str:
        """The reason, with `name` for the op's result."""
        return self.cause if isinstance(self.cause, str) else self.cause.of(f"the access through '{name}'")


def shape_of(value: ir.Value, dims: DimAxes | None) -> Shape:
    """The sizes of the axes of a value: of its dimensions, or of what `dims` splits them into."""
    return tensor_type(value.type).shape if dims is None else tuple(itertools.chain(*dims(value)))


def trace(value: ir.Value, dims: DimAxes | None = None) -> Access | NonScop:
    """How `value` reads the value below all movements; the identity where no movement defines it."""
    access, fault = _follow(value, dims)
    return access if fault is None else fault


def trace_affine(value: ir.Value, dims: DimAxes | None = None) -> Access:
    """How `value` reads the value below its movements, or the result of the first one that is not affine."""
    access, _ = _follow(value, dims)
    return access


def trace_until(value: ir.Value, end: ir.OpView, dims: DimAxes | None = None) -> Access:
    """How `value` reads the result of `end`, or of the first of its movements that is not affine."""
    domain = shape_of(value, dims)
    start = Access(value, axes.identity(domain))
    return extend(start, domain, lambda op: _is_movement(op) and op != end, dims)[0]


def _follow(value: ir.Value, dims: DimAxes | None) -> tuple[Access, NonScop | None]:
    domain = shape_of(value, dims)
    return extend(Access(value, axes.identity(domain)), domain, dims=dims)


def _is_movement(op: ir.OpView) -> bool:
    return isinstance(op, tiny.MovementOp)


def extend(
    access: Access, domain: Shape, enter: Callable[[ir.OpView], bool] = _is_movement, dims: DimAxes | None = None
) -> tuple[Access, NonScop | None]:
    """Continue `access`, whose map runs over the axes of `domain`, through the ops below its source.

    It goes through the ops that `enter` accepts: movements, and element-wise ops of one operand, which read the same
    index. It stops above an op that is not affine, which is the second result. With `dims`, maps are between the axes
    that the dimensions of the values are split into.
    """
    while True:
        op = producer_of(access.source)
        if op is None or not enter(op):
            return access, None
        operand = op.operands[0]
        if not isinstance(op, tiny.MovementOp):
            access = Access(operand, access.map, access.guards)
            continue
        kind, values = vocabulary_name(op), arguments(op)
        if dims is not None:
            values = axis_arguments(kind, values, dims(operand), dims(op.results[0]))
        step = read_movement(kind, values, shape_of(operand, dims), access.map, domain)
        if isinstance(step, str):
            return access, NonScop(op, step)
        try:
            guards = functools.reduce(lambda found, guard: _add_guard(found, guard, domain), step.guards, access.guards)
        except ExtentError as error:
            return access, NonScop(op, str(error))
        alone = access.map == axes.identity(domain) and not access.guards
        # One movement alone is never too complicated: there is nothing to cut.
        too_much = overflow(step.index, guards) if alone else excess(step.index, guards, domain)
        if too_much is not None:
            return access, NonScop(op, too_much)
        access = Access(operand, step.index, guards)


def read_movement(kind: str, values: Mapping[str, Any], operand: Shape, index: Index, domain: Shape) -> Read | str:
    """`movement.read`, or why there is none; remembered, for layers repeat."""
    return _remembered(kind, tuple(sorted(values.items())), exact(values.get("value", 0)), operand, index, domain)


@functools.lru_cache(maxsize=1 << 14)
def _remembered(
    kind: str, values: tuple[tuple[str, Any], ...], fill: Any, operand: Shape, index: Index, domain: Shape
) -> Read | str:
    """`fill` tells apart the values of pads that are equal and not the same."""
    try:
        return movement_read(kind, dict(values), operand, index, domain)
    except (NotAffine, ExtentError) as error:
        return str(error)


def _add_guard(guards: tuple[Guard, ...], guard: Guard, domain: Shape) -> tuple[Guard, ...]:
    """`guards` with `guard` behind them, without those that others imply."""
    if not any(axes.may_leave(guard.expression, guard.size, domain)):
        return guards
    if any(_implies(earlier, guard) for earlier in guards):
        return guards
    # An earlier guard may go only if nothing between gives another value: where it fails, `guard` fails with its value.
    kept = list(guards)
    for position in range(len(kept) - 1, -1, -1):
        if exact(kept[position].value) != exact(guard.value):
            break
        if _implies(guard, kept[position]):
            del kept[position]
    return (*kept, guard)


def _implies(inner: Guard, outer: Guard) -> bool:
    """Whether every element that `inner` lets pass, `outer` does too (False: not known)."""
    distance = outer.expression - inner.expression
    if distance.terms:
        return False
    offset = distance.constant
    return is_nonnegative(offset) and is_nonnegative(outer.size - inner.size - offset)
