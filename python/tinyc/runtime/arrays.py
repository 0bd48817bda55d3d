"""Inputs as a program takes them: arrays of exactly the declared type and rank, dense, and never written to.

In: what the user gave, by name. Out: numpy arrays whose bytes a kernel may read as a row-major tensor. Strided arrays
are copied on entry, with a remark. Outputs are fresh arrays.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import ml_dtypes
import numpy as np

from tinyc.analysis.extents import Dim
from tinyc.diagnostics import TinycError, Where, remark
from tinyc.runtime import sizes
from tinyc.runtime.arena import allocate
from tinyc.runtime.program import Program

#: Element type → the numpy type of its arrays; a bool is a byte.
DTYPES: dict[str, np.dtype] = {
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    **{f"i{bits}": np.dtype(f"i{bits // 8}") for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": np.dtype(f"u{bits // 8}") for bits in (8, 16, 32, 64)},
    "i1": np.dtype(np.bool_),
}
#: Element type → what the user calls it, as in Tiny JSON.
DTYPE_NAMES: dict[str, str] = {
    **{each: each for each in DTYPES if each.startswith(("bf", "i"))},
    **{each: f"fp{each[1:]}" for each in DTYPES if each.startswith("f")},
    **{each: f"u{each[2:]}" for each in DTYPES if each.startswith("ui")},
    "i1": "bool",
}


class Declared(Protocol):
    """What a program says of one input."""

    @property
    def element(self) -> str:
        """The element type."""
        ...

    @property
    def shape(self) -> tuple[Dim, ...]:
        """The extents."""
        ...


def dense_inputs(program: Program, inputs: Mapping[str, Any]) -> list[np.ndarray]:
    """Return the inputs in the program's order, dense and row-major.

    Raises:
        TinycError: `InputMismatch`: every input that is missing, not declared, or not of its declared type or rank.
    """
    declared = dict(zip(program.inputs, program.of_kind("input"), strict=True))
    return [_dense(name, array) for name, array in check_inputs(declared, inputs).items()]


def fresh_outputs(program: Program, values: Mapping[str, int]) -> list[np.ndarray]:
    """Return uninitialised arrays for the outputs in the program's order, at the sizes of one run.

    Raises:
        TinycError: `OutOfMemory`.
    """
    shapes = [[sizes.evaluate(extent, values) for extent in buffer.shape] for buffer in program.of_kind("output")]
    return [
        allocate(tuple(shape), DTYPES[buffer.element], f"output '{name}'")
        for name, buffer, shape in zip(program.outputs, program.of_kind("output"), shapes, strict=True)
    ]


def check_inputs(declared: Mapping[str, Declared], inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return the inputs as numpy arrays in the declared order, each of its declared element type and rank.

    Raises:
        TinycError: `InputMismatch`: every input that is missing, not declared, or not of its declared type or rank.
    """
    known = ", ".join(f"'{name}'" for name in declared) or "none"
    unknown = [name for name in inputs if name not in declared]
    errors = [mismatch(name, f"the program has no input '{name}'; its inputs are {known}") for name in unknown]
    arrays = {}
    for name, each in declared.items():
        try:
            arrays[name] = _checked(name, inputs, each)
        except TinycError as error:
            errors.append(error)
    if errors:
        raise TinycError.several(errors)
    return arrays


def mismatch(name: str, message: str) -> TinycError:
    """Return the error for one input."""
    return TinycError("InputMismatch", message, Where(node=name))


def _checked(name: str, inputs: Mapping[str, Any], each: Declared) -> np.ndarray:
    expected, called = DTYPES[each.element], DTYPE_NAMES[each.element]
    declared = f"array of {called} [{', '.join(map(str, each.shape))}]"
    if name not in inputs:
        raise mismatch(name, f"input '{name}' is missing; give an {declared}")
    array = as_array(name, inputs[name])
    if array.dtype != expected:
        raise mismatch(
            name,
            f"input '{name}' is of type {array.dtype}; the program declares {called}, numpy's {expected}: "
            "convert it with .astype",
        )
    if array.ndim != len(each.shape):
        raise mismatch(name, f"input '{name}' has shape {list(array.shape)}; the program declares an {declared}")
    return array


def as_array(name: str, value: Any) -> np.ndarray:
    """Return `value` as a numpy array over the same memory.

    Raises:
        TinycError: `InputMismatch`: it is no array, or one that numpy cannot read.
    """
    if isinstance(value, np.ndarray | np.generic):
        return np.asarray(value)
    if not hasattr(value, "__dlpack__"):
        raise mismatch(
            name, f"input '{name}' is a {type(value).__name__}; give a numpy array, or an array with __dlpack__"
        )
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise mismatch(
            name,
            f"numpy cannot read input '{name}', a {type(value).__name__}: {error}; copy it to a numpy array",
        ) from None


def _dense(name: str, array: np.ndarray) -> np.ndarray:
    """Return `array` itself if its bytes are those of a row-major tensor, otherwise a copy."""
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
    dense = allocate(array.shape, array.dtype, f"the copy of input '{name}'")
    np.copyto(dense, array)
    return dense
