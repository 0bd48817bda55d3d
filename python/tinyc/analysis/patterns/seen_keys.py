"""Bounds of the keys that a condition lets count, as masks of attention have them: causal ones, and windows.

In: a condition over rows and keys, and which of its dimensions these are. Out: `KeyBound`s, one for each comparison
that all keys have to pass, of the key's place with a number that only the place of the row changes, and does not lower.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from tinyc.analysis.access import NonScop, trace
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import axes
from tinyc.mlir import ir
from tinyc.vocabulary.attributes import arguments, tensor_type

#: Constants together are at most so large, so that a place and they are numbers of 32 bits.
_LARGEST = 1 << 24
#: Of each dimension of a value, the dimension of the condition along which it lies; None where it is at one place.
_Dims: TypeAlias = tuple[int | None, ...]


@dataclass(frozen=True)
class KeyBound:
    """Keys at places below ``limit - key``, or above it: two values, of which `limit` is of the row.

    Both are to be taken at key 0; `is_upper`: the keys are below. `dims` has the dimension of the condition along which
    each of their dimensions lies; None where it is at its first place.
    """

    limit: ir.Value
    key: ir.Value
    is_upper: bool
    dims: tuple[int | None, ...]


@dataclass(frozen=True)
class _Place:
    """How many times a value has the places of a key and of a row, and at most how far from these it is."""

    key: int
    row: int
    far: int = 0

    @property
    def is_sure(self) -> bool:
        """Whether it is what it says, whatever the places: no number of 32 bits is exceeded."""
        return self.row <= 1 and self.far <= _LARGEST


def key_bounds(condition: ir.Value, row: int, key: int) -> tuple[KeyBound, ...]:
    """The bounds that a condition sets; `row` and `key` are the dimensions of these."""
    return tuple(_bounds(condition, tuple(range(tensor_type(condition.type).rank)), row, key))


def _bounds(condition: ir.Value, dims: _Dims, row: int, key: int) -> Iterator[KeyBound]:
    below = _below(condition, dims, axes.constant(0))
    if below is None:
        return
    op, dims = below
    if isinstance(op, tiny.BinaryOp) and op.row.name == "and":
        yield from _bounds(op.lhs, dims, row, key)
        yield from _bounds(op.rhs, dims, row, key)
    elif isinstance(op, tiny.BinaryOp) and op.row.name == "cmp_lt":
        left, right = (_place(each, dims, row, key) for each in (op.lhs, op.rhs))
        if left is None or right is None or not (left.is_sure and right.is_sure):
            return
        if (left.key, left.row, right.key) == (1, 0, 0):
            yield KeyBound(op.rhs, op.lhs, True, dims)
        elif (right.key, right.row, left.key) == (1, 0, 0):
            yield KeyBound(op.lhs, op.rhs, False, dims)


def _place(value: ir.Value, dims: _Dims, row: int, key: int) -> _Place | None:
    """How a number is made of places; None where it is made of anything else, or has less of a row further on."""
    below = _below(value, dims)
    if below is None:
        return None
    op, dims = below
    element = tensor_type(op.results[0].type).element
    if not (element.is_integer and element.is_signed) or element.bits < 32:
        return None
    if isinstance(op, tiny.ConstOp) and not op.is_stored:
        return _Place(0, 0, abs(int(arguments(op)["value"])))
    if isinstance(op, tiny.IotaOp):
        along = dims[op.axis.value]
        return _Place(int(along == key), int(along == row))
    if isinstance(op, tiny.CastOp):
        return _place(op.operand, dims, row, key)
    if not isinstance(op, tiny.AddOp | tiny.SubOp):
        return None
    left, right = (_place(each, dims, row, key) for each in (op.lhs, op.rhs))
    if left is None or right is None or (isinstance(op, tiny.SubOp) and (right.key or right.row)):
        return None
    return _Place(left.key + right.key, left.row + right.row, left.far + right.far)


def _below(value: ir.Value, dims: _Dims, place: axes.AxisExpr | None = None) -> tuple[ir.OpView, _Dims] | None:
    """The op below the movements of a value, and along which dimensions its result lies.

    None where it does not lie along dimensions as they are, or, where it is at one place, not at the one given.
    """
    access = trace(value)
    if isinstance(access, NonScop) or access.guards or not isinstance(access.source.owner, ir.OpView):
        return None
    found: list[int | None] = []
    for row in access.map:
        alone = axes.plain_axis(row)
        if alone is None and (axes.positions(row) or (place is not None and row != place)):
            return None
        found.append(None if alone is None else dims[alone])
    return access.source.owner, tuple(found)
