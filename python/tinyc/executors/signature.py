"""What a program takes and gives: names and types of its inputs and outputs, and the sizes that its inputs tell.

In: a module at any layer, or inputs as the user gives them. Out: frozen data and numpy arrays of the declared types.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tinyc.analysis.graphs import assumptions_of, body_block, input_names, main_function, output_names, weight_flags
from tinyc.analysis.indexed_axes import indexed_extents
from tinyc.dialects.exec.ops import exec_functions
from tinyc.dialects.exec.to_program import program_of
from tinyc.dialects.launch import launchables_of
from tinyc.mlir import func, ir
from tinyc.runtime import arrays, sizes
from tinyc.runtime.boundary import Boundary, NamedTensor, Signature, boundary_of_program
from tinyc.vocabulary.attributes import tensor_type


def signature_of(function: func.FuncOp) -> Signature:
    """The signature of a function of tensors, with the names that the user calls its boundary by."""
    with function.context:
        inputs = _parameters(input_names(function), [argument.type for argument in function.arguments])
        pairs = zip(inputs, weight_flags(function), strict=True)
        return Signature(
            tuple(replace(each, is_weight=is_weight) for each, is_weight in pairs),
            _parameters(output_names(function), function.type.results),
        )


def boundary_of(module: ir.Module) -> Boundary:
    """The boundary of the program of a module: of its function of tensors, or of its `exec.function`.

    Raises:
        TinycError: `InvalidIr`: the module is no program.
    """
    if exec_functions(module):
        return boundary_of_program(program_of(module))
    function, kernels = main_function(module), {symbol: each.op for symbol, each in launchables_of(module).items()}
    with module.context:
        block = body_block(function)
        indexes = tuple(indexed_extents(argument, kernels) for argument in block.arguments)
        return Boundary(signature_of(function), tuple(assumptions_of(block)), indexes)


def _parameters(names: Sequence[str], types: Sequence[ir.Type]) -> tuple[NamedTensor, ...]:
    return tuple(NamedTensor(name, tensor_type(each)) for name, each in zip(names, types, strict=True))


def check_inputs(parameters: Sequence[NamedTensor], inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The inputs as numpy arrays, each of its declared element type and rank.

    Raises:
        TinycError: `InputMismatch`, for every input that is missing, unknown, or of another type.
    """
    return arrays.checked_inputs({parameter.name: parameter.type for parameter in parameters}, inputs)


def symbol_values(parameters: Sequence[NamedTensor], inputs: Mapping[str, np.ndarray]) -> dict[str, int]:
    """The values of the symbols of the inputs' types, from the inputs' shapes.

    Raises:
        TinycError: `InputMismatch`: an extent is not the declared one, or two inputs contradict each other.
    """
    return sizes.shape_symbols((each.name, each.type.shape, inputs[each.name].shape) for each in parameters)
