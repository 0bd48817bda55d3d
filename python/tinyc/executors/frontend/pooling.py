"""Pooling, window by window."""

import itertools
import math
from collections.abc import Iterator

import numpy as np

from tinyc.executors.frontend.elementwise import NumpyFunctions

#: A list of numbers for each spatial axis, None where all are the default.
_Numbers = tuple[int, ...] | None


def _places(extent: int, size: int, step: int, spread: int, before: int, after: int, ceil_mode: bool) -> int:
    steps = (extent + before + after - spread * (size - 1) - 1) / step
    places = (math.ceil(steps) if ceil_mode else math.floor(steps)) + 1
    return places - 1 if ceil_mode and (places - 1) * step >= extent + before else places


def _windows(
    x: np.ndarray, kernel: tuple[int, ...], stride: _Numbers, dilation: _Numbers, pads: _Numbers, ceil_mode: bool
) -> tuple[tuple[int, ...], Iterator[tuple[tuple[int, ...], list[list[int]]]]]:
    """The number of windows along each axis; each of them, with the positions that it reads along each axis."""
    rank = len(kernel)
    stride, dilation, pads = stride or (1,) * rank, dilation or (1,) * rank, pads or (0,) * 2 * rank
    sizes = list(zip(x.shape[2:], kernel, stride, dilation, pads[:rank], pads[rank:], strict=True))
    shape = tuple(
        _places(extent, size, step, spread, before, after, ceil_mode)
        for extent, size, step, spread, before, after in sizes
    )

    def each_window() -> Iterator[tuple[tuple[int, ...], list[list[int]]]]:
        for place in np.ndindex(shape):
            yield (
                place,
                [
                    [at * step - before + tap * spread for tap in range(size)]
                    for at, (_, size, step, spread, before, _) in zip(place, sizes, strict=True)
                ],
            )

    return shape, each_window()


def _elements(x: np.ndarray, positions: list[list[int]]) -> np.ndarray:
    """What a window reads of `x`, without the pads: `[batch, channels, elements]`."""
    inside = [[at for at in line if 0 <= at < extent] for line, extent in zip(positions, x.shape[2:], strict=True)]
    return x[np.ix_(range(x.shape[0]), range(x.shape[1]), *inside)].reshape(*x.shape[:2], -1)


def _max(x: np.ndarray, **sizes: object) -> np.ndarray:
    shape, windows = _windows(x, **sizes)  # pyright: ignore[reportArgumentType]
    result = np.empty((*x.shape[:2], *shape), x.dtype)
    for place, positions in windows:
        result[:, :, *place] = _elements(x, positions).max(-1)
    return result


def _average(
    x: np.ndarray,
    kernel: tuple[int, ...],
    stride: _Numbers,
    dilation: _Numbers,
    pads: _Numbers,
    ceil_mode: bool,
    count_include_pad: bool,
) -> np.ndarray:
    shape, windows = _windows(x, kernel, stride, dilation, pads, ceil_mode)
    behind = pads[len(kernel) :] if pads and count_include_pad else (0,) * len(kernel)
    before = pads[: len(kernel)] if pads and count_include_pad else (0,) * len(kernel)
    result = np.empty((*x.shape[:2], *shape))
    for place, positions in windows:
        counts = [
            sum(-low <= at < extent + high for at in line)
            for line, extent, low, high in zip(positions, x.shape[2:], before, behind, strict=True)
        ]
        result[:, :, *place] = _elements(x.astype(np.float64), positions).sum(-1) / math.prod(counts)
    return result


def _lp(x: np.ndarray, p: int, **sizes: object) -> np.ndarray:
    shape, windows = _windows(x, **sizes)  # pyright: ignore[reportArgumentType]
    result = np.empty((*x.shape[:2], *shape))
    for place, positions in windows:
        result[:, :, *place] = (np.abs(_elements(x.astype(np.float64), positions)) ** p).sum(-1) ** (1 / p)
    return result


def _max_indices(x: np.ndarray, column_major: bool, **sizes: object) -> tuple[np.ndarray, np.ndarray]:
    shape, windows = _windows(x, **sizes)  # pyright: ignore[reportArgumentType]
    values = np.empty((*x.shape[:2], *shape), x.dtype)
    indices = np.empty(values.shape, np.int64)
    spatial = x.shape[2:]
    for place, positions in windows:
        for batch, channel in np.ndindex(x.shape[:2]):
            best: list[tuple[float, int]] = []
            for at in itertools.product(*positions):
                if all(0 <= each < extent for each, extent in zip(at, spatial, strict=True)):
                    flat = np.ravel_multi_index(at, spatial, order="F" if column_major else "C")
                    best.append((x[batch, channel, *at], (batch * x.shape[1] + channel) * math.prod(spatial) + flat))
            greatest = max(value for value, _ in best)
            values[batch, channel, *place] = greatest
            indices[batch, channel, *place] = min(flat for value, flat in best if value == greatest)
    return values, indices


def _max_unpool(
    x: np.ndarray, indices: np.ndarray, shape: tuple[int, ...], padded: tuple[int, ...] | None
) -> np.ndarray:
    result = np.zeros(padded or shape, x.dtype)
    for value, index in zip(x.flat, indices.flat, strict=True):
        result[np.unravel_index(index, shape)] = value
    return result


IN_NUMPY: NumpyFunctions = {
    "pool": {"max": _max, "average": _average, "lp": _lp},
    "max_pool_indices": _max_indices,
    "max_unpool": _max_unpool,
}
