"""Elements at coordinates that data says, point by point, in f64."""

import itertools
import math
from collections.abc import Iterator

import numpy as np

from tinyc.executors.frontend.elementwise import NumpyFunctions


def _affine_grid(theta: np.ndarray, size: tuple[int, ...], align_corners: bool) -> np.ndarray:
    axes = [
        np.linspace(-1, 1, extent) if align_corners else (2 * np.arange(extent) + 1) / extent - 1 for extent in size
    ]
    points = np.stack([*np.meshgrid(*axes, indexing="ij")[::-1], np.ones(size)], axis=-1)
    return np.einsum("...j,nij->n...i", points, theta.astype(np.float64))


def _reflected(at: float, low: float, high: float) -> float:
    while high > low and not low <= at <= high:
        at = 2 * low - at if at < low else 2 * high - at
    return at


def _moved(at: float, extent: int, padding: str, align_corners: bool) -> float:
    """A coordinate in terms of what is inside."""
    if padding == "reflection":
        at = _reflected(at, 0.0, extent - 1.0) if align_corners else _reflected(at, -0.5, extent - 0.5)
    return at if padding == "zeros" else min(max(at, 0.0), extent - 1.0)


def _cubic(distance: float, a: float = -0.75) -> float:
    if distance <= 1:
        return (a + 2) * distance**3 - (a + 3) * distance**2 + 1
    return a * distance**3 - 5 * a * distance**2 + 8 * a * distance - 4 * a if distance < 2 else 0.0


def _neighbours(at: float, mode: str) -> Iterator[tuple[int, float]]:
    if mode == "nearest":
        yield int(at), 1.0
        return
    for tap in range(math.floor(at) - 1, math.floor(at) + 3):
        distance = abs(tap - at)
        yield tap, max(0.0, 1 - distance) if mode == "linear" else _cubic(distance)


def _grid_sample(x: np.ndarray, grid: np.ndarray, mode: str, padding: str, align_corners: bool) -> np.ndarray:
    spatial = x.shape[2:]
    result = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    for batch, *place in np.ndindex(grid.shape[:-1]):
        lines = []
        for extent, point in zip(spatial, grid[batch, *place][::-1].tolist(), strict=True):
            at = (point + 1) / 2 * (extent - 1) if align_corners else ((point + 1) * extent - 1) / 2
            at = _moved(float(np.rint(at)) if mode == "nearest" else at, extent, padding, align_corners)
            lines.append(list(_neighbours(at, mode)))
        for taps in itertools.product(*lines):
            inside = [
                _moved(tap, extent, padding, align_corners) for (tap, _), extent in zip(taps, spatial, strict=True)
            ]
            if all(0 <= at < extent for at, extent in zip(inside, spatial, strict=True)):
                weight = math.prod(weight for _, weight in taps)
                result[batch, :, *place] += weight * x[batch, :, *map(int, inside)]
    return result


def _roi_align(
    x: np.ndarray,
    rois: np.ndarray,
    batches: np.ndarray,
    size: tuple[int, ...],
    samples: int,
    mode: str,
    scale: float,
    half_pixel: bool,
) -> np.ndarray:
    result = np.empty((len(rois), x.shape[1], *size))
    for region, *place in np.ndindex((len(rois), *size)):
        lines = []
        for axis in range(2):
            start, end = (float(rois[region, at]) * scale - (0.5 if half_pixel else 0) for at in (1 - axis, 3 - axis))
            length = (end - start if half_pixel else max(end - start, 1)) / size[axis]
            lines.append([start + (place[axis] + (at + 0.5) / samples) * length for at in range(samples)])
        terms = np.concatenate([_corners(x[batches[region]], *point) for point in itertools.product(*lines)], axis=1)
        result[region, :, *place] = terms.max(1) if mode == "max" else terms.sum(1) / samples**2
    return result


def _corners(image: np.ndarray, y: float, x: float) -> np.ndarray:
    """The elements around a point by their weights: `[channels, 4]`."""
    height, width = image.shape[1:]
    if not -1 <= y <= height or not -1 <= x <= width:
        return np.zeros((image.shape[0], 4))
    y, x = min(max(y, 0.0), height - 1.0), min(max(x, 0.0), width - 1.0)
    top, left = int(y), int(x)
    corners = []
    for row, column in itertools.product((top, top + 1), (left, left + 1)):
        weight = (1 - abs(row - y)) * (1 - abs(column - x))
        corners.append(weight * image[:, min(row, height - 1), min(column, width - 1)])
    return np.stack(corners, axis=1)


IN_NUMPY: NumpyFunctions = {
    "affine_grid": _affine_grid,
    "grid_sample": _grid_sample,
    "roi_align": _roi_align,
}
