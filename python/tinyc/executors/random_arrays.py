"""Random inputs for a program, the same for the same seed: from its boundary, without MLIR.

In: what a program says of its inputs, with their sizes. Out: arrays by input name: floats uniform in [-1, 1), integers
in -8 … 8, and an input that serves as an index (of `gather` and `scatter`) within its axis.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from tinyc.diagnostics import TinycError
from tinyc.executors.elements import convert
from tinyc.executors.memory import require_memory
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.runtime.boundary import Boundary
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import symbols_of

_LARGEST_INTEGER = 8
#: Numbers are drawn in 64 bits, and then converted.
_DRAWN = np.dtype(np.float64)


def random_arrays(boundary: Boundary, seed: int, option: str = "--bind") -> dict[str, np.ndarray]:
    """Random arrays for the inputs of a program; `option` is what would say their sizes.

    Raises:
        TinycError: `UnboundSymbol`: the sizes are not all known; the message names the symbols to bind; `OutOfMemory`.
    """
    shapes = input_shapes(boundary, option)
    parameters, known = boundary.signature.inputs, boundary.assumed_sizes
    for parameter, shape in zip(parameters, shapes, strict=True):
        require_memory(shape, _DRAWN, f"the random input '{parameter.name}'")
    generator = np.random.default_rng(seed)
    return {
        each.name: _random(each.type.element, shape, _limit(indexes, known), generator)
        for each, shape, indexes in zip(parameters, shapes, boundary.indexes, strict=True)
    }


def input_shapes(boundary: Boundary, option: str = "--bind") -> list[tuple[int, ...]]:
    """The shapes of the inputs: extents, and symbols whose value the program assumes.

    Raises:
        TinycError: `UnboundSymbol`: they are not all known; the message names the symbols to bind.
    """
    parameters, known = boundary.signature.inputs, boundary.assumed_sizes
    symbols = [name for name in symbols_of([each.type for each in parameters]) if name not in known]
    if symbols:
        raise TinycError(
            "UnboundSymbol",
            f"random inputs need the size of {', '.join(map(repr, symbols))}; bind them, as in "
            f"{option} {','.join(f'{name}=16' for name in symbols)}, or give inputs with --inputs",
        )
    return [tuple(extents.evaluate(extent, known) for extent in each.type.shape) for each in parameters]


def _limit(indexes: Sequence[Dim], known: Mapping[str, int]) -> int | None:
    """The least of the extents that an input indexes; None where it is no index."""
    told = [extent for extent in indexes if all(name in known for name in extents.symbols(extent))]
    return min((extents.evaluate(extent, known) for extent in told), default=None)


def _random(
    element: ElementType, shape: tuple[int, ...], limit: int | None, generator: np.random.Generator
) -> np.ndarray:
    if limit is not None:
        numbers = generator.integers(0, max(limit, 1), shape)
    elif element.is_float:
        numbers = generator.uniform(-1, 1, shape)
    elif element.is_bool:
        numbers = generator.integers(0, 2, shape)
    else:
        least = 0 if element.is_unsigned else -_LARGEST_INTEGER
        numbers = generator.integers(least, _LARGEST_INTEGER, shape, endpoint=True)
    return convert(numbers, element.dtype)
