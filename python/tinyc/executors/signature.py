"""What a program takes and gives: names and types of its inputs and outputs, and the sizes that its inputs tell.

In: a module at any layer, or inputs as the user gives them. Out: frozen data and numpy arrays of the declared types.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tinyc.analysis.graphs import input_names, main_function, output_names
from tinyc.dialects.exec.ops import exec_functions
from tinyc.dialects.exec.to_program import program_of
from tinyc.mlir import func, ir
from tinyc.runtime import arrays, sizes
from tinyc.vocabulary.attributes import tensor_type
from tinyc.vocabulary.types import TensorType


@dataclass(frozen=True)
class NamedTensor:
    """One input or output: its name and its tensor type."""

    name: str
    type: TensorType

    def __str__(self) -> str:
        return f"'{self.name}' ({self.type})"


@dataclass(frozen=True)
class Signature:
    """The inputs and outputs of a program, in order."""

    inputs: tuple[NamedTensor, ...]
    outputs: tuple[NamedTensor, ...]


def signature_of(function: func.FuncOp) -> Signature:
    """The signature of a function of tensors, with the names that the user calls its boundary by."""
    with function.context:
        return Signature(
            _parameters(input_names(function), [argument.type for argument in function.arguments]),
            _parameters(output_names(function), function.type.results),
        )


def signature_of_program(module: ir.Module) -> Signature:
    """The signature of the program of a module: of its function of tensors, or of its `exec.function`.

    Raises:
        TinycError: `InvalidIr`: the module is no program.
    """
    if not exec_functions(module):
        return signature_of(main_function(module))
    program = program_of(module)
    named = (
        zip(names, program.of_kind(kind), strict=True)
        for kind, names in (("input", program.inputs), ("output", program.outputs))
    )
    inputs, outputs = (
        tuple(NamedTensor(name, TensorType(buffer.element, buffer.shape)) for name, buffer in each) for each in named
    )
    return Signature(inputs, outputs)


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
