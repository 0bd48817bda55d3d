"""Sums of exponentials below a maximum, as softmax has them: both in one pass over a row.

In: a sum, and a maximum of the same row. Out: the c of ``sum(exp2((x - max) * c))``. While a row is read, the sum is
that against the greatest element so far; against another one it is ``exp2((so far - other) * c)`` times as large.
Source: Milakov and Gimelshein, Online normalizer calculation for softmax, 2018.
"""

import math
from typing import TypeGuard

from tinyc.analysis.activation import constant_number
from tinyc.dialects.tiny import ops as tiny
from tinyc.mlir import ir
from tinyc.vocabulary.attributes import tensor_type


def online_scale(total: tiny.ReduceOp, greatest: tiny.ReduceOp) -> float | None:
    """The factor of the exponents that `total` sums up below `greatest`; None where it sums up something else."""
    if greatest.op.value != "max":
        return None
    found = exponents_of(total)
    if found is None:
        return None
    below, scale = found
    if source_of(below.rhs) != greatest.output or _needs(below.lhs, greatest.output):
        return None
    element, accumulator = (tensor_type(value.type).element for value in (total.operand, greatest.output))
    is_precise = element == element.accumulator == accumulator.accumulator
    return scale if is_precise and 0 < scale < math.inf else None


def exponents_of(total: tiny.ReduceOp) -> tuple[tiny.SubOp, float] | None:
    """The difference whose exponentials `total` sums up, and its factor; None where it sums up something else."""
    exponential = total.operand.owner
    if total.op.value != "sum" or not isinstance(exponential, tiny.Exp2Op):
        return None
    exponent, scale = _unscaled(exponential.operand)
    below = exponent.owner
    return (below, scale) if isinstance(below, tiny.SubOp) else None


def source_of(value: ir.Value) -> ir.Value:
    """What a value has the elements of, as they are."""
    op = value.owner
    while (isinstance(op, tiny.MovementOp) and not isinstance(op, tiny.PadOp)) or _widens(op):
        value = op.operand
        op = value.owner
    return value


def unwidened(value: ir.Value) -> ir.Value:
    """What a value is below conversions that round nothing."""
    while _widens(op := value.owner):
        value = op.operand
    return value


def reductions_below(value: ir.Value) -> set[ir.Value]:
    """The results of the reductions that a value is made of, but for those that these are made of."""
    found, seen, pending = set[ir.Value](), set[ir.Value](), [value]
    while pending:
        value = pending.pop()
        op = value.owner
        if isinstance(op, tiny.ReduceOp):
            found.add(value)
        elif value not in seen and isinstance(op, tiny.TinyOp):
            seen.add(value)
            pending.extend(op.operands)
    return found


def _unscaled(value: ir.Value) -> tuple[ir.Value, float]:
    """What a value is the product of with constants, and the product of those."""
    op, scale = value.owner, 1.0
    while isinstance(op, tiny.MulOp):
        left, right = constant_number(op.lhs), constant_number(op.rhs)
        if left is None and right is None:
            break
        value, scale = (op.lhs, scale * right) if right is not None else (op.rhs, scale * (left or 0.0))
        op = value.owner
    return value, scale


def _widens(op: ir.OpView | ir.Block) -> TypeGuard[tiny.CastOp]:
    """Whether an op is a conversion of floats that rounds none."""
    if not isinstance(op, tiny.CastOp):
        return False
    source, result = (tensor_type(each.type).element for each in (op.operand, op.output))
    return result in (source, source.accumulator) and source.is_float


def _needs(value: ir.Value, source: ir.Value) -> bool:
    """Whether a value is computed from `source`."""
    pending, seen = [value], set[ir.Value]()
    while pending:
        value = pending.pop()
        if value == source:
            return True
        op = value.owner
        if value not in seen and isinstance(op, tiny.TinyOp):
            seen.add(value)
            pending.extend(op.operands)
    return False
