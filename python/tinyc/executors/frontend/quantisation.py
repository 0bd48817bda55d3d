"""Quantisation, in f64."""

import numpy as np

from tinyc.executors.elements import convert
from tinyc.executors.frontend.elementwise import NumpyFunctions
from tinyc.vocabulary.element_type import ElementType


def _quantize(
    x: np.ndarray,
    scale: np.ndarray,
    zero_point: np.ndarray | None,
    element: ElementType,
    precision: ElementType,
    axis: int,
    block_size: int,
) -> np.ndarray:
    held = ElementType.F64 if precision.is_integer else precision
    x, scale = (convert(each, held.dtype).astype(np.float64) for each in (x, scale))
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = convert(x / _aligned(scale, x, axis, block_size), held.dtype)
    offset = 0 if zero_point is None else _aligned(zero_point.astype(np.float64), x, axis, block_size)
    return convert(np.rint(quotient.astype(np.float64)) + offset, element.dtype)


def _requantize(
    x: np.ndarray, multiplier: np.ndarray, zero_point: np.ndarray | None, element: ElementType
) -> np.ndarray:
    offset = 0 if zero_point is None else zero_point.astype(np.float64)
    return convert(np.rint(x.astype(multiplier.dtype) * multiplier) + offset, element.dtype)


def _dequantize(
    x: np.ndarray,
    scale: np.ndarray,
    zero_point: np.ndarray | None,
    element: ElementType,
    axis: int,
    block_size: int,
) -> np.ndarray:
    offset = 0 if zero_point is None else _aligned(zero_point.astype(np.int64), x, axis, block_size)
    return (x.astype(np.int64) - offset) * _aligned(scale.astype(np.float64), x, axis, block_size)


def _dynamic_quantize(x: np.ndarray) -> tuple[np.ndarray, ...]:
    x = x.astype(np.float32)
    low, high = min(x.min(), np.float32(0)), max(x.max(), np.float32(0))
    scale = (high - low if high > low else np.float32(1)) / np.float32(255)
    zero_point = np.rint(np.clip(-low / scale, 0, 255))
    quantised = np.clip(np.rint(x / scale) + zero_point, 0, 255).astype(np.uint8)
    return quantised, np.asarray(scale), zero_point.astype(np.uint8)


def _aligned(scale: np.ndarray, x: np.ndarray, axis: int, block_size: int) -> np.ndarray:
    if scale.size == 1 and scale.ndim < 2:
        return scale.reshape(())
    if block_size:
        return np.take(np.repeat(scale, block_size, axis), np.arange(x.shape[axis]), axis)
    return scale.reshape([-1 if each == axis % x.ndim else 1 for each in range(x.ndim)])


IN_NUMPY: NumpyFunctions = {
    "dequantize": _dequantize,
    "dynamic_quantize": _dynamic_quantize,
    "quantize": _quantize,
    "requantize": _requantize,
}
