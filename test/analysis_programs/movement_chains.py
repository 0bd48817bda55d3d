"""Random chains of Tiny movements, as data, as IR and as numpy: what the tests of the analyses are proved against."""

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from analysis_programs.index_values import index_value
from analysis_programs.tiny_programs import Program
from tinyc.expr import axes, extents
from tinyc.expr.extents import Dim
from tinyc.vocabulary.infer import MOVEMENT, Assumption, infer
from tinyc.vocabulary.types import TensorType

MAX_ELEMENTS = 1500


@dataclass(frozen=True)
class Step:
    """One movement: its op, its arguments, and the shape of its result."""

    op: str
    arguments: Mapping[str, Any]
    shape: tuple[Dim, ...]


@dataclass(frozen=True)
class Chain:
    """A shape, the movements applied to it, and what has to hold for them."""

    shape: tuple[Dim, ...]
    steps: tuple[Step, ...]
    assumptions: tuple[Assumption, ...]

    def on(self, program: Program, value: Any) -> Any:
        """Append the movements to a program, the first of `value`, and return the result of the last."""
        for step in self.steps:
            value = program.op(step.op, value, **step.arguments)
        return value

    def holds(self, values: Mapping[str, int]) -> bool:
        """Say whether the assumptions hold for these values of the symbols and the result stays small."""
        for assumption in self.assumptions:
            left, right = (extents.evaluate(side, values) for side in (assumption.lhs, assumption.rhs))
            if not (left == right if assumption.predicate == "eq" else left <= right):
                return False
        return all(extents.evaluate(extents.product(step.shape), values) <= 10 * MAX_ELEMENTS for step in self.steps)


def random_chain(rng: random.Random, shape: Sequence[Dim], length: int) -> Chain:
    """Return a chain of up to `length` movements on `shape`."""
    start, current = tuple(shape), tuple(shape)
    steps: list[Step] = []
    assumptions: list[Assumption] = []
    for _ in range(length):
        op = rng.choice((*MOVEMENT, "reshape", "reshape"))  # reshapes are where the arithmetic is
        arguments = _ARGUMENTS[op](rng, current)
        if arguments is None:
            continue
        inferred = infer(op, [TensorType("i64", current)], arguments)
        result = inferred.types[0].shape
        elements = extents.product(extent if isinstance(extent, int) else 3 for extent in result)
        if len(result) > 6 or not isinstance(elements, int) or elements > MAX_ELEMENTS:
            continue
        assumptions += inferred.assumptions
        steps.append(Step(op, arguments, result))
        current = result
    return Chain(start, tuple(steps), tuple(assumptions))


def _reshape(rng: random.Random, shape: tuple[Dim, ...]) -> dict[str, Any]:
    new = list(shape)
    for _ in range(rng.randint(1, 4)):
        choice, position = rng.randrange(4), rng.randrange(len(new) + 1)
        if choice == 0 and position + 1 < len(new):
            new[position : position + 2] = [new[position] * new[position + 1]]
        elif choice == 1 and position < len(new):
            factors = [2, 3, 4, *map(extents.symbol, extents.symbols(new[position]))]
            for factor in rng.sample(factors, len(factors)):
                quotient = extents.divide(new[position], factor)
                if quotient is not None:
                    new[position : position + 1] = rng.sample([quotient, factor], 2)
                    break
        elif choice == 2 and len(new) < 5:
            new.insert(position, 1)
        elif choice == 3 and 1 in new:
            new.remove(1)
    return {"shape": tuple(new)}


def _permute(rng: random.Random, shape: tuple[Dim, ...]) -> dict[str, Any]:
    return {"perm": tuple(rng.sample(range(len(shape)), len(shape)))}


def _expand(rng: random.Random, shape: tuple[Dim, ...]) -> dict[str, Any]:
    result = [rng.randint(1, 3) if extent == 1 else extent for extent in shape]
    kept = list(range(len(shape)))
    if rng.random() < 0.4:
        position = rng.randrange(len(shape) + 1)
        result.insert(position, rng.choice([1, 2, 2, 3, 3, 3, 0]))
        kept = [axis + (axis >= position) for axis in kept]
    return {"shape": tuple(result), "broadcast_dimensions": tuple(kept)}


def _pad(rng: random.Random, shape: tuple[Dim, ...]) -> dict[str, Any]:
    low, high = (tuple(rng.choice([0, 0, 1, 2]) for _ in shape) for _ in range(2))
    return {"lo": low, "hi": high, "value": rng.choice([-1, -1, -2])}


def _shrink(rng: random.Random, shape: tuple[Dim, ...]) -> dict[str, Any]:
    least = 0 if rng.random() < 0.1 else 1  # seldom to nothing
    low = [rng.randint(0, max(extent - least, 0) if isinstance(extent, int) else 1) for extent in shape]
    high = [
        rng.randint(min(start + least, extent), extent) if isinstance(extent, int) else extent - rng.randint(0, 1)
        for start, extent in zip(low, shape, strict=True)
    ]
    return {"lo": tuple(low), "hi": tuple(high), "step": tuple(rng.randint(1, 2) for _ in shape)}


