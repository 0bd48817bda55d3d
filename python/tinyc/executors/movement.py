"""The movement ops of Tiny as numpy applies them: views where numpy has one, never an access map of the compiler.

Each function takes the operand and the op's arguments with every extent a number.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tinyc.executors.elements import convert
from tinyc.executors.memory import require_memory
from tinyc.expr.axes.evaluation import evaluate_at
from tinyc.vocabulary.infer.rule import Arguments


@dataclass(frozen=True)
class PaddedArray:
    """An array padded by a number, which is formed where it is cut: only what is left of it is in memory."""

    array: np.ndarray
    arguments: Arguments

    def cut(self, arguments: Arguments) -> np.ndarray:
        """The elements that a shrink leaves."""
        bounds = [range(*bound) for bound in zip(arguments["lo"], arguments["hi"], arguments["step"], strict=True)]
        shape = tuple(map(len, bounds))
        require_memory(shape, self.array.dtype, "a padded tensor")
        cut = np.full(shape, convert(self.arguments["value"], self.array.dtype), self.array.dtype)
        into: list[slice] = []
        taken: list[slice] = []
        for bound, low, extent in zip(bounds, self.arguments["lo"], self.array.shape, strict=True):
            step, start = bound.step, bound.start - low
            first = max(0, -(start // step))
            last = max(first, min(len(bound), -((start - extent) // step)))
            into.append(slice(first, last))
            taken.append(slice(start + first * step, start + last * step, step))
        cut[tuple(into)] = self.array[tuple(taken)]
        return cut


def _reshape(x: np.ndarray, arguments: Arguments) -> np.ndarray:
    return x.reshape(arguments["shape"])


def _permute(x: np.ndarray, arguments: Arguments) -> np.ndarray:
    return x.transpose(arguments["perm"])


def _expand(x: np.ndarray, arguments: Arguments) -> np.ndarray:
    axes, shape = arguments["broadcast_dimensions"], arguments["shape"]
    ordered = x.transpose(np.argsort(axes)) if axes else x
    aligned = ordered.reshape([x.shape[axes.index(axis)] if axis in axes else 1 for axis in range(len(shape))])
    return np.broadcast_to(aligned, shape)


def _pad(x: np.ndarray, arguments: Arguments) -> np.ndarray:
    lo, hi = arguments["lo"], arguments["hi"]
    shape = tuple(low + extent + high for low, extent, high in zip(lo, x.shape, hi, strict=True))
    require_memory(shape, x.dtype, "a padded tensor")
    padded = np.full(shape, convert(arguments["value"], x.dtype), x.dtype)
    padded[tuple(slice(low, low + extent) for low, extent in zip(lo, x.shape, strict=True))] = x
    return padded


def _shrink(x: np.ndarray, arguments: Arguments) -> np.ndarray:
    bounds = zip(arguments["lo"], arguments["hi"], arguments["step"], strict=True)
    return x[tuple(slice(*bound) for bound in bounds)]


def _flip(x: np.ndarray, arguments: Arguments) -> np.ndarray:
    return np.flip(x, arguments["axes"])


def _view(x: np.ndarray, arguments: Arguments) -> np.ndarray:
    shape = arguments["shape"]
    if 0 in shape:
        return np.empty(shape, x.dtype)
    grid = np.ogrid[tuple(slice(extent) for extent in shape)]
    picked = x[tuple(evaluate_at(row, grid, {}) for row in arguments["map"])]
    return np.broadcast_to(picked, shape)


def _pool(x: np.ndarray, arguments: Arguments) -> np.ndarray:
    kernel, stride, dilation = arguments["kernel"], arguments["stride"], arguments["dilation"]
    axes = tuple(range(x.ndim - len(kernel), x.ndim))
    spans = tuple(spread * (size - 1) + 1 for size, spread in zip(kernel, dilation, strict=True))
    windows = np.lib.stride_tricks.sliding_window_view(x, spans, axis=axes)
    steps = [slice(None)] * axes[0] + [slice(None, None, step) for step in (*stride, *dilation)]
    return windows[tuple(steps)]


MOVEMENT_FUNCTIONS: dict[str, Callable[[np.ndarray, Arguments], np.ndarray]] = {
    "reshape": _reshape,
    "permute": _permute,
    "expand": _expand,
    "pad": _pad,
    "shrink": _shrink,
    "flip": _flip,
    "view": _view,
    "pool": _pool,
}
