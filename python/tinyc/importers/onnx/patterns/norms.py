"""Layer norm and rms norm over the last axes, with or without their scale and bias.

Exporters normalise 16-bit floats in f32 and convert the result before it is scaled; the ops of the Frontend layer do
all of it in f32 and convert once.
"""

from tinyc.expr.extents import Dim
from tinyc.importers.onnx.patterns.language import (
    Captured,
    NumberPattern,
    OpPattern,
    ValuePattern,
    each_of,
    maybe_cast,
    raised,
)
from tinyc.importers.onnx.patterns.program_graph import ProgramGraph
from tinyc.importers.onnx.patterns.rule import FusionRule, Matched
from tinyc.importers.onnx.program import TypedOp

_X, _SCALE, _BIAS, _EPSILON = Captured("x"), Captured("scale"), Captured("bias"), NumberPattern("epsilon")


def _first_axis(graph: ProgramGraph, op: TypedOp) -> int | None:
    """The axis from which on a reduction reduces all axes, None where it does not."""
    rank = graph.types[graph.operands(op)[0]].rank
    axes = op.schema.bind(op.attributes)["axes"]
    every = sorted(axis % rank for axis in (range(rank) if axes is None else axes))
    return every[0] if every and every == list(range(every[0], rank)) else None


def _is_of_last_axes(graph: ProgramGraph, op: TypedOp) -> bool:
    element = graph.types[graph.operands(op)[0]].element
    return element.is_float and _first_axis(graph, op) is not None


def _mean(x: ValuePattern) -> ValuePattern:
    return OpPattern("reduce mean", x, keepdims=True, where=_is_of_last_axes)


def _square(x: ValuePattern) -> ValuePattern:
    return raised(x, 2.0) | x * x


def _over_root(x: ValuePattern, y: ValuePattern) -> ValuePattern:
    """`x / sqrt(y)`, however the division is written."""
    root = each_of("sqrt")(y) | raised(y, 0.5)
    inverse = each_of("recip")(root) | 1.0 / root | raised(y, -0.5) | each_of("rsqrt")(y)
    return x / root | x * inverse


def _scaled(normal: ValuePattern) -> ValuePattern:
    return maybe_cast(normal) * _SCALE


_WIDE = maybe_cast(_X)
_MEAN = _mean(_WIDE)
_CENTRED = maybe_cast(_WIDE - _MEAN)
_VARIANCE = _mean(_square(_CENTRED))
_LAYER = _over_root(_CENTRED, _VARIANCE + _EPSILON)
_MEAN_SQUARE = _mean(_square(_WIDE))
_RMS = _over_root(_WIDE, _MEAN_SQUARE + _EPSILON)


def _axis(matched: Matched, *means: ValuePattern) -> int | None:
    """The first axis that is normalised, None where two means are not over the same ones."""
    axes = {_first_axis(matched.graph, matched.op(each)) for each in means}
    return axes.pop() if len(axes) == 1 else None


def _parameter(matched: Matched, pattern: ValuePattern, axis: int) -> bool:
    """Whether a part is a scale or a bias: of the same element type, and along no axis that is not normalised."""
    kind, x = matched.type(pattern), matched.type(_X)
    outer: tuple[Dim, ...] = kind.shape[: max(0, kind.rank - (x.rank - axis))]
    return kind.element is x.element and kind.rank <= x.rank and all(extent == 1 for extent in outer)


def _is_wide(matched: Matched, normal: ValuePattern) -> bool:
    """Whether nothing in between is in a type that holds less than the operand's."""
    x = matched.type(_X).element
    inner = [matched.type(each).element for each in (_MEAN, _VARIANCE, _MEAN_SQUARE, normal) if matched.has(each)]
    return x.is_float and all(each.is_float and (each is x or each.bits > x.bits) for each in inner)


def _layer_norm(matched: Matched) -> int | None:
    axis = _axis(matched, _MEAN, _VARIANCE)
    parts = [each for each in (_SCALE, _BIAS) if matched.has(each)]
    if axis is None or not _is_wide(matched, _LAYER):
        return None
    if not all(_parameter(matched, each, axis) for each in parts):
        return None
    scale = matched.bound[_SCALE] if matched.has(_SCALE) else matched.one(_X)
    epsilon = matched.number(_EPSILON)
    return matched.add("layer_norm", matched.bound[_X], scale, matched.bound.get(_BIAS), axis=axis, epsilon=epsilon)


def _rms_norm(matched: Matched) -> int | None:
    axis = _axis(matched, _MEAN_SQUARE)
    if axis is None or not _is_wide(matched, _RMS):
        return None
    if matched.has(_SCALE) and not _parameter(matched, _SCALE, axis):
        return None
    scale = matched.bound[_SCALE] if matched.has(_SCALE) else matched.one(_X)
    return matched.add("rms_norm", matched.bound[_X], scale, axis=axis, epsilon=matched.number(_EPSILON))


RULES = (
    FusionRule("layer norm, scale and bias", _scaled(_LAYER) + _BIAS, _layer_norm),
    FusionRule("layer norm, bias", maybe_cast(_LAYER) + _BIAS, _layer_norm),
    FusionRule("layer norm, scale", _scaled(_LAYER), _layer_norm),
    FusionRule("layer norm", OpPattern("cast", _LAYER) | _LAYER, _layer_norm),
    FusionRule("rms norm, scale", _scaled(_RMS), _rms_norm),
    FusionRule("rms norm", OpPattern("cast", _RMS) | _RMS, _rms_norm),
)
