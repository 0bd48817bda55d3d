"""Movements and casts."""

from collections.abc import Sequence

import numpy as np

from tinyc.executors.elements import convert
from tinyc.executors.frontend.elementwise import NumpyFunctions
from tinyc.vocabulary.element_type import ElementType


def _cast(x: np.ndarray, element: ElementType) -> np.ndarray:
    return convert(x, element.dtype)


def _slice(x: np.ndarray, lo: Sequence[int], hi: Sequence[int], step: Sequence[int]) -> np.ndarray:
    for axis, (low, high, each) in enumerate(zip(lo, hi, step, strict=True)):
        places = np.arange(low, high)
        x = x.take(places[::each], axis)
    return x


def _pad(
    x: np.ndarray,
    value: np.ndarray | None,
    before: Sequence[int],
    after: Sequence[int],
    mode: str,
    constant: float,
) -> np.ndarray:
    amounts = list(zip(before, after, strict=True))
    if mode != "constant":
        return np.pad(x, amounts, mode=mode)  # pyright: ignore[reportArgumentType, reportCallIssue]
    number = np.asarray(constant).astype(x.dtype) if value is None else value.reshape(())
    return np.pad(x, amounts, constant_values=number)


def _trilu(x: np.ndarray, k: np.ndarray | None, upper: bool) -> np.ndarray:
    diagonal = 0 if k is None else int(k.reshape(()))
    return np.triu(x, diagonal) if upper else np.tril(x, diagonal)


def _arange(start: np.ndarray, step: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    return start.reshape(()) + np.arange(*shape).astype(start.dtype) * step.reshape(())


IN_NUMPY: NumpyFunctions = {
    "cast": _cast,
    "extents": lambda dims, element: np.asarray(dims, element.dtype),
    "concat": lambda x, y, axis: np.concatenate([x, y], axis),
    "trilu": _trilu,
    "arange": _arange,
    "eye": lambda shape, element, k: np.eye(*shape, k=k).astype(element.dtype),
    "movement": {
        "reshape": lambda x, shape: x.reshape(shape),
        "permute": lambda x, perm: x.transpose(perm),
        "expand": lambda x, shape: np.broadcast_to(x, shape),
        "slice": _slice,
        "flip": lambda x, axes: np.flip(x, axes),
        "roll": lambda x, shifts, axes: np.roll(x, shifts, axes),
        "tile": lambda x, repeats: np.tile(x, repeats),
        "pad": _pad,
    },
}
