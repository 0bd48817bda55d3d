"""Resizing: along each axis a product with the matrix of weights, in f64."""

import math
from collections.abc import Callable

import numpy as np

from tinyc.executors.frontend.elementwise import NumpyFunctions


def _place(index: int, before: int, after: int, scale: float, coordinates: str, start: float, end: float) -> float:
    width = scale * before
    match coordinates:
        case "asymmetric":
            return index / scale
        case "align_corners":
            return 0.0 if width == 1 else index * (before - 1) / (width - 1)
        case "pytorch_half_pixel":
            return 0.0 if width == 1 else (index + 0.5) / scale - 0.5
        case "half_pixel_symmetric":
            return before / 2 * (1 - after / width) + (index + 0.5) / scale - 0.5
        case "tf_crop_and_resize":
            if width == 1:
                return 0.5 * (start + end) * (before - 1)
            return start * (before - 1) + index * (end - start) * (before - 1) / (width - 1)
    return (index + 0.5) / scale - 0.5


def _cubic(distance: float, a: float) -> float:
    if distance < 1:
        return (a + 2) * distance**3 - (a + 3) * distance**2 + 1
    return a * distance**3 - 5 * a * distance**2 + 8 * a * distance - 4 * a if distance < 2 else 0.0


_ROUND: dict[str, Callable[[float], int]] = {
    "floor": math.floor,
    "ceil": math.ceil,
    "round_prefer_floor": lambda at: math.ceil(at - 0.5),
    "round_prefer_ceil": lambda at: math.floor(at + 0.5),
}


def _resize(
    x: np.ndarray,
    shape: tuple[int, ...],
    scales: tuple[float, ...] | None,
    mode: str,
    coordinates: str,
    nearest: str,
    cubic_a: float,
    antialias: bool,
    exclude_outside: bool,
    crop: tuple[float, ...] | None,
    extrapolation: float,
) -> np.ndarray:
    result, outside = x, np.zeros(shape, bool)
    starts, ends = (crop[: x.ndim], crop[x.ndim :]) if crop else ((0.0,) * x.ndim, (1.0,) * x.ndim)
    for axis, (before, after) in enumerate(zip(x.shape, shape, strict=True)):
        scale = scales[axis] if scales else after / before
        places = [_place(at, before, after, scale, coordinates, starts[axis], ends[axis]) for at in range(after)]
        if coordinates == "tf_crop_and_resize":
            beyond = np.array([not 0 <= at <= before - 1 for at in places])
            outside |= beyond.reshape([-1 if each == axis else 1 for each in range(x.ndim)])
        if mode == "nearest":
            rounded = [min(max(_ROUND[nearest](at), 0), before - 1) for at in places]
            result = np.take(result, rounded, axis)
            continue
        shrink = min(1.0, scale) if antialias else 1.0
        matrix = np.zeros((after, before))
        for row, at in enumerate(places):
            reach = math.ceil((1 if mode == "linear" else 2) / shrink) + 1
            for tap in range(math.floor(at) - reach, math.floor(at) + reach + 2):
                distance = abs(tap - at) * shrink
                weight = max(0.0, 1 - distance) if mode == "linear" else _cubic(distance, cubic_a)
                if 0 <= tap < before or not exclude_outside:
                    matrix[row, min(max(tap, 0), before - 1)] += weight
        if antialias or exclude_outside:
            matrix /= matrix.sum(1, keepdims=True)
        result = np.moveaxis(np.tensordot(matrix, result, (1, axis)), 0, axis)
    result = np.trunc(result) if x.dtype.kind in "iu" else result
    return np.where(outside, np.asarray(extrapolation, x.dtype), result.astype(x.dtype))


IN_NUMPY: NumpyFunctions = {"resize": _resize}
