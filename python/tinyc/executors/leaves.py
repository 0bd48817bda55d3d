"""The leaves of Tiny in numpy: `const`, `iota` and `rand`; values are rounded to their type, also for the oracle."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tinyc.executors import philox
from tinyc.executors.elements import Precision, cast_array
from tinyc.executors.memory import require_memory


def const(arguments: Mapping[str, Any], precision: Precision) -> np.ndarray:
    """`value` everywhere, as a broadcast."""
    value, element = arguments["value"], arguments["element"]
    if isinstance(value, int) and not isinstance(value, bool):
        value = np.array(value, np.uint64 if value > np.iinfo(np.int64).max else np.int64)
    return np.broadcast_to(cast_array(np.asarray(value), element, precision), arguments["shape"])


def iota(arguments: Mapping[str, Any], precision: Precision) -> np.ndarray:
    """The index along `axis`, as a broadcast along the others."""
    shape, axis = arguments["shape"], arguments["axis"]
    line = np.arange(shape[axis], dtype=np.int64).reshape([-1 if k == axis else 1 for k in range(len(shape))])
    return np.broadcast_to(cast_array(line, arguments["element"], precision), shape)


def rand(arguments: Mapping[str, Any], precision: Precision) -> np.ndarray:
    """The Philox numbers of the distribution, by row-major position."""
    shape = arguments["shape"]
    require_memory(shape, np.dtype(np.float64), "a tensor of random numbers")
    count, seed, stream = math.prod(shape), arguments["seed"], arguments["stream"]
    if arguments["distribution"] == "uniform":
        numbers = philox.uniform(count, seed, stream, arguments["element"].uniform_bits)
    else:
        numbers = philox.normal(count, seed, stream)
    return cast_array(numbers.reshape(shape), arguments["element"], precision)
