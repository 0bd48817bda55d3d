"""Random inputs for a program, the same for the same seed.

In: a Tiny or Region module without free symbols in its inputs. Out: arrays by input name: floats uniform in [-1, 1),
integers in -8 … 8, and an input that only serves as an index (of `gather` and `scatter`) within its axis.
"""

from typing import Any

import numpy as np

from tinyc.analysis import extents
from tinyc.analysis.graphs import main_function
from tinyc.diagnostics import TinycError
from tinyc.dialects.region.verify import block_of, gpu_kernels, kernels
from tinyc.dialects.tiny.attributes import tensor_type
from tinyc.dialects.tiny.infer import MOVEMENT
from tinyc.dialects.tiny.types import BOOL, UNSIGNED, is_float
from tinyc.executors.elements import DTYPES, convert
from tinyc.executors.memory import require_memory
from tinyc.executors.signature import signature_of

_LARGEST_INTEGER = 8
#: Numbers are drawn in 64 bits, and then converted.
_DRAWN = np.dtype(np.float64)


def random_inputs(module: Any, seed: int) -> dict[str, np.ndarray]:
    """Return random arrays for the inputs of the program of `module`.

    Raises:
        TinycError: `UnboundSymbol`: the sizes are not all known; the message names the symbols to bind; `OutOfMemory`.
    """
    function = main_function(module)
    parameters = signature_of(function).inputs
    shapes = static_shapes(module)
    for parameter, shape in zip(parameters, shapes, strict=True):
        require_memory(shape, _DRAWN, f"the random input '{parameter.name}'")
    known = {**kernels(module), **gpu_kernels(module)}
    generator = np.random.default_rng(seed)
    with module.context:
        limits = [_index_limit(value, known) for value in function.regions[0].blocks[0].arguments]
    return {
        each.name: _random(each.type.element, shape, limit, generator)
        for each, shape, limit in zip(parameters, shapes, limits, strict=True)
    }


def static_shapes(module: Any) -> list[tuple[int, ...]]:
    """Return the shapes of the inputs of the program of `module`.

    Raises:
        TinycError: `UnboundSymbol`: they are not all known.
    """
    parameters = signature_of(main_function(module)).inputs
    found = [name for each in parameters for extent in each.type.shape for name in extents.symbols(extent)]
    symbols = list(dict.fromkeys(found))
    if symbols:
        raise TinycError(
            "UnboundSymbol",
            f"random inputs need the size of {', '.join(map(repr, symbols))}; bind them, as in "
            f"--bind {','.join(f'{name}=16' for name in symbols)}, or give inputs with --inputs",
        )
    return [tuple(extents.evaluate(extent, {}) for extent in each.type.shape) for each in parameters]


def _index_limit(value: Any, known: dict[str, Any]) -> int | None:
    """Return the least extent that `value`, under movements, is an index into; None where it is no index."""
    limits, pending = [], [value]
    while pending:
        for use in pending.pop().uses:
            op, position = use.owner.operation, use.operand_number
            name = op.name.removeprefix("tiny.")
            if name in ("gather", "scatter") and position == 1:
                limits.append(tensor_type(op.operands[0].type).shape[op.attributes["axis"].value])
            elif name in MOVEMENT or name == "region.read":
                pending.append(op.results[0])
            elif name == "func.call_indirect":
                kernel = known[op.operands[0].owner.attributes["kernel"].value]
                pending.append(block_of(kernel).arguments[position - 1])
    return min((limit for limit in limits if isinstance(limit, int)), default=None)


def _random(element: str, shape: tuple[int, ...], limit: int | None, generator: np.random.Generator) -> np.ndarray:
    if limit is not None:
        numbers = generator.integers(0, max(limit, 1), shape)
    elif is_float(element):
        numbers = generator.uniform(-1, 1, shape)
    elif element == BOOL:
        numbers = generator.integers(0, 2, shape)
    else:
        least = 0 if element in UNSIGNED else -_LARGEST_INTEGER
        numbers = generator.integers(least, _LARGEST_INTEGER, shape, endpoint=True)
    return convert(numbers, DTYPES[element])
