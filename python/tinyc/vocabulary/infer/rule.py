"""What the typing rules share: what a rule takes and gives, and the checks that several of them make.

A rule is a function of the operands' types and the op's arguments that returns the result types, or raises the
`TinycError` of the requirement that does not hold, without a place.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tinyc.diagnostics import TinycError
from tinyc.expr import extents
from tinyc.expr.assumption import Assumption
from tinyc.expr.extents import MAX_EXTENT, MAX_TEXT, Dim
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.elementwise.row import Accepted
from tinyc.vocabulary.types import MAX_RANK, TensorType


@dataclass(frozen=True)
class Inferred:
    """The result types of an op, and what has to hold at run time for them to be right."""

    types: tuple[TensorType, ...]
    assumptions: tuple[Assumption, ...] = ()


Operands = Sequence[TensorType]
Arguments = Mapping[str, Any]
Rule = Callable[[Operands, Arguments], Inferred]


def check_extents(tensor: TensorType) -> None:
    """Raise `InvalidExtent` unless rank, extents and size in bytes are ones that an index can address."""
    if tensor.rank > MAX_RANK:
        raise TinycError("InvalidExtent", f"a tensor of rank {tensor.rank} is not supported; the limit is {MAX_RANK}")
    elements = 1
    for extent in tensor.shape:
        if isinstance(extent, int):
            if not 0 <= extent <= MAX_EXTENT:
                raise TinycError(
                    "InvalidExtent", f"extent {extent} of {tensor} is outside 0 … 2^63 - 1; use a smaller extent"
                )
            elements *= extent or 1
        elif len(str(extent)) > MAX_TEXT:
            raise TinycError("InvalidExtent", f"an extent of {len(str(extent))} characters is too long; bind symbols")
    if elements * tensor.element.size_bytes > MAX_EXTENT:
        raise TinycError(
            "InvalidExtent", f"{tensor} has {elements} elements or more; an index of 64 bits cannot address them"
        )


def typed(element: ElementType, shape: Sequence[Dim], *assumptions: Assumption) -> Inferred:
    """The one result type, and the assumptions that it rests on."""
    return Inferred((TensorType(element, tuple(shape)),), assumptions)


def require_le(small: Dim, large: Dim, error: Callable[[], TinycError]) -> list[Assumption]:
    """Check ``small <= large``: known, refuted (raise `error()`), or an assumption."""
    if extents.is_nonnegative(large - small):
        return []
    if isinstance(large - small, int):
        raise error()
    return [Assumption(small, "le", large)]


def require_kind(operand: TensorType, accepted: Accepted) -> None:
    """Raise `DtypeMismatch` unless the element type is one that the op accepts."""
    if not accepted.holds(operand.element):
        raise TinycError(
            "DtypeMismatch",
            f"the operand is {operand.element.json_name}, and this op takes {accepted.words}; cast it",
        )


def require_same(lhs: TensorType, rhs: TensorType) -> None:
    """Check rules 3.1 and 3.2 of 001: same shape, same element type."""
    if lhs.element != rhs.element:
        raise TinycError(
            "DtypeMismatch",
            f"the operands are {lhs.element.json_name} and {rhs.element.json_name}; cast one of them",
        )
    if lhs.rank != rhs.rank:
        raise TinycError(
            "BroadcastMismatch",
            f"the operands have ranks {lhs.rank} and {rhs.rank} ({lhs} and {rhs}); reshape and expand one as the other",
        )
    for axis, (left, right) in enumerate(zip(lhs.shape, rhs.shape, strict=True)):
        if left != right:
            raise TinycError(
                "BroadcastMismatch",
                f"axis {axis} has extent {left} on the left and {right} on the right ({lhs} and {rhs}); "
                "only an extent of 1 can be expanded",
            )


def listed(shape: Sequence[Dim]) -> str:
    """A shape as messages show it."""
    return f"[{', '.join(map(str, shape))}]"


def require_one_per_axis(what: str, source: TensorType, *entries: Sequence[Any]) -> None:
    """Raise `InvalidAttribute` unless each list has one entry for each axis of `source`."""
    for values in entries:
        if len(values) != source.rank:
            raise TinycError(
                "InvalidAttribute",
                f"{what} has {len(values)} entries for the {source.rank} axes of {source}; give one for each axis",
            )


def check_constant(value: Any, element: ElementType) -> None:
    """Raise `DtypeMismatch` unless the number `value` is one of those of `element`, or rounds to a finite one."""
    if element.is_float:
        if math.inf > abs(value) >= element.overflow:
            shown = repr(value) if abs(value) < 2**128 or isinstance(value, float) else "an integer of many digits"
            raise TinycError(
                "DtypeMismatch",
                f"{shown} is beyond the numbers of {element.json_name}; give a smaller one, an infinity or another "
                "type",
            )
        return
    low, high = element.integer_range
    if not isinstance(value, int) or not low <= value <= high:
        raise TinycError(
            "DtypeMismatch", f"{value!r} is not a value of {element.json_name} ({low} … {high}); change it, or cast"
        )


def require_axes(source: TensorType, axes: Sequence[int]) -> None:
    """Raise `InvalidAxis` unless `axes` are distinct axes of `source`."""
    if len(set(axes)) != len(axes) or any(not 0 <= axis < source.rank for axis in axes):
        raise TinycError(
            "InvalidAxis", f"axes {list(axes)} must be distinct axes of {source}, which has rank {source.rank}"
        )
