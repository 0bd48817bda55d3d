"""Inputs as a program takes them: arrays of exactly the declared type and rank, dense, and never written to.

In: what the user gave, by name. Out: numpy arrays whose bytes a kernel may read as a row-major tensor. Strided arrays
are copied on entry, with a remark.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from tinyc.diagnostics import TinycError, Where, remark, suggest
from tinyc.expr.extents import Dim
from tinyc.runtime.arena import allocate_array
from tinyc.runtime.program import Program
from tinyc.vocabulary.element_type import ElementType

#: Element type → the numpy type of its arrays; a bool is a byte.
DTYPES: dict[str, np.dtype] = {element: element.dtype for element in ElementType}
#: Element type → what the user calls it, as in Tiny JSON.
DTYPE_NAMES: dict[str, str] = {element: element.json_name for element in ElementType}


class Declared(Protocol):
    """The declaration of one input."""

    @property
    def element(self) -> str:
        """The element type."""
        ...

    @property
    def shape(self) -> tuple[Dim, ...]:
        """The extents."""
        ...


def dense_inputs(program: Program, inputs: Mapping[str, Any]) -> list[np.ndarray]:
    """The inputs in the program's order, dense and row-major.

    Raises:
        TinycError: `InputMismatch`: every input that is missing, not declared, or not of its declared type or rank.
    """
    declared = dict(zip(program.inputs, program.of_kind("input"), strict=True))
    return [_dense(name, array) for name, array in checked_inputs(declared, inputs).items()]


def checked_inputs(declared: Mapping[str, Declared], inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The inputs as numpy arrays in the declared order, each of its declared element type and rank.

    Raises:
        TinycError: `InputMismatch`: every input that is missing, not declared, or not of its declared type or rank.
    """
    unknown = [name for name in inputs if name not in declared]
    errors = [mismatch(name, f"the program has no input '{name}'{suggest(name, declared)}") for name in unknown]
    arrays: dict[str, np.ndarray] = {}
    for name, each in declared.items():
        try:
            arrays[name] = _checked(name, inputs, each)
        except TinycError as error:
            errors.append(error)
    if errors:
        raise TinycError.several(errors)
    return arrays


def mismatch(name: str, message: str) -> TinycError:
    """The error for one input."""
    return TinycError("InputMismatch", message, Where(node=name))


def _checked(name: str, inputs: Mapping[str, Any], each: Declared) -> np.ndarray:
    declared = f"array of {DTYPE_NAMES[each.element]} [{', '.join(map(str, each.shape))}]"
    if name not in inputs:
        raise mismatch(name, f"input '{name}' is missing; give an {declared}")
    array = typed_array(name, inputs[name], each)
    if array.ndim != len(each.shape):
        raise mismatch(name, f"input '{name}' has shape {list(array.shape)}; the program declares an {declared}")
    return array


def typed_array(name: str, value: Any, declared: Declared, what: str = "input") -> np.ndarray:
    """`value`, an input or a weight, as a numpy array of its declared element type, over the same memory.

    Raises:
        TinycError: `InputMismatch`: it is none.
    """
    array, expected = as_array(name, value, what), DTYPES[declared.element]
    if array.dtype != expected:
        raise mismatch(
            name,
            f"{what} '{name}' is of type {array.dtype}; the program declares {DTYPE_NAMES[declared.element]}, numpy's "
            f"{expected}: convert it with .astype",
        )
    return array


def as_array(name: str, value: Any, what: str = "input") -> np.ndarray:
    """`value` as a numpy array over the same memory.

    Raises:
        TinycError: `InputMismatch`: it is not an array, or one that numpy cannot read.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise mismatch(name, f"{what} '{name}' is a masked array; a tensor has no mask: give its .filled(…)")
    if isinstance(value, np.ndarray | np.generic):
        return np.asarray(value)
    if not hasattr(value, "__dlpack__"):
        raise mismatch(
            name, f"{what} '{name}' is a {type(value).__name__}; give a numpy array, or an array with __dlpack__"
        )
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise mismatch(
            name,
            f"numpy cannot read {what} '{name}', a {type(value).__name__}: {error}; copy it to a numpy array",
        ) from None


def _dense(name: str, array: np.ndarray) -> np.ndarray:
    """`array` itself if its bytes are those of a row-major tensor, otherwise a copy."""
    if array.flags.c_contiguous and array.flags.aligned:
        return array
    remark(
        "strided-copy",
        Where(node=name),
        f"input '{name}' is not dense row-major and is copied on entry",
        shape=list(array.shape),
        strides=list(array.strides),
        copied_bytes=array.nbytes,
    )
    dense = allocate_array(array.shape, array.dtype, f"the copy of input '{name}'")
    np.copyto(dense, array)
    return dense
