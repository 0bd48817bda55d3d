"""Resizing."""

import math
from collections.abc import Sequence
from fractions import Fraction

import onnx.defs

from tinyc.diagnostics import TinycError
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.importers.onnx.node import Handler, OnnxNode
from tinyc.importers.onnx.values import Tensor

#: What is no ratio of numbers up to this one does not scale a dynamic extent.
_MAX_DENOMINATOR = 64
#: ONNX's word for the policy that keeps no aspect ratio; the glossary has another use for it.
_EACH_AXIS = onnx.defs.get_schema("Resize", 19).attributes["keep_aspect_ratio_policy"].default_value.s.decode()


def _resize(node: OnnxNode) -> Tensor:
    x = node.tensor(0)
    axes = [axis % x.rank for axis in node.attribute("axes", tuple(range(x.rank)))]
    policy = node.attribute("keep_aspect_ratio_policy", _EACH_AXIS)
    shape, scales = list(x.shape), [1.0] * x.rank
    has_sizes = node.has(3) and node.input(3).shape != (0,)
    if has_sizes:
        wanted = node.dims(3)
        for axis, size in zip(axes, wanted, strict=True):
            shape[axis] = size
        if policy != _EACH_AXIS:
            factor = _common_scale(node, policy, [x.shape[axis] for axis in axes], wanted)
            for axis in axes:
                scales[axis] = factor
                shape[axis] = math.floor(factor * _static(node, x.shape[axis]) + 0.5)
    else:
        for axis, scale in zip(axes, node.floats(2), strict=True):
            scales[axis], shape[axis] = scale, _scaled(node, x.shape[axis], scale)
    coordinates = node.attribute("coordinate_transformation_mode", "half_pixel")
    roi = _roi(node, axes, x.rank) if coordinates == "tf_crop_and_resize" else None
    return node.add(
        "resize",
        x,
        shape=tuple(shape),
        scales=tuple(scales) if not has_sizes or policy != _EACH_AXIS else None,
        mode=node.attribute("mode", "nearest"),
        coordinates=coordinates,
        nearest=node.attribute("nearest_mode", "round_prefer_floor"),
        cubic_a=node.attribute("cubic_coeff_a", -0.75),
        antialias=bool(node.attribute("antialias", 0)),
        exclude_outside=bool(node.attribute("exclude_outside", 0)),
        crop=roi,
        extrapolation=node.attribute("extrapolation_value", 0.0),
    )


def _roi(node: OnnxNode, axes: Sequence[int], rank: int) -> tuple[float, ...]:
    """A start for each axis, then an end; axes that are not named are taken whole."""
    given = node.floats(1, count=2 * len(axes))
    starts, ends = [0.0] * rank, [1.0] * rank
    for at, axis in enumerate(axes):
        starts[axis], ends[axis] = given[at], given[at + len(axes)]
    return (*starts, *ends)


def _scaled(node: OnnxNode, extent: Dim, scale: float) -> Dim:
    if isinstance(extent, int):
        return math.floor(extent * scale)
    ratio = Fraction(scale).limit_denominator(_MAX_DENOMINATOR)
    if abs(float(ratio) - scale) > 1e-6 * scale:
        message = f"the dynamic extent {extent} times {scale}; scale by a ratio of small numbers, or bind it: "
        raise node.unsupported(message + extents.bind_option(extent))
    return extents.floordiv(extent * ratio.numerator, ratio.denominator)


def _common_scale(node: OnnxNode, policy: str, given: Sequence[Dim], wanted: Sequence[Dim]) -> float:
    ratios = [_static(node, size) / _static(node, extent) for extent, size in zip(given, wanted, strict=True)]
    if policy not in ("not_larger", "not_smaller"):
        message = f"keep_aspect_ratio_policy is {policy!r}; it is {_EACH_AXIS}, not_larger or not_smaller"
        raise TinycError("InvalidAttribute", message)
    return min(ratios) if policy == "not_larger" else max(ratios)


def _static(node: OnnxNode, extent: Dim) -> int:
    if not isinstance(extent, int):
        message = f"keep_aspect_ratio_policy with the dynamic extent {extent}; use {_EACH_AXIS!r}, or bind it: "
        raise node.unsupported(message + extents.bind_option(extent))
    return extent


def _upsample(node: OnnxNode) -> Tensor:
    """What `Resize` was called before opset 10."""
    x, scales = node.tensor(0), node.floats(1)
    shape = tuple(_scaled(node, extent, scale) for extent, scale in zip(x.shape, scales, strict=True))
    attributes = {"mode": node.attribute("mode", "nearest"), "coordinates": "asymmetric", "nearest": "floor"}
    return node.add("resize", x, shape=shape, scales=scales, **attributes)


HANDLERS: dict[str, Handler] = {"Resize": _resize, "Upsample": _upsample}
