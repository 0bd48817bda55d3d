"""Random numbers, of Philox as the reference of Tiny has them; what is drawn by them is written anew."""

import math

import numpy as np

from tinyc.executors import philox
from tinyc.executors.frontend.elementwise import NumpyFunctions
from tinyc.vocabulary.element_type import ElementType


def _drawn(shape: tuple[int, ...], seed: int, stream: int) -> np.ndarray:
    """Uniform numbers on [0, 1)."""
    return philox.uniform(math.prod(shape), seed, stream).reshape(shape)


def _uniform(
    shape: tuple[int, ...], element: ElementType, low: float, high: float, seed: int, stream: int
) -> np.ndarray:
    return low + (high - low) * _drawn(shape, seed, stream).astype(np.float64)


def _normal(
    shape: tuple[int, ...], element: ElementType, mean: float, scale: float, seed: int, stream: int
) -> np.ndarray:
    return mean + scale * philox.normal(math.prod(shape), seed, stream).reshape(shape)


def _bernoulli(p: np.ndarray, element: ElementType, seed: int, stream: int) -> np.ndarray:
    return (_drawn(p.shape, seed, stream) < p).astype(element.dtype)


def _multinomial(scores: np.ndarray, samples: int, element: ElementType, seed: int, stream: int) -> np.ndarray:
    rows, classes = scores.shape
    drawn = _drawn((rows, samples, classes), seed, stream).astype(np.float64) + 2.0**-25
    return np.argmax(scores[:, None] - np.log(-np.log(drawn)), axis=2).astype(element.dtype)


def _dropout(
    x: np.ndarray, ratio: np.ndarray | None, training: np.ndarray | None, seed: int, stream: int
) -> tuple[np.ndarray, np.ndarray]:
    if training is None or not training.item():
        return x, np.ones(x.shape, np.bool_)
    part = 0.5 if ratio is None else ratio.item()
    kept = _drawn(x.shape, seed, stream) >= part
    return np.divide(x, 1 - part, out=np.zeros_like(x), where=kept), kept


IN_NUMPY: NumpyFunctions = {
    "dropout": _dropout,
    "multinomial": _multinomial,
    "random": {"bernoulli": _bernoulli, "normal": _normal, "uniform": _uniform},
}
