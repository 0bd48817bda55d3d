"""Tensor maps of C-contiguous arrays, whose last axis is the innermost dimension."""

from collections.abc import Sequence

import numpy as np

from ptxsim import TensorMap


def tiled(array: np.ndarray, box: Sequence[int], strides: Sequence[int] | None = None, **modes: str) -> TensorMap:
    """The tiled map; `strides` of elements are 1 where none are given."""
    shape, steps = array.shape[::-1], array.strides[-2::-1]
    return TensorMap.tiled(array.ndim, array, shape, steps, box, strides or (1,) * array.ndim, **modes)


def im2col(
    array: np.ndarray,
    lower: Sequence[int],
    upper: Sequence[int],
    channels: int,
    pixels: int,
    strides: Sequence[int] | None = None,
    **modes: str,
) -> TensorMap:
    """The im2col map of an array [N, …, C]; `strides` of elements are 1 where none are given."""
    shape, steps = array.shape[::-1], array.strides[-2::-1]
    ones = (1,) * array.ndim
    return TensorMap.im2col(array.ndim, array, shape, steps, lower, upper, channels, pixels, strides or ones, **modes)
