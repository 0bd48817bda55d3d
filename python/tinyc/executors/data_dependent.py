"""`gather`, `scatter` and `topk` of Tiny in numpy."""

import numpy as np

from tinyc.executors.elements import Precision, convert
from tinyc.runtime.index_error import index_error
from tinyc.vocabulary.element_type import ElementType


def require_in_range(index: np.ndarray, extent: int, axis: int) -> None:
    """Raise `IndexOutOfRange` for the first index that is not one of 0 … extent - 1."""
    outside = np.flatnonzero((index < 0) | (index >= extent))
    if outside.size:
        at = [int(position) for position in np.unravel_index(outside[0], index.shape)]
        raise index_error(int(index[tuple(at)]), at, axis, extent)


def gather(data: np.ndarray, index: np.ndarray, axis: int) -> np.ndarray:
    """`data[…, index, …]`; without elements to read, no index is looked at.

    **Raises** TinycError `IndexOutOfRange`.
    """
    shape = (*data.shape[:axis], *index.shape, *data.shape[axis + 1 :])
    if 0 in shape:
        return np.empty(shape, data.dtype)
    require_in_range(index, data.shape[axis], axis)
    return np.take(data, index, axis)


def scatter(
    data: np.ndarray,
    index: np.ndarray,
    updates: np.ndarray,
    axis: int,
    op: str,
    element: ElementType,
    precision: Precision,
) -> np.ndarray:
    """`data` with `updates` put or added at `index` along `axis`; the last of several puts wins.

    Without updates, no index is looked at.

    **Raises** TinycError `IndexOutOfRange`.
    """
    if updates.size == 0:
        return data.copy()
    require_in_range(index, data.shape[axis], axis)
    lines = np.moveaxis(updates.reshape(*data.shape[:axis], index.size, *data.shape[axis + 1 :]), axis, 0)
    positions = index.ravel()
    if op == "set":
        result = data.copy()
        last = positions.size - 1 - np.unique(positions[::-1], return_index=True)[1]
        np.moveaxis(result, axis, 0)[positions[last]] = lines[last]
        return result
    total = convert(data, precision.arithmetic(element)).copy()
    np.add.at(np.moveaxis(total, axis, 0), positions, convert(lines, total.dtype))
    return precision.round(total, element)


def topk(values: np.ndarray, k: int, axis: int, largest: bool, arithmetic: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """The `k` best values, best first, and their indices; NaN is greatest, ties go to the lower index."""
    keys = convert(values, arithmetic)
    if largest:  # the stable ascending order of the reversed axis, reversed again: descending, ties in order
        order = np.flip(keys.shape[axis] - 1 - np.argsort(np.flip(keys, axis), axis, kind="stable"), axis)
    else:
        order = np.argsort(keys, axis, kind="stable")
    indices = np.take(order, np.arange(k), axis).astype(np.int64)
    return np.take_along_axis(values, indices, axis), indices
