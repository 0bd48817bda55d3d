"""Inputs as a program takes them: arrays of exactly the declared type and rank, dense, and never written to.

In: what the user gave, by name. Out: numpy arrays whose bytes a kernel may read as a row-major tensor. Strided arrays
are copied on entry, with a remark.
"""

import ctypes
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from tinyc.diagnostics import TinycError, Where, remark, suggest
from tinyc.expr.extents import Dim
from tinyc.runtime.arena import allocate_array
from tinyc.runtime.program import Program
from tinyc.vocabulary.element_type import ElementType

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


#: An array that the user gives for an input, by its name and its declared numpy type, as the device takes it.
ReadInput = Callable[[str, Any, np.dtype], Any]


class InputCheck:
    """What a program takes, made ready to be compared with arrays again and again; `read` is the device's."""

    def __init__(self, program: Program, read: ReadInput | None = None) -> None:
        self._program, self._read = program, read or as_array
        declared = program.named("input").items()
        self._wanted = [(name, ElementType(each.element).dtype, len(each.shape)) for name, each in declared]

    def dense(self, inputs: Mapping[str, Any]) -> list[Any]:
        """The inputs as `dense_inputs` gives them: at once where all are dense already, as they nearly always are.

        Raises:
            TinycError: as `dense_inputs`.
        """
        if len(inputs) != len(self._wanted):
            return dense_inputs(self._program, inputs, self._read)
        arrays: list[np.ndarray] = []
        for name, dtype, rank in self._wanted:
            array = inputs.get(name)
            if type(array) is not np.ndarray or array.dtype != dtype or array.ndim != rank:
                return dense_inputs(self._program, inputs, self._read)
            flags = array.flags
            if not (flags.c_contiguous and flags.aligned):
                return dense_inputs(self._program, inputs, self._read)
            arrays.append(array)
        return arrays


#: Where an array has the address of its data: first behind what every object of Python begins with.
_DATA = object.__basicsize__
_pointer_at = ctypes.c_size_t.from_address


def address_of(array: np.ndarray) -> int:
    """Where the data of an array begins, in a tenth of the time that `array.ctypes.data` takes.

    Source: numpy's C API, `PyArrayObject_fields`, which `PyArray_DATA` of compiled extensions reads so.
    """
    return _pointer_at(id(array) + _DATA).value


def is_dense(array: np.ndarray) -> bool:
    """Whether the bytes of an array are those of a row-major tensor."""
    flags = array.flags
    return flags.c_contiguous and flags.aligned


def dense_inputs(program: Program, inputs: Mapping[str, Any], read: ReadInput | None = None) -> list[Any]:
    """The inputs in the program's order, dense and row-major, as the device takes them: numpy arrays but for a GPU's.

    Raises:
        TinycError: `InputMismatch`: every input that is missing, not declared, or not of its declared type or rank.
    """
    arrays = checked_inputs(program.named("input"), inputs, read).items()
    return [_dense(name, array) if isinstance(array, np.ndarray) else array for name, array in arrays]


def checked_inputs(
    declared: Mapping[str, Declared], inputs: Mapping[str, Any], read: ReadInput | None = None
) -> dict[str, Any]:
    """The inputs as arrays in the declared order, each of its declared element type and rank.

    Raises:
        TinycError: `InputMismatch`: every input that is missing, not declared, or not of its declared type or rank.
    """
    unknown = [name for name in inputs if name not in declared]
    errors = [mismatch(name, f"the program has no input '{name}'{suggest(name, declared)}") for name in unknown]
    arrays: dict[str, Any] = {}
    for name, each in declared.items():
        try:
            arrays[name] = _checked(name, inputs, each, read or as_array)
        except TinycError as error:
            errors.append(error)
    if errors:
        raise TinycError.several(errors)
    return arrays


def mismatch(name: str, message: str) -> TinycError:
    """The error for one input."""
    return TinycError("InputMismatch", message, Where(node=name))


def _checked(name: str, inputs: Mapping[str, Any], each: Declared, read: ReadInput) -> Any:
    declared = f"array of {DTYPE_NAMES[each.element]} [{', '.join(map(str, each.shape))}]"
    if name not in inputs:
        raise mismatch(name, f"input '{name}' is missing; give an {declared}")
    array = read(name, inputs[name], ElementType(each.element).dtype)
    check_element_type(name, array, each)
    if array.ndim != len(each.shape):
        raise mismatch(name, f"input '{name}' has shape {list(array.shape)}; the program declares an {declared}")
    return array


def check_element_type(name: str, array: Any, declared: Declared, what: str = "input") -> None:
    """Check that an array, an input or a weight, is of its declared element type.

    Raises:
        TinycError: `InputMismatch`.
    """
    expected = ElementType(declared.element).dtype
    if array.dtype != expected:
        raise mismatch(
            name,
            f"{what} '{name}' is of type {array.dtype}; the program declares {DTYPE_NAMES[declared.element]}, numpy's "
            f"{expected}: convert it with .astype",
        )


def as_array(name: str, value: Any, expected: np.dtype | None = None, what: str = "input") -> np.ndarray:
    """`value`, an input or a weight, as a numpy array over the same memory, whatever type is expected.

    Raises:
        TinycError: `InputMismatch`: it is not an array, or one that numpy cannot read.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise mismatch(name, f"{what} '{name}' is a masked array; a tensor has no mask: give its .filled(…)")
    if isinstance(value, np.ndarray | np.generic):
        return np.asarray(value)
    from tinyc.runtime.device_array import REFUSALS, is_on_device  # numpy's arrays are on no device

    if is_on_device(value):
        message = f"{what} '{name}', a {type(value).__name__}, is in the memory of a GPU; copy it to a numpy array"
        raise mismatch(name, f"{message}, or compile with target='cuda'")
    if not hasattr(value, "__dlpack__"):
        raise mismatch(
            name, f"{what} '{name}' is a {type(value).__name__}; give a numpy array, or an array with __dlpack__"
        )
    try:
        return np.from_dlpack(value)
    except REFUSALS as error:
        raise mismatch(
            name,
            f"numpy cannot read {what} '{name}', a {type(value).__name__}: {error}; copy it to a numpy array",
        ) from None


def _dense(name: str, array: np.ndarray) -> np.ndarray:
    """`array` itself if its bytes are those of a row-major tensor, otherwise a copy."""
    if is_dense(array):
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
