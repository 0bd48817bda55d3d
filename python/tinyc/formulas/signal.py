"""Windows and spectra as formulas.

Transforms are products with matrices of sines that are made of indices: n² operations for n elements. The sines are
f64, of angles whose turns are taken off as integers, so that they are as good at the end of a signal as at its
beginning; they depend on no input, and are computed once.
"""

import math
from collections.abc import Sequence

from tinyc.diagnostics import TinycError
from tinyc.expr.extents import Dim
from tinyc.formulas.padding import stack
from tinyc.formulas.products import matmul
from tinyc.formulas.schema import Function
from tinyc.formulas.value import Builder, Value
from tinyc.vocabulary.element_type import ElementType


def cosine_window(
    *,
    builder: Builder,
    shape: tuple[Dim, ...],
    element: ElementType,
    coefficients: tuple[float, ...],
    periodic: bool = True,
) -> Value:
    """The sum over k of `(-1)^k coefficients[k] cos(2 pi k i / n)`; `n` is the extent if periodic, else one less."""
    if len(shape) != 1 or not coefficients:
        message = f"a window has one axis and some coefficients, not {len(shape)} axes and {list(coefficients)}"
        raise TinycError("ShapeContradiction", message)
    at = builder.iota(ElementType.F64, shape, 0)
    count = builder.extent(shape[0], ElementType.F64)
    turn = at / (count if periodic else (count - 1.0).apply("max", 1.0))
    total = builder.full(coefficients[0], ElementType.F64, shape)
    for k, coefficient in enumerate(coefficients[1:], 1):
        total = total + _cosine(turn * (2 * math.pi * k)) * ((-1) ** k * coefficient)
    return total.to(element)


def triangular_filters(edges: Value, *, bins: int, element: ElementType) -> Value:
    """Filters `[bins, edges - 2]`: filter i rises from `edges[i]` to 1 at `edges[i + 1]`, falls to `edges[i + 2]`."""
    if edges.rank != 1 or not isinstance(edges.shape[0], int) or not edges.element.is_integer or edges.shape[0] < 3:
        raise TinycError("ShapeContradiction", f"edges are a vector of three integers at least, not {edges.type}")
    count = edges.shape[0] - 2
    low, center, high = (edges.slice(0, at, at + count).to(ElementType.F64).unsqueeze(0) for at in range(3))
    place = edges.builder.iota(ElementType.F64, (bins, count), 0)
    one = place.builder.full(1.0, ElementType.F64, (1, count))
    rising = one.where(low.equals(center), (place - low) / (center - low).apply("max", 1.0))
    falling = (high - place) / (high - center).apply("max", 1.0)
    inside = ~(place < low) & (place < high)
    # where a filter has no falling side, its centre is still in it
    weights = falling.where(~(place < center) & (center < high), rising)
    return weights.where(inside | place.equals(center), 0.0).to(element)


def dft(x: Value, *, axis: int = -2, length: int | None = None, inverse: bool = False, onesided: bool = False) -> Value:
    """The discrete Fourier transform of `length` elements along an axis, more of them being 0; n² operations.

    The last axis is the real part, or that and the imaginary part. Forward and `onesided`, the first half and one more
    of the frequencies are given; inverse and `onesided`, they are what is there, and the result is real.
    """
    axis, count = x.axis(axis), x.shape[-1]
    if axis == x.rank - 1 or not isinstance(count, int) or count not in (1, 2):
        message = f"the last axis of {x.type} is for the real and the imaginary part; axis {axis} must be another one"
        raise TinycError("ShapeContradiction", message)
    held = x.shape[axis]
    if length is None:
        if not isinstance(held, int):
            raise TinycError("UnboundSymbol", f"axis {axis} of {x.type} must be a number: bind it, or give a length")
        length = 2 * (held - 1) if inverse and onesided else held
    if length < 1:
        raise TinycError("ShapeContradiction", f"the transform has a length of {length}; it is 1 or more")
    half = length // 2 + 1
    taken = half if inverse and onesided else length
    fitted = x.slice(axis, 0, min(taken, held)) if isinstance(held, int) else x
    if isinstance(held, int) and held < taken:
        fitted = fitted.pad_axis(axis, 0, taken - held)
    order = [each for each in range(x.rank - 1) if each != axis] + [axis]
    parts = [fitted.slice(x.rank - 1, at, at + 1).reshape(*fitted.shape[:-1]) for at in range(count)]
    moved = [each.permute(*order).to(x.element.accumulator) for each in parts]
    if inverse and onesided:
        found = [_real_inverse(moved, length)]
    else:
        found = _transformed(moved, length, half if onesided else length, inverse)
    back = [order.index(each) for each in range(x.rank - 1)]
    return stack([each.permute(*back) for each in found], x.rank - 1).to(x.element)


def stft(x: Value, window: Value | None = None, *, frame_step: int, frame_length: int, onesided: bool = True) -> Value:
    """The transforms of frames of `[batch, time, 1 or 2]`, each times a window: `[batch, frames, frequencies, 2]`."""
    if x.rank != 3 or x.shape[2] not in (1, 2):
        raise TinycError("ShapeContradiction", f"a signal is [batch, time, 1 or 2], not {x.type}")
    frames = x.permute(0, 2, 1).windows((frame_length,), (frame_step,), (1,)).to(x.element.accumulator)
    if window is not None:
        frames = frames * window.to(frames.element)
    return dft(frames.permute(0, 2, 3, 1), axis=2, onesided=onesided).to(x.element)


def _transformed(parts: Sequence[Value], length: int, count: int, inverse: bool) -> list[Value]:
    """Real and imaginary part of `count` elements of a transform along the last axis."""
    cosines, sines = _sinusoids(parts[0], length, length, count)
    sign = 1.0 if inverse else -1.0
    real, imaginary = matmul(parts[0], cosines), matmul(parts[0], sines) * sign
    if len(parts) == 2:
        real = real - matmul(parts[1], sines) * sign
        imaginary = imaginary + matmul(parts[1], cosines)
    return [each / float(length) if inverse else each for each in (real, imaginary)]


def _real_inverse(parts: Sequence[Value], length: int) -> Value:
    """The signal whose frequencies up to the half are given; those beyond are conjugate to them."""
    half = length // 2 + 1
    cosines, sines = _sinusoids(parts[0], length, half, length)
    place = cosines.builder.iota(ElementType.I32, cosines.shape, 0)
    is_single = place.equals(0) | (place * 2).equals(length)
    weight = cosines.builder.full(1 / length, cosines.element, cosines.shape).where(is_single, 2 / length)
    real = matmul(parts[0], cosines * weight)
    return real if len(parts) == 1 else real - matmul(parts[1], sines * weight)


def _sinusoids(like: Value, length: int, rows: int, columns: int) -> tuple[Value, Value]:
    """Cosines and sines of `2 pi i j / length`, `[rows, columns]`."""
    i, j = (like.builder.iota(ElementType.I64, (rows, columns), axis) for axis in (0, 1))
    angle = (i * j).apply("mod", length).to(ElementType.F64) * (2 * math.pi / length)
    return _cosine(angle).to(like.element), angle.apply("sin").to(like.element)


def _cosine(angle: Value) -> Value:
    return (angle + math.pi / 2).apply("sin")


FORMULAS: dict[str, Function] = {
    "cosine_window": cosine_window,
    "dft": dft,
    "stft": stft,
    "triangular_filters": triangular_filters,
}
