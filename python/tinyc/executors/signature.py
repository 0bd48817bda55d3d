"""What a program takes and gives: names and types of its inputs and outputs, and the sizes that its inputs tell.

In: a Tiny or Region module, or inputs as the user gives them. Out: frozen data and numpy arrays of the declared types.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tinyc.analysis import equations, extents
from tinyc.analysis.extents import ExtentError
from tinyc.diagnostics import TinycError
from tinyc.dialects.tiny.attributes import tensor_type
from tinyc.dialects.tiny.types import TensorType
from tinyc.dialects.tiny.verify import functions
from tinyc.runtime.arrays import DTYPES, as_array, mismatch


@dataclass(frozen=True)
class Parameter:
    """One input or output: its name and its tensor type."""

    name: str
    type: TensorType

    def __str__(self) -> str:
        return f"'{self.name}' ({self.type})"


@dataclass(frozen=True)
class Signature:
    """The inputs and outputs of a program, in order."""

    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]


def main_function(module: Any) -> Any:
    """Return the function that a module's program is: `@main`, or the only one.

    Raises:
        TinycError: `InvalidIr`: there is none, or several and none of them is `@main`.
    """
    found = {function.name.value: function for function in functions(module)}
    if "main" in found:
        return found["main"]
    if len(found) == 1:
        return next(iter(found.values()))
    names = ", ".join(f"@{name}" for name in found) or "none"
    raise TinycError("InvalidIr", f"the module needs one function to run, called @main; it has {names}")


def signature_of(function: Any) -> Signature:
    """Return the signature of a function of tensors; what has no `tiny.name` is called by its position."""
    operation = function.operation
    results = operation.attributes["function_type"].value.results
    inputs = [argument.type for argument in function.regions[0].blocks[0].arguments]
    with operation.context:
        return Signature(
            _parameters(operation, "arg_attrs", inputs, "arg"), _parameters(operation, "res_attrs", results, "result")
        )


def _parameters(operation: Any, which: str, types: list[Any], default: str) -> tuple[Parameter, ...]:
    attributes = list(operation.attributes[which]) if which in operation.attributes else [{}] * len(types)
    names = [
        each["tiny.name"].value if "tiny.name" in each else f"{default}{position}"
        for position, each in enumerate(attributes)
    ]
    return tuple(Parameter(name, tensor_type(each)) for name, each in zip(names, types, strict=True))


def check_inputs(parameters: tuple[Parameter, ...], inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return the inputs as numpy arrays, each of its declared element type and rank.

    Raises:
        TinycError: `InputMismatch`, for every input that is missing, unknown, or of another type.
    """
    known = ", ".join(f"'{parameter.name}'" for parameter in parameters) or "none"
    unknown = [name for name in inputs if name not in {parameter.name for parameter in parameters}]
    errors = [mismatch(name, f"the program has no input '{name}'; its inputs are {known}") for name in unknown]
    arrays = {}
    for parameter in parameters:
        try:
            arrays[parameter.name] = _checked(parameter, inputs)
        except TinycError as error:
            errors.append(error)
    if errors:
        raise TinycError.several(errors)
    return arrays


def _checked(parameter: Parameter, inputs: Mapping[str, Any]) -> np.ndarray:
    if parameter.name not in inputs:
        raise mismatch(parameter.name, f"input '{parameter.name}' is missing; give an array of {parameter.type}")
    array = as_array(parameter.name, inputs[parameter.name])
    wanted = DTYPES[parameter.type.element]
    if array.dtype != wanted:
        raise mismatch(
            parameter.name,
            f"input '{parameter.name}' is of type {array.dtype}; the program declares {wanted}: "
            "convert it with .astype",
        )
    if array.ndim != parameter.type.rank:
        raise mismatch(
            parameter.name,
            f"input '{parameter.name}' has shape {list(array.shape)}; the program declares {parameter.type}",
        )
    return array


def symbol_values(parameters: tuple[Parameter, ...], arrays: Mapping[str, np.ndarray]) -> dict[str, int]:
    """Return what the symbols of the inputs' types are, from the inputs' shapes.

    Raises:
        TinycError: `InputMismatch`: an extent is not the declared one, or two inputs contradict each other.
    """
    pairs = [
        (extent, size, f"axis {axis} of input '{parameter.name}'")
        for parameter in parameters
        for axis, (extent, size) in enumerate(zip(parameter.type.shape, arrays[parameter.name].shape, strict=True))
    ]
    try:
        return equations.solve(pairs)
    except ExtentError as error:
        raise TinycError("InputMismatch", str(error)) from None


def size(extent: extents.Dim, symbols: Mapping[str, int]) -> int:
    """Return the value of an extent.

    Raises:
        TinycError: `UnboundSymbol`: the inputs do not tell a symbol; `InvalidExtent`: a division by 0.
    """
    missing = [name for name in extents.symbols(extent) if name not in symbols]
    if missing:
        raise TinycError("UnboundSymbol", f"no input tells the symbol '{missing[0]}' of the extent {extent}; bind it")
    try:
        return extents.evaluate(extent, symbols)
    except ExtentError as error:
        raise TinycError("InvalidExtent", str(error)) from None
