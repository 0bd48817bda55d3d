"""Rotary embedding: the halves of the last axis, turned by angles.

Written as `x cos + (-high, low) sin`, where cosines and sines have each angle twice, or half by half.
"""

from collections.abc import Callable

import numpy as np

from tinyc.expr.extents import Dim
from tinyc.importers.onnx.patterns.language import (
    Captured,
    Condition,
    OpPattern,
    ValuePattern,
    each_of,
    is_along_last_axis,
)
from tinyc.importers.onnx.patterns.program_graph import ProgramGraph
from tinyc.importers.onnx.patterns.rule import FusionRule, Matched
from tinyc.importers.onnx.program import TypedConstant, TypedOp
from tinyc.vocabulary.types import TensorType

_X, _COS, _SIN = Captured("x"), Captured("cos"), Captured("sin")


def _is_half(first: bool) -> Condition:
    """Whether a slice is the first or the second half of the last axis, and all of the others."""

    def condition(graph: ProgramGraph, op: TypedOp) -> bool:
        shape = graph.types[graph.operands(op)[0]].shape
        if not shape or not isinstance(shape[-1], int) or shape[-1] % 2:
            return False
        half = shape[-1] // 2
        lo, hi = (0, half) if first else (half, shape[-1])
        given = op.schema.bind(op.attributes)
        wanted = (*((0, extent, 1) for extent in shape[:-1]), (lo, hi, 1))
        return tuple(zip(given["lo"], given["hi"], given["step"], strict=True)) == wanted

    return condition


def _joined(low: ValuePattern, high: ValuePattern) -> ValuePattern:
    return OpPattern("concat", low, high, where=is_along_last_axis)


_LOW, _HIGH = (OpPattern("movement slice", _X, where=_is_half(first)) for first in (True, False))
_MINUS_HIGH = each_of("neg")(_HIGH) | _HIGH * -1.0
_WHOLE = _X * _COS + _joined(_MINUS_HIGH, _LOW) * _SIN
_BY_HALVES = _joined(_LOW * _COS - _HIGH * _SIN, _HIGH * _COS + _LOW * _SIN)


def _rotary(are_halves: bool) -> Callable[[Matched], int | None]:
    def rewrite(matched: Matched) -> int | None:
        x = matched.type(_X)
        if x.rank != 4 or not x.element.is_float:
            return None
        # Heads stand before rows, or behind them.
        for perm in ((0, 1, 2, 3), (0, 2, 1, 3)):
            angles = [_angles(matched, each, perm, are_halves) for each in (_COS, _SIN)]
            if None not in angles:
                is_moved = perm != (0, 1, 2, 3)
                value = matched.bound[_X]
                value = matched.add("movement permute", value, perm=perm) if is_moved else value
                turned = matched.add("rotary_embedding", value, *angles)
                return matched.add("movement permute", turned, perm=perm) if is_moved else turned
        return None

    return rewrite


def _angles(matched: Matched, pattern: ValuePattern, perm: tuple[int, ...], are_halves: bool) -> int | None:
    """A row of numbers for each batch and place, `[batch, rows, depth / 2]`, None where a part is something else."""
    kind, x = matched.type(pattern), matched.type(_X)
    shape: tuple[Dim, ...] = (1,) * (4 - kind.rank) + kind.shape
    if len(shape) != 4 or not isinstance(x.shape[3], int):
        return None
    half = x.shape[3] // 2
    batch, heads, rows, depth = (shape[axis] for axis in perm)
    if heads != 1 or batch not in (1, x.shape[0]) or rows != x.shape[perm[2]]:
        return None
    if depth != (half if are_halves else 2 * half) or kind.element is not x.element:
        return None
    value = matched.bound[pattern]
    if not are_halves:
        if not _repeats_halves(matched.graph, value):
            return None
        hi, zeros, ones = (*kind.shape[:-1], half), (0,) * kind.rank, (1,) * kind.rank
        value = matched.add("movement slice", value, lo=zeros, hi=hi, step=ones)
    return matched.reshaped(value, batch, rows, half)


# --- angles that are there twice --------------------------------------------------------------------------------------


def _repeats_halves(graph: ProgramGraph, value: int) -> bool:
    """Whether the second half of the last axis is the first one again, whatever the inputs are."""
    kind, maker = graph.types[value], graph.makers.get(value)
    if not kind.rank:
        return False
    if kind.shape[-1] == 1:  # it is spread along the axis
        return True
    if isinstance(maker, TypedConstant):
        held = maker.value
        return not isinstance(held, np.ndarray) or _is_twice(held)
    if maker is None:
        return False
    operands = graph.operands(maker)
    if maker.schema.name == "concat":
        return is_along_last_axis(graph, maker) and operands[0] == operands[1]
    if maker.schema.name.startswith("elementwise ") or maker.schema.name in ("cast", "where"):
        return all(not graph.types[each].rank or _repeats_halves(graph, each) for each in operands)
    return _keeps_last_axis(graph.types[operands[0]] if operands else None, maker) and _repeats_halves(
        graph, operands[0]
    )


def _is_twice(array: np.ndarray) -> bool:
    half = array.shape[-1] // 2
    return np.array_equal(array[..., :half], array[..., half:])


def _keeps_last_axis(operand: TensorType | None, op: TypedOp) -> bool:
    """Whether an op only moves rows, each as it is along the last axis."""
    if operand is None or not operand.rank or operand.shape[-1] != op.types[0].shape[-1]:
        return False
    given = op.schema.bind(op.attributes)
    match op.schema.name:
        case "movement reshape" | "movement expand":
            return True
        case "movement slice":
            return given["step"][-1] == 1
        case "movement permute":
            return given["perm"][-1] == operand.rank - 1
        case "gather axis" | "gather embedding":
            return given.get("axis", 0) % operand.rank != operand.rank - 1
        case _:
            return False


RULES = (
    FusionRule("rotary embedding", _WHOLE, _rotary(are_halves=False)),
    FusionRule("rotary embedding by halves", _BY_HALVES, _rotary(are_halves=True)),
)
