"""Random inputs for the program of a module at any layer; what they are, `random_arrays` says."""

import numpy as np

from tinyc.executors.random_arrays import input_shapes, random_arrays
from tinyc.executors.signature import boundary_of
from tinyc.mlir import ir


def random_inputs(module: ir.Module, seed: int) -> dict[str, np.ndarray]:
    """Random arrays for the inputs of the program of `module`.

    Raises:
        TinycError: `UnboundSymbol`: the sizes are not all known; the message names the symbols to bind; `OutOfMemory`.
    """
    return random_arrays(boundary_of(module), seed)


def static_shapes(module: ir.Module) -> list[tuple[int, ...]]:
    """The shapes of the inputs of the program of `module`: extents, and symbols whose value the program assumes.

    Raises:
        TinycError: `UnboundSymbol`: they are not all known.
    """
    return input_shapes(boundary_of(module))
