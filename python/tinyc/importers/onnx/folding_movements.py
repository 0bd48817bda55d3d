"""Movements of values that are known at import: those that subgraphs of shapes are made of.

In: nodes whose inputs are all known. Out: arrays of numbers and extents, None where a result would be too large for a
shape or depends on an extent.
"""

from collections.abc import Callable, Sequence

import numpy as np

from tinyc.expr.extents import Dim, Extent
from tinyc.formulas.value import broadcast_shape
from tinyc.importers.onnx.handlers.slicing import part_of_axis
from tinyc.importers.onnx.node import OnnxNode

#: Larger arrays are no shapes: they are computed when the model runs.
MAX_ELEMENTS = 1024

Movement = Callable[[OnnxNode, list[np.ndarray]], np.ndarray | None]


def _numbers(dims: Sequence[Dim]) -> tuple[int, ...] | None:
    """A shape of numbers that is small enough, else None."""
    numbers = tuple(each for each in dims if not isinstance(each, Extent))
    small = len(numbers) == len(dims) and int(np.prod([max(0, each) for each in numbers], dtype=object)) <= MAX_ELEMENTS
    return numbers if small else None


def _squeeze(node: OnnxNode, arrays: list[np.ndarray]) -> np.ndarray:
    return np.squeeze(arrays[0], node.ints(1) if node.has(1) else None)


def _unsqueeze(node: OnnxNode, arrays: list[np.ndarray]) -> np.ndarray:
    return np.expand_dims(arrays[0], node.ints(1))


def _slice(node: OnnxNode, arrays: list[np.ndarray]) -> np.ndarray:
    data, starts, ends = arrays[0], node.ints(1), node.ints(2)
    axes = node.ints(3) if node.has(3) else tuple(range(len(starts)))
    steps = node.ints(4) if node.has(4) else (1,) * len(starts)
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        low, high = part_of_axis(data.shape[axis], start, end, step)
        assert isinstance(low, int)
        assert isinstance(high, int)
        data = data.take(list(range(low, high)[::step]), axis)
    return data


def _constant_of_shape(node: OnnxNode, arrays: list[np.ndarray]) -> np.ndarray | None:
    value = np.asarray(node.attribute("value", np.zeros(1, np.float32)))
    shape = _numbers(node.dims(0))
    return None if shape is None else np.full(shape, value.ravel()[0])


def _expand(node: OnnxNode, arrays: list[np.ndarray]) -> np.ndarray | None:
    shape = _numbers(broadcast_shape([arrays[0].shape, node.dims(1)]))
    return None if shape is None else np.broadcast_to(arrays[0], shape)


def _tile(node: OnnxNode, arrays: list[np.ndarray]) -> np.ndarray | None:
    repeats = node.dims(1)
    is_small = _numbers([extent * count for extent, count in zip(arrays[0].shape, repeats, strict=True)]) is not None
    return np.tile(arrays[0], node.ints(1)) if is_small else None


def _transpose(node: OnnxNode, arrays: list[np.ndarray]) -> np.ndarray:
    return np.transpose(arrays[0], node.attribute("perm"))


def _flatten(node: OnnxNode, arrays: list[np.ndarray]) -> np.ndarray:
    axis, shape = node.attribute("axis", 1), arrays[0].shape
    axis += len(shape) if axis < 0 else 0
    return arrays[0].reshape(int(np.prod(shape[:axis])), int(np.prod(shape[axis:])))


def _concat(node: OnnxNode, arrays: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(arrays, axis=node.required("axis"))


#: What `folding.FOLDS` has of movements.
MOVEMENTS: dict[str, Movement] = {
    "Concat": _concat,
    "ConstantOfShape": _constant_of_shape,
    "Expand": _expand,
    "Flatten": _flatten,
    "Slice": _slice,
    "Squeeze": _squeeze,
    "Tile": _tile,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
}
