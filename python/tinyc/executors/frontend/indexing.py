"""What reads or writes where its data says, an index at a time."""

from collections.abc import Callable

import numpy as np

from tinyc.executors.frontend.elementwise import NumpyFunction, NumpyFunctions


def _gather_nd(data: np.ndarray, index: np.ndarray, batch: int) -> np.ndarray:
    lead = index.shape[:-1]
    result = np.empty((*lead, *data.shape[batch + index.shape[-1] :]), data.dtype)
    for at in np.ndindex(*lead):
        result[at] = data[(*at[:batch], *index[at])]
    return result


def _topk(x: np.ndarray, k: int, axis: int, largest: bool) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(x, axis, kind="stable")
    if largest:
        order = np.flip(x.shape[axis] - 1 - np.argsort(np.flip(x, axis), axis, kind="stable"), axis)
    best = order.take(np.arange(k), axis)
    return np.take_along_axis(x, best, axis), best


def _arg(function: Callable[..., np.ndarray]) -> NumpyFunction:
    def arg(x: np.ndarray, axis: int, keepdims: bool, last: bool) -> np.ndarray:
        if not last:
            return function(x, axis=axis, keepdims=keepdims)
        return x.shape[axis] - 1 - function(np.flip(x, axis), axis=axis, keepdims=keepdims)

    return arg


def _one_hot(index: np.ndarray, levels: np.ndarray, shape: tuple[int, ...], axis: int) -> np.ndarray:
    depth = shape[axis]
    wrapped = np.where(index < 0, index + depth, index).astype(np.int64)
    hot = wrapped[..., None] == np.arange(depth)
    return np.where(np.moveaxis(hot, -1, axis), levels[1], levels[0])


def _reverse_sequence(x: np.ndarray, lengths: np.ndarray, batch_axis: int, time_axis: int) -> np.ndarray:
    result = np.moveaxis(x.copy(), (batch_axis, time_axis), (0, 1))
    source = np.moveaxis(x, (batch_axis, time_axis), (0, 1))
    for batch, length in enumerate(lengths):
        result[batch, :length] = source[batch, :length][::-1]
    return np.moveaxis(result, (0, 1), (batch_axis, time_axis))


def _tensor_scatter(
    cache: np.ndarray, updates: np.ndarray, starts: np.ndarray | None, axis: int, mode: str
) -> np.ndarray:
    result = cache.copy()
    for batch in range(cache.shape[0]):
        target = np.moveaxis(result[batch], axis if axis < 0 else axis - 1, 0)
        source = np.moveaxis(updates[batch], axis if axis < 0 else axis - 1, 0)
        start = 0 if starts is None else int(starts[batch])
        for place, row in enumerate(source, start):
            target[place % len(target) if mode == "circular" else place] = row
    return result


_REDUCTIONS: dict[str, np.ufunc] = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def _put(result: np.ndarray, at: tuple[int, ...], update: np.ndarray, reduction: str) -> None:
    result[at] = update if reduction == "none" else _REDUCTIONS[reduction](result[at], update)


def _scatter_elements(
    data: np.ndarray, index: np.ndarray, updates: np.ndarray, axis: int, reduction: str
) -> np.ndarray:
    result = data.copy()
    for at in np.ndindex(*index.shape):
        place = list(at)
        place[axis] = int(index[at])
        _put(result, tuple(place), updates[at], reduction)
    return result


def _scatter_nd(data: np.ndarray, index: np.ndarray, updates: np.ndarray, reduction: str) -> np.ndarray:
    result = data.copy()
    for at in np.ndindex(*index.shape[:-1]):
        _put(result, tuple(int(each) for each in index[at]), updates[at], reduction)
    return result


def _gather_elements(data: np.ndarray, index: np.ndarray, axis: int) -> np.ndarray:
    inner = tuple(
        slice(0, extent) if each != axis % data.ndim else slice(None) for each, extent in enumerate(index.shape)
    )
    return np.take_along_axis(data[inner], index, axis)


IN_NUMPY: NumpyFunctions = {
    "gather": {
        "axis": lambda data, index, axis: data.take(index, axis),
        "embedding": lambda data, index: data[index],
        "elements": _gather_elements,
        "nd": _gather_nd,
    },
    "topk": _topk,
    "arg_max": _arg(np.argmax),
    "arg_min": _arg(np.argmin),
    "one_hot": _one_hot,
    "reverse_sequence": _reverse_sequence,
    "tensor_scatter": _tensor_scatter,
    "scatter": {"elements": _scatter_elements, "nd": _scatter_nd},
}
