"""Attention: a product of queries and keys, scaled and masked, its softmax, and the product of that with values.

The scale is a factor of the scores, of queries, of keys, or of both; the mask is added, or says which scores count. A
row whose scores are all masked is NaN, as the softmax has it, unless the graph puts zeros in place of NaN.
"""

import math

from tinyc.importers.onnx.patterns.language import (
    Captured,
    NumberPattern,
    OpPattern,
    ValuePattern,
    each_of,
    is_along_last_axis,
    maybe_cast,
)
from tinyc.importers.onnx.patterns.rule import FusionRule, Matched
from tinyc.vocabulary.types import TensorType

_Q, _K, _V, _MASK = (Captured(name) for name in ("q", "k", "v", "mask"))
_FACTORS = [NumberPattern("factor") for _ in range(3)]
_DIVISORS = [NumberPattern("divisor") for _ in range(3)]


def _times(x: ValuePattern, place: int) -> ValuePattern:
    """A pattern, or it times a number, or over one."""
    return x * _FACTORS[place] | x / _DIVISORS[place] | x


_TRANSPOSED = OpPattern("movement permute", _K)
_PRODUCT = OpPattern("matmul", _times(_Q, 0), _times(_TRANSPOSED, 1))
_SCORES = maybe_cast(_times(_PRODUCT, 2))
_ADDED = _SCORES + _MASK
_KEPT = OpPattern("where", _MASK, _SCORES, NumberPattern(-math.inf))
_LEFT_OUT = OpPattern("where", _MASK, NumberPattern(-math.inf), _SCORES)
_SOFTMAX = OpPattern("softmax", maybe_cast(_ADDED | _KEPT | _LEFT_OUT | _SCORES), where=is_along_last_axis)
_SAFE = OpPattern("where", each_of("is_nan")(_SOFTMAX), NumberPattern(0.0), _SOFTMAX)
_ATTENTION = OpPattern("matmul", maybe_cast(_SAFE | _SOFTMAX), _V)


def _attention(matched: Matched) -> int | None:
    q, v, root = matched.type(_Q), matched.type(_V), matched.root.types[0]
    keys = _keys(matched)
    if keys is None or not q.element.is_float or not _is_one_type(matched) or not _agree(q, keys[1], v):
        return None
    if matched.has(_MASK) and not _fits(matched.type(_MASK), matched.type(_SCORES)):
        return None
    scale = math.prod(matched.number(each, 1.0) for each in _FACTORS)
    scale /= math.prod(matched.number(each, 1.0) for each in _DIVISORS)
    attended = matched.add(
        "attention",
        _stacked(matched, matched.bound[_Q]),
        _stacked(matched, keys[0]),
        _stacked(matched, matched.bound[_V]),
        _mask(matched),
        scale=scale,
        pad_mask=False,
        zero_unseen=matched.has(_SAFE),
    )
    return matched.reshaped(attended, *root.shape)


def _keys(matched: Matched) -> tuple[int, TensorType] | None:
    """The keys as they stand before the transposition, which exporters join with that of heads and rows."""
    perm = tuple(matched.op(_TRANSPOSED).attributes["perm"])
    order = (*perm[:-2], perm[-1], perm[-2])
    k = matched.bound[_K]
    if len(perm) < 3:
        return None
    if order != tuple(range(len(perm))):
        k = matched.add("movement permute", k, perm=order)
    return k, matched.graph.types[k]


def _is_one_type(matched: Matched) -> bool:
    """Whether operands and result are of one type, and all between is in no smaller one."""
    element = matched.type(_Q).element
    outer = [matched.type(each).element for each in (_K, _V)]
    inner = [matched.type(each).element for each in (_PRODUCT, _SCORES, _SOFTMAX)]
    return all(each is element for each in outer) and all(
        each is element or (each.is_float and each.bits > element.bits) for each in inner
    )


def _agree(q: TensorType, k: TensorType, v: TensorType) -> bool:
    """Whether operands are `[stack, rows, depth]` or `[batch, heads, rows, depth]` of the same, known heads."""
    if not q.rank == k.rank == v.rank or q.rank not in (3, 4):
        return False
    is_known = q.rank == 3 or isinstance(q.shape[1], int)
    return is_known and q.shape[:-2] == k.shape[:-2] == v.shape[:-2] and k.shape[-2] == v.shape[-2]


def _fits(mask: TensorType, scores: TensorType) -> bool:
    """Whether a mask is spread over the scores: each of its axes is one of theirs, or of extent 1."""
    if mask.rank > scores.rank or mask.rank < 1:
        return False
    return all(own in (1, all_of) for own, all_of in zip(mask.shape[::-1], scores.shape[::-1], strict=False))


def _mask(matched: Matched) -> int | None:
    """The mask as attention takes it: bools are true for the scores that count."""
    if not matched.has(_MASK):
        return None
    mask = matched.bound[_MASK]
    if matched.has(_LEFT_OUT):
        mask = matched.add("elementwise not", mask)
    return _stacked(matched, mask) if matched.type(_MASK).rank == matched.type(_Q).rank else mask


def _stacked(matched: Matched, value: int) -> int:
    """A stack of matrices as batches of one head."""
    shape = matched.graph.types[value].shape
    return value if len(shape) != 3 else matched.reshaped(value, shape[0], 1, *shape[1:])


RULES = (FusionRule("attention", _ATTENTION, _attention),)
