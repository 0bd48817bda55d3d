"""A reduction in code: where it starts, what it runs over, and in which type."""

from collections.abc import Sequence
from typing import TypeVar

from tinyc.codegen import scalars
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr.extents import Dim
from tinyc.mlir import ir
from tinyc.vocabulary.attributes import tensor_type
from tinyc.vocabulary.element_type import ElementType

_T = TypeVar("_T")


def accumulator_element(reduction: tiny.ReduceOp) -> ElementType:
    """The element type in which a reduction runs."""
    return tensor_type(reduction.output.type).element.accumulator


def initial(reduction: tiny.ReduceOp) -> ir.Value:
    """Emit the neutral element of a reduction, from which its accumulator starts."""
    return scalars.neutral(reduction.op.value, accumulator_element(reduction))


def reduced_shape(reduction: tiny.ReduceOp) -> tuple[Dim, ...]:
    """The extents of the axes that a reduction removes."""
    shape = tensor_type(reduction.operand.type).shape
    return tuple(shape[axis] for axis in sorted(reduction.axes))


def joined(reduction: tiny.ReduceOp, index: Sequence[_T], removed: Sequence[_T]) -> tuple[_T, ...]:
    """The operand's index from the result's index and the indices along the removed axes."""
    axes = tuple(reduction.axes)
    rank = tensor_type(reduction.operand.type).rank
    kept_indices, removed_indices = iter(index), iter(removed)
    return tuple(next(removed_indices) if axis in axes else next(kept_indices) for axis in range(rank))
