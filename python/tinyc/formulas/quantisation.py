"""Quantisation as formulas: floats to integers by a scale and a zero point, and back.

A scale is one number, a vector along `axis`, or has an element for each block of `block_size` elements along it.
Products of quantised numbers are the ordinary ones of integers from which the zero points are taken off.
"""

from tinyc.diagnostics import TinycError
from tinyc.formulas.elementwise import round_half_even
from tinyc.formulas.schema import Function
from tinyc.formulas.value import Value
from tinyc.vocabulary.element_type import ElementType


def quantize(
    x: Value,
    scale: Value,
    zero_point: Value | None = None,
    *,
    element: ElementType,
    precision: ElementType,
    axis: int = 1,
    block_size: int = 0,
) -> Value:
    """`saturate(round(x / scale) + zero_point)`, half to even; the division is rounded to `precision`."""
    computed = precision if precision.is_float else ElementType.F64  # as exact as a division of integers can be
    wide = computed.accumulator
    divisor = _aligned(scale, x, axis, block_size).to(computed).to(wide)
    quotient = (x.to(computed).to(wide) / divisor).to(computed).to(wide)
    aligned = None if zero_point is None else _aligned(zero_point, x, axis, block_size)
    return _saturated(quotient, aligned, element)


def requantize(x: Value, multiplier: Value, zero_point: Value | None = None, *, element: ElementType) -> Value:
    """`saturate(round(x * multiplier) + zero_point)`, half to even: sums of products as quantised numbers."""
    wide = multiplier.element.accumulator
    return _saturated(x.to(wide) * multiplier.to(wide), zero_point, element)


def dequantize(
    x: Value,
    scale: Value,
    zero_point: Value | None = None,
    *,
    element: ElementType,
    axis: int = 1,
    block_size: int = 0,
) -> Value:
    """`(x - zero_point) * scale`."""
    wide = element.accumulator
    difference = x if zero_point is None else offset(x, _aligned(zero_point, x, axis, block_size))
    return (difference.to(wide) * _aligned(scale, x, axis, block_size).to(wide)).to(element)


def dynamic_quantize(x: Value) -> tuple[Value, Value, Value]:
    """`x` as ui8, its scale and its zero point: the least and the greatest element, and 0, are in the range."""
    wide = x.to(ElementType.F32)
    every = tuple(range(x.rank))
    least, greatest = (wide.reduce(op, *every) if every else wide for op in ("min", "max"))
    least, greatest = least.apply("min", 0.0), greatest.apply("max", 0.0)
    extent = greatest - least
    scale = extent.where(extent > 0, 1.0) / 255.0
    zero_point = round_half_even((-least / scale).apply("max", 0.0).apply("min", 255.0))
    y = (round_half_even(wide / scale) + zero_point).to(ElementType.UI8)
    return y, scale.to(x.element), zero_point.to(ElementType.UI8)


def offset(x: Value, zero_point: Value) -> Value:
    """`x - zero_point` in i32, which holds every difference of small integers."""
    return x.to(ElementType.I32) - zero_point.to(ElementType.I32)


def _saturated(x: Value, zero_point: Value | None, element: ElementType) -> Value:
    """Floats as integers of a type, about a zero point: the cast saturates."""
    rounded = round_half_even(x)
    return (rounded if zero_point is None else rounded + zero_point.to(x.element)).to(element)


def _aligned(scale: Value, x: Value, axis: int, block_size: int) -> Value:
    """A scale, or a zero point, so that it broadcasts with `x`.

    Raises:
        TinycError: `ShapeContradiction`.
    """
    if scale.rank == 0 or scale.shape == (1,):
        return scale.reshape(*(1,) * x.rank)
    axis = x.axis(axis)
    if scale.rank == 1 and not block_size:
        scale.match(0, x, axis)
        return scale.reshape(*(x.shape[axis] if each == axis else 1 for each in range(x.rank)))
    if scale.rank != x.rank or not block_size:
        message = f"the scale {scale.type} is no number, no vector along axis {axis}, and block_size is {block_size}"
        raise TinycError("ShapeContradiction", f"{message}, so that it is not a scale of {x.type}")
    blocks = scale.shape[axis]
    lead, trail = scale.shape[:axis], scale.shape[axis + 1 :]
    repeated = scale.unsqueeze(axis + 1).expand((*lead, blocks, block_size, *trail))
    return repeated.reshape(*lead, blocks * block_size, *trail).slice(axis, 0, x.shape[axis])


FORMULAS: dict[str, Function] = {
    "dequantize": dequantize,
    "dynamic_quantize": dynamic_quantize,
    "quantize": quantize,
    "requantize": requantize,
}
