"""Sums of values weighted by a softmax, as attention has them: which can be divided by the total at their end.

In: a sum over products. Out: a `SoftmaxProduct`, if one of the operands is ``exp2((x - max) * c) / total``, where `max`
and `total` are those of the same row; and 0 instead where a condition says that a key does not count, if its `x` is a
number then. So the products may be summed up while a row is read, as `online_sum` does it for the total. Source: Dao et
al., FlashAttention, 2022.
"""

import math
from dataclasses import dataclass

from tinyc.analysis.access import NonScop, trace
from tinyc.analysis.activation import constant_number
from tinyc.analysis.patterns.contraction import is_summed_product
from tinyc.analysis.patterns.online_sum import exponents_of, online_scale, reductions_below, source_of, unwidened
from tinyc.dialects.tiny import ops as tiny
from tinyc.mlir import ir
from tinyc.vocabulary.attributes import vocabulary_name


@dataclass(frozen=True)
class SoftmaxProduct:
    """A sum over `weights` times `values`: `exponential`, of the row's operand of `greatest`, divided by `total`.

    `is_left` says that the weights are the left operand. Where `seen`, a condition of the shape of the row's operand,
    is false, that is the number `unseen`, and the weight is 0; it is None where every key counts, or is not known.
    """

    weights: ir.Value
    values: ir.Value
    is_left: bool
    exponential: ir.Value
    greatest: tiny.ReduceOp
    total: tiny.ReduceOp
    seen: ir.Value | None
    unseen: float


def softmax_product(product: tiny.ReduceOp) -> SoftmaxProduct | None:
    """The sum that `product` is, if its weights are a softmax."""
    terms = product.operand.owner
    if not isinstance(terms, tiny.MulOp) or not is_summed_product(product):
        return None
    for is_left, weights, values in ((True, terms.lhs, terms.rhs), (False, terms.rhs, terms.lhs)):
        found = _weighted(weights, values, is_left)
        if found is not None:
            return found
    return None


def _weighted(weights: ir.Value, values: ir.Value, is_left: bool) -> SoftmaxProduct | None:
    value, seen, total = source_of(weights), None, None
    op, below = value.owner, source_of
    if isinstance(op, tiny.WhereOp) and constant_number(op.if_false) == 0:
        below = unwidened  # what is seen is at the place of the scores
        seen, value = op.condition, below(op.if_true)
        op = value.owner
    if isinstance(op, tiny.FdivOp):
        value, total = below(op.lhs), source_of(op.rhs).owner
    elif isinstance(op, tiny.MulOp):
        for one, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            inverse = source_of(other).owner
            if isinstance(inverse, tiny.UnaryOp) and vocabulary_name(inverse) == "recip":
                value, total = below(one), source_of(inverse.operand).owner
    if not isinstance(total, tiny.ReduceOp) or total.operand != value:
        return None
    exponents = exponents_of(total)
    greatest = None if exponents is None else source_of(exponents[0].rhs).owner
    if exponents is None or not isinstance(greatest, tiny.ReduceOp) or online_scale(total, greatest) is None:
        return None
    if exponents[0].lhs != greatest.operand:
        return None
    inside = _seen_scores(greatest.operand)
    if seen is None:  # an exponential of -∞ is nothing, unless all of the row are
        inside = inside if inside is not None and inside[1] == -math.inf else (None, 0.0)
    elif inside is None or not math.isfinite(inside[1]) or not _is_same(seen, inside[0]):
        return None
    return SoftmaxProduct(weights, values, is_left, value, greatest, total, *inside)


def _seen_scores(scores: ir.Value) -> tuple[ir.Value, float] | None:
    """Where scores are seen, and the number that they are elsewhere, unless that depends on the scores themselves.

    Those are gone when weights are made.
    """
    op = scores.owner
    if not isinstance(op, tiny.WhereOp) or reductions_below(op.condition) & reductions_below(op.if_true):
        return None
    unseen = constant_number(op.if_false)
    return None if unseen is None else (op.condition, unseen)


def _is_same(one: ir.Value, other: ir.Value) -> bool:
    """Whether two values have the same elements at the same places."""
    if one == other:
        return True
    accesses = trace(one), trace(other)
    return accesses[0] == accesses[1] and not any(isinstance(each, NonScop) for each in accesses)
