"""Random inputs for the program of a module at any layer; what they are, `random_arrays` says."""

from collections.abc import Mapping

import numpy as np

from tinyc.executors.random_arrays import input_shapes, random_arrays
from tinyc.executors.signature import boundary_of
from tinyc.mlir import ir
from tinyc.runtime.boundary import Boundary

#: What says the sizes of symbols for a self-test.
_SELF_TEST = "--self-test"


def random_inputs(module: ir.Module, seed: int, sizes: Mapping[str, int] | None = None) -> dict[str, np.ndarray]:
    """Random arrays for the inputs of the program of `module`; with `sizes`, for a self-test at these.

    Raises:
        TinycError: `UnboundSymbol`: the sizes are not all known; the message names the symbols to bind; `OutOfMemory`.
    """
    boundary, option = _boundary(module, sizes)
    return random_arrays(boundary, seed, option)


def static_shapes(module: ir.Module, sizes: Mapping[str, int] | None = None) -> list[tuple[int, ...]]:
    """The shapes of the inputs of the program of `module`: extents, and symbols whose value the program assumes.

    Raises:
        TinycError: `UnboundSymbol`: they are not all known.
    """
    boundary, option = _boundary(module, sizes)
    return input_shapes(boundary, option)


def _boundary(module: ir.Module, sizes: Mapping[str, int] | None) -> tuple[Boundary, str]:
    """The boundary of the program at sizes, and the option that says more of them."""
    boundary = boundary_of(module)
    return (boundary, "--bind") if sizes is None else (boundary.with_sizes(sizes, _SELF_TEST), _SELF_TEST)
