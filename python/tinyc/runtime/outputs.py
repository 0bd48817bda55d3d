"""Outputs of one run: fresh arrays, or the ones that the user gives for them.

In: what is declared, the sizes of the run, and what the user gave as `out`. Out: dense memory for the kernels to fill,
which is the user's own where a kernel may write there, and after the run the arrays by name.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from tinyc.diagnostics import TinycError, Where, counted, remark, suggest
from tinyc.runtime import sizes
from tinyc.runtime.arena import allocate_array
from tinyc.runtime.arrays import DTYPE_NAMES, Declared, is_dense
from tinyc.vocabulary.element_type import ElementType


def named_outputs(names: Sequence[str], out: Any) -> dict[str, Any]:
    """What the user gives as `out`, by the names of the outputs: an array for the one, a sequence for all, a mapping.

    A mapping may leave outputs out, which are fresh then.

    Raises:
        TinycError: `OutputMismatch`: it does not say which output each array is for.
    """
    if out is None:
        return {}
    if isinstance(out, Mapping):
        unknown = [name for name in out if name not in names]
        if unknown:
            name = str(unknown[0])
            raise output_mismatch(name, f"out: the program has no output '{name}'{suggest(name, names)}")
        return dict(out)
    given = list(out) if isinstance(out, tuple | list) else [out]
    if len(given) != len(names):
        what = f"has {len(given)} entries" if isinstance(out, tuple | list) else f"is one {type(out).__name__}"
        known = f"{counted(len(names), 'output')} ({', '.join(names)})"
        message = f"out {what}, and the program has {known}; give one array for each, or a mapping from names"
        raise TinycError("OutputMismatch", message)
    return dict(zip(names, given, strict=True))


def output_mismatch(name: str, message: str) -> TinycError:
    """The error for one array that is given for an output."""
    return TinycError("OutputMismatch", message, Where(node=name))


class Output(NamedTuple):
    """An output at the sizes of one run."""

    name: str
    element: str
    dtype: np.dtype
    shape: tuple[int, ...]


def outputs_at(declared: Mapping[str, Declared], values: Mapping[str, int]) -> tuple[Output, ...]:
    """The outputs at the sizes of one run, in order."""
    return tuple(
        Output(
            name,
            each.element,
            ElementType(each.element).dtype,
            tuple(sizes.extent_value(extent, values) for extent in each.shape),
        )
        for name, each in declared.items()
    )


def check_outputs(outputs: Iterable[Output], out: Mapping[str, Any]) -> None:
    """Check that the arrays in `out` can take their outputs.

    Raises:
        TinycError: `OutputMismatch`, for each that cannot.
    """
    errors = [
        output_mismatch(each.name, f"out: the array for output '{each.name}' {wrong}")
        for each in outputs
        if each.name in out and (wrong := _objection(out[each.name], each)) is not None
    ]
    if not errors:
        errors = [
            output_mismatch(one, f"out: the arrays for outputs '{one}' and '{other}' share memory; give separate ones")
            for one, other in combinations(out, 2)
            if _share_memory(out[one], out[other])
        ]
    if errors:
        raise TinycError.several(errors)


def fresh_array(output: Output) -> np.ndarray:
    """An uninitialised array for an output.

    Raises:
        TinycError: `OutOfMemory`.
    """
    return allocate_array(output.shape, output.dtype, f"output '{output.name}'")


def output_memory(
    outputs: Iterable[Output],
    out: Mapping[str, Any],
    inputs: Sequence[Any],
    fresh: Callable[[Output], Any] = fresh_array,
) -> dict[str, Any]:
    """Dense memory for each output of a run that reads `inputs`: the array in `out` where it may be written at once.

    Raises:
        TinycError: `OutputMismatch`, `OutOfMemory`.
    """
    if out:
        check_outputs(outputs, out)
    memory: dict[str, Any] = {}
    for each in outputs:
        name = each.name
        if name in out:
            if _may_be_filled(out[name], inputs):
                memory[name] = out[name]
                continue
            message = f"output '{name}' is copied to its array, which is not dense row-major, or which an input is in"
            remark("output-copied", Where(node=name), message, copied_bytes=out[name].nbytes)
        memory[name] = fresh(each)
    return memory


def handed_out(results: dict[str, Any], out: Mapping[str, Any]) -> dict[str, Any]:
    """The arrays of `out`, with the results in them, and the results that none is for."""
    if not out:
        return results
    for name, array in out.items():
        if array is not results[name] and isinstance(array, np.ndarray):  # a GPU's are filled already
            np.copyto(array, results[name])
    return {name: out.get(name, result) for name, result in results.items()}


def _objection(array: Any, output: Output) -> str | None:
    """Why the user's array cannot take an output; None where it can."""
    _, element, dtype, shape = output
    if type(array) is np.ndarray and array.dtype == dtype and array.shape == shape and array.flags.carray:
        return None  # as nearly always: dense, and can be written to
    from tinyc.runtime.device_array import DeviceView, is_on_device

    called = DTYPE_NAMES[element]
    wanted = f"{called} [{', '.join(map(str, shape))}]"
    if isinstance(array, np.ma.MaskedArray) or not isinstance(array, np.ndarray | DeviceView):
        if is_on_device(array):
            return f"is a {type(array).__name__} in the memory of a GPU; give a numpy array of {wanted}"
        return f"is a {type(array).__name__}; give a numpy array of {wanted}"
    if array.dtype != dtype:
        return f"is of type {array.dtype}; the program gives {called}, numpy's {dtype}: give an array of {wanted}"
    if array.shape != shape:
        return f"has shape {list(array.shape)}; this run gives {wanted}: give an array of that shape"
    if array.is_read_only if isinstance(array, DeviceView) else not array.flags.writeable:
        return "is read-only; give one that can be written to"
    if isinstance(array, np.ndarray) and not array.flags.c_contiguous and _repeats_elements(array):
        return f"has the same memory for several of its elements; give a plain array of {wanted}"
    return None


def _repeats_elements(array: np.ndarray) -> bool:
    """Whether elements may share memory: no axis, from the innermost one, may step less than those inside it span."""
    span = array.itemsize
    for stride, size in sorted((abs(stride), size) for stride, size in zip(array.strides, array.shape, strict=True)):
        if size > 1 and stride < span:
            return array.size > 0
        span += stride * (size - 1)
    return False


def _may_be_filled(array: Any, read: Sequence[Any]) -> bool:
    """Whether kernels may write to the user's array while they run: it is dense, and none of the inputs is in it.

    One in a GPU's memory is handled there.
    """
    if not isinstance(array, np.ndarray):
        return True
    return is_dense(array) and not any(
        isinstance(each, np.ndarray) and np.may_share_memory(array, each) for each in read
    )


def _share_memory(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) != isinstance(other, np.ndarray):
        return False
    return np.shares_memory(one, other) if isinstance(one, np.ndarray) else one.overlaps(other)
