"""Random programs for the tests of groups: parts, windows, sums, pads and other orders, and several results."""

import random
from collections.abc import Sequence
from typing import Any

from analysis_programs.tiny_programs import Program


def windows_program(rng: random.Random) -> Program:
    """Return a program that reads parts, windows, sums and other orders of what it computes, and returns several."""
    p = Program(x="f32 6 5")
    values = [(p["x"], (6, 5))]
    for _ in range(rng.randint(2, 7)):
        value, shape = rng.choice(values[-4:])
        kind = rng.choice(["relu", "add", "part", "flip", "permute", "pad", "window", "stencil", "sum", "merge"])
        if kind == "relu":
            value = p.relu(value)
        elif kind == "add":
            value = p.add(value, rng.choice([other for other, size in values if size == shape]))
        elif kind == "sum":
            axis = rng.randrange(2)
            kept = tuple(1 if k == axis else size for k, size in enumerate(shape))
            value, shape = p.reshape(p.sum(value, axis), shape=_text(kept)), kept
            if rng.random() < 0.7:
                shape = tuple(rng.choice([4, 6]) if size == 1 else size for size in kept)
                value = p.expand(value, shape=_text(shape), broadcast_dimensions=(0, 1))
            value = p.relu(value)
        else:
            value, shape = _moved(rng, p, value, shape, kind)
        values.append((value, shape))
    returned = [*rng.sample([value for value, _ in values[1:]], 2), values[-1][0]]
    return p.result(*returned)


def _moved(
    rng: random.Random, p: Program, value: Any, shape: tuple[int, ...], kind: str
) -> tuple[Any, tuple[int, ...]]:
    """Return a value read in another way by an element-wise block or a sum, and its shape."""
    if kind == "part":
        low, step = tuple(rng.choice([0, 0, rng.randrange(size)]) for size in shape), tuple(rng.choices([1, 1, 2], k=2))
        high = tuple(rng.choice([size, rng.randint(at + 1, size)]) for at, size in zip(low, shape, strict=True))
        shape = tuple(-(-(end - at) // by) for at, end, by in zip(low, high, step, strict=True))
        return p.neg(p.shrink(value, lo=low, hi=high, step=step)), shape
    if kind == "flip":
        return p.neg(p.flip(value, axes=(rng.randrange(2),))), shape
    if kind == "permute":
        return p.neg(p.permute(value, perm=(1, 0))), shape[::-1]
    if kind == "merge":
        shape = (shape[0] * shape[1], 1)
        return p.neg(p.reshape(value, shape=_text(shape))), shape
    if kind == "stencil":
        return _stencil(rng, p, value, shape)
    low, high = (tuple(rng.choices([0, 0, 1, 2], k=2)) for _ in range(2))
    if kind == "pad" or rng.random() < 0.4:
        value = p.pad(value, lo=low, hi=high, value=0.0)
        shape = tuple(map(sum, zip(low, shape, high, strict=True)))
    if kind == "pad":
        return p.neg(value), shape
    kernel = tuple(rng.randint(1, min(3, size)) for size in shape)
    stride = tuple(rng.choices([1, 1, 2, 3], k=2))
    shape = tuple((size - k) // by + 1 for size, k, by in zip(shape, kernel, stride, strict=True))
    return p.sum(p.pool(value, kernel=kernel, stride=stride, dilation=(1, 1)), 2, 3), shape


def _stencil(rng: random.Random, p: Program, value: Any, shape: tuple[int, ...]) -> tuple[Any, tuple[int, ...]]:
    """Return the sum over windows along the rows, plus an element near the window."""
    kernel = (rng.randint(1, min(3, shape[0])), 1)
    if rng.random() < 0.5:
        value = p.relu(p.flip(value, axes=(0,)))
    windows = p.sum(p.pool(value, kernel=kernel, stride=(1, 1), dilation=(1, 1)), 2, 3)
    low, rows = rng.randrange(kernel[0]), shape[0] - kernel[0] + 1
    near = p.shrink(value, lo=(low, 0), hi=(low + rows, shape[1]), step=(1, 1))
    return p.add(windows, near), (rows, shape[1])


def _text(shape: Sequence[int]) -> str:
    return " ".join(map(str, shape))