def _flip(rng: random.Random, shape: tuple[Dim, ...]) -> dict[str, Any]:
    return {"axes": tuple(axis for axis in range(len(shape)) if rng.random() < 0.5)}


def _pool(rng: random.Random, shape: tuple[Dim, ...]) -> dict[str, Any] | None:
    windows = rng.randint(1, 2)
    if windows > len(shape):
        return None
    kernel = [rng.randint(1, 3) for _ in range(windows)]
    dilation = [rng.randint(1, 2) for _ in range(windows)]
    for size, spread, extent in zip(kernel, dilation, shape[-windows:], strict=True):
        if isinstance(extent, int) and spread * (size - 1) + 1 > extent:
            return None
    stride = tuple(rng.randint(1, 3) for _ in range(windows))
    return {"kernel": tuple(kernel), "stride": stride, "dilation": tuple(dilation)}


def _view(rng: random.Random, shape: tuple[Dim, ...]) -> dict[str, Any] | None:
    symbolic = [extent for extent in shape if not isinstance(extent, int)]
    result = (*symbolic, *(rng.randint(1, 4) for _ in range(rng.randint(0, 2))))
    if 0 in shape:
        return None
    rows = []
    for extent in shape:
        if isinstance(extent, int):
            rows.append(axes.plain_mod(_random_index(rng, result), extent))
        else:
            rows.append(axes.term(axes.Axis(result.index(extent))))
    return {"shape": result, "map": tuple(rows)}


def _random_index(rng: random.Random, shape: tuple[Dim, ...]) -> axes.AxisExpr:
    index = axes.constant(rng.randint(0, 3))
    for position in range(len(shape)):
        index = index + axes.term(axes.Axis(position)) * rng.randint(0, 4)
    return axes.plain_floordiv(index, rng.randint(2, 4)) if rng.random() < 0.3 else index


_ARGUMENTS: dict[str, Any] = {
    "reshape": _reshape,
    "permute": _permute,
    "expand": _expand,
    "pad": _pad,
    "shrink": _shrink,
    "flip": _flip,
    "pool": _pool,
    "view": _view,
}


def apply_numpy(chain: Chain, array: Any, values: Mapping[str, int]) -> Any:
    """Return what the chain makes of `array`, computed by numpy's own movements."""
    for step in chain.steps:
        shape = tuple(extents.evaluate(extent, values) for extent in step.shape)
        array = apply_movement(step.op, step.arguments, array, shape, values)
        assert array.shape == shape
    return array


def apply_movement(
    op: str, arguments: Mapping[str, Any], array: Any, shape: tuple[int, ...], values: Mapping[str, int]
) -> Any:
    """Return the result, of this shape, of one movement by numpy."""
    if op == "reshape":
        return array.reshape(shape)
    if op == "permute":
        return array.transpose(arguments["perm"])
    if op == "expand":
        between = [1] * len(shape)
        for axis, extent in zip(arguments["broadcast_dimensions"], array.shape, strict=True):
            between[axis] = extent
        return np.broadcast_to(array.reshape(between), shape)
    if op == "pad":
        amounts = list(zip(arguments["lo"], arguments["hi"], strict=True))
        return np.pad(array, amounts, constant_values=arguments["value"]) if amounts else array
    if op == "shrink":
        bounds = zip(arguments["lo"], arguments["hi"], arguments["step"], strict=True)
        slices = (slice(*(extents.evaluate(bound, values) for bound in triple)) for triple in bounds)
        return array[tuple(slices)]
    if op == "flip":
        return np.flip(array, arguments["axes"]) if arguments["axes"] else array
    return _view_numpy(arguments, array, shape) if op == "view" else _pool_numpy(arguments, array)


def _pool_numpy(arguments: Mapping[str, Any], array: Any) -> Any:
    windows = len(arguments["kernel"])
    lead = array.ndim - windows
    spans = [d * (k - 1) + 1 for k, d in zip(arguments["kernel"], arguments["dilation"], strict=True)]
    view = sliding_window_view(array, spans, axis=tuple(range(lead, array.ndim)))
    strides = [slice(None, None, stride) for stride in arguments["stride"]]
    dilations = [slice(None, None, dilation) for dilation in arguments["dilation"]]
    return view[(*[slice(None)] * lead, *strides, *dilations)]


def _view_numpy(arguments: Mapping[str, Any], array: Any, shape: tuple[int, ...]) -> Any:
    result = np.empty(shape, array.dtype)
    for index in itertools.product(*map(range, shape)):
        result[index] = array[tuple(index_value(tree, index) for tree in arguments["map"])]
    return result
