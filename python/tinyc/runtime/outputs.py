"""Outputs of one run: fresh arrays, or the ones that the user gives for them.

In: what is declared, the sizes of the run, and what the user gave as `out`. Out: dense memory for the kernels to fill,
which is the user's own where a kernel may write there, and after the run the arrays by name.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from tinyc.diagnostics import TinycError, Where, remark, suggest
from tinyc.runtime import sizes
from tinyc.runtime.arena import allocate_array
from tinyc.runtime.arrays import DTYPE_NAMES, DTYPES, Declared


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
        known = f"{len(names)} output{'' if len(names) == 1 else 's'} ({', '.join(names)})"
        message = f"out {what}, and the program has {known}; give one array for each, or a mapping from names"
        raise TinycError("OutputMismatch", message)
    return dict(zip(names, given, strict=True))


def output_mismatch(name: str, message: str) -> TinycError:
    """The error for one array that is given for an output."""
    return TinycError("OutputMismatch", message, Where(node=name))


def checked_outputs(
    declared: Mapping[str, Declared], values: Mapping[str, int], out: Mapping[str, Any]
) -> dict[str, tuple[int, ...]]:
    """The shapes of the outputs at the sizes of one run, which the arrays in `out` have.

    Raises:
        TinycError: `OutputMismatch`, for each array that cannot take its output.
    """
    shapes = {
        name: tuple(sizes.extent_value(extent, values) for extent in each.shape) for name, each in declared.items()
    }
    errors = [
        output_mismatch(name, f"out: the array for output '{name}' {wrong}")
        for name, array in out.items()
        if (wrong := _objection(array, declared[name].element, shapes[name])) is not None
    ]
    if not errors:
        errors = [
            output_mismatch(one, f"out: the arrays for outputs '{one}' and '{other}' share memory; give separate ones")
            for one, other in combinations(out, 2)
            if np.shares_memory(out[one], out[other])
        ]
    if errors:
        raise TinycError.several(errors)
    return shapes


def output_memory(
    declared: Mapping[str, Declared], values: Mapping[str, int], out: Mapping[str, Any], inputs: Sequence[np.ndarray]
) -> dict[str, np.ndarray]:
    """Dense memory for each output of a run that reads `inputs`: the array in `out` where it may be written at once.

    Raises:
        TinycError: `OutputMismatch`, `OutOfMemory`.
    """
    memory: dict[str, np.ndarray] = {}
    for name, shape in checked_outputs(declared, values, out).items():
        if name in out and _may_be_filled(out[name], inputs):
            memory[name] = out[name]
            continue
        if name in out:
            message = f"output '{name}' is copied to its array, which is not dense row-major, or which an input is in"
            remark("output-copied", Where(node=name), message, copied_bytes=out[name].nbytes)
        memory[name] = allocate_array(shape, DTYPES[declared[name].element], f"output '{name}'")
    return memory


def handed_out(results: Mapping[str, np.ndarray], out: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of `out`, with the results in them, and the results that none is for."""
    for name, array in out.items():
        if array is not results[name]:
            np.copyto(array, results[name])
    return {name: out.get(name, result) for name, result in results.items()}


def _objection(array: Any, element: str, shape: tuple[int, ...]) -> str | None:
    """Why the user's array cannot take an output; None where it can."""
    called, dtype = DTYPE_NAMES[element], DTYPES[element]
    wanted = f"{called} [{', '.join(map(str, shape))}]"
    if isinstance(array, np.ma.MaskedArray) or not isinstance(array, np.ndarray):
        return f"is a {type(array).__name__}; give a numpy array of {wanted}"
    if array.dtype != dtype:
        return f"is of type {array.dtype}; the program gives {called}, numpy's {dtype}: give an array of {wanted}"
    if array.shape != shape:
        return f"has shape {list(array.shape)}; this run gives {wanted}: give an array of that shape"
    if not array.flags.writeable:
        return "is read-only; give one that can be written to"
    if _repeats_elements(array):
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


def _may_be_filled(array: np.ndarray, read: Sequence[np.ndarray]) -> bool:
    """Whether kernels may write to the user's array while they run: it is dense, and none of the inputs is in it."""
    dense = array.flags.c_contiguous and array.flags.aligned
    return dense and not any(np.may_share_memory(array, each) for each in read)
