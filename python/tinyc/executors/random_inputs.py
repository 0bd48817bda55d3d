"""Random inputs for a program, the same for the same seed.

In: a module at any layer that says the sizes of its inputs. Out: arrays by input name: floats uniform in [-1, 1),
integers in -8 … 8, and an input that serves as an index (of `gather` and `scatter`) within its axis, as far as the
layer still tells that it is one.
"""

from collections.abc import Mapping

import numpy as np

from tinyc.analysis.graphs import assumptions_of, body_block, main_function
from tinyc.diagnostics import TinycError
from tinyc.dialects.exec.ops import exec_functions
from tinyc.dialects.launch import Launchable, launchables_of
from tinyc.dialects.region import ops as region
from tinyc.dialects.tiny import ops as tiny
from tinyc.executors.elements import convert
from tinyc.executors.memory import require_memory
from tinyc.executors.signature import signature_of_program
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.mlir import func, ir
from tinyc.vocabulary.attributes import tensor_type
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import symbols_of

_LARGEST_INTEGER = 8
#: Numbers are drawn in 64 bits, and then converted.
_DRAWN = np.dtype(np.float64)


def random_inputs(module: ir.Module, seed: int) -> dict[str, np.ndarray]:
    """Random arrays for the inputs of the program of `module`.

    Raises:
        TinycError: `UnboundSymbol`: the sizes are not all known; the message names the symbols to bind; `OutOfMemory`.
    """
    parameters = signature_of_program(module).inputs
    shapes = static_shapes(module)
    for parameter, shape in zip(parameters, shapes, strict=True):
        require_memory(shape, _DRAWN, f"the random input '{parameter.name}'")
    generator = np.random.default_rng(seed)
    return {
        each.name: _random(each.type.element, shape, limit, generator)
        for each, shape, limit in zip(parameters, shapes, _index_limits(module, len(parameters)), strict=True)
    }


def static_shapes(module: ir.Module) -> list[tuple[int, ...]]:
    """The shapes of the inputs of the program of `module`: extents, and symbols whose value the program assumes.

    Raises:
        TinycError: `UnboundSymbol`: they are not all known.
    """
    parameters = signature_of_program(module).inputs
    known = _assumed_sizes(module)
    symbols = [name for name in symbols_of([each.type for each in parameters]) if name not in known]
    if symbols:
        raise TinycError(
            "UnboundSymbol",
            f"random inputs need the size of {', '.join(map(repr, symbols))}; bind them, as in "
            f"--bind {','.join(f'{name}=16' for name in symbols)}, or give inputs with --inputs",
        )
    return [tuple(extents.evaluate(extent, known) for extent in each.type.shape) for each in parameters]


def _assumed_sizes(module: ir.Module) -> dict[str, int]:
    """The symbols whose value the program of a module assumes."""
    lowered = exec_functions(module)
    stated = lowered[0].meaning().assumptions if lowered else assumptions_of(body_block(main_function(module)))
    return {
        name: each.rhs
        for each in stated
        for name in extents.symbols(each.lhs)
        if each.predicate == "eq" and each.lhs == extents.symbol(name) and isinstance(each.rhs, int)
    }


def _index_limits(module: ir.Module, count: int) -> list[int | None]:
    """The limit of each of `count` inputs, None for those that the module does not show to be indices."""
    if exec_functions(module):
        return [None] * count
    known = launchables_of(module)
    with module.context:
        return [_index_limit(value, known) for value in body_block(main_function(module)).arguments]


def _index_limit(value: ir.Value, known: Mapping[str, Launchable]) -> int | None:
    """The least extent that `value`, under movements, is an index into; None where it is not an index."""
    limits: list[Dim] = []
    pending = [value]
    while pending:
        for use in pending.pop().uses:
            op = use.owner
            if isinstance(op, tiny.GatherOp | tiny.ScatterOp) and use.operand_number == 1:
                limits.append(tensor_type(op.data.type).shape[op.axis.value])
            elif isinstance(op, tiny.MovementOp | region.ReadOp):
                pending.append(op.results[0])
            elif isinstance(op, func.CallIndirectOp) and isinstance(op.callee.owner, region.LaunchOp):
                kernel = known[op.callee.owner.kernel.value].op
                if kernel is not None:
                    pending.append(kernel.regions[0].blocks[0].arguments[use.operand_number - 1])
    return min((limit for limit in limits if isinstance(limit, int)), default=None)


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
