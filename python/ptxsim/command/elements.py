"""Element types as the command line names them, and numbers and arrays of them.

In: a name such as "f16" or "i32" (Triton's "fp16" means the same) and text. Out: numpy dtypes, scalars and arrays.
"""

import math
import os

import ml_dtypes
import numpy as np

from ptxsim.errors import InputError, MemoryShortage, suggest

#: Name → dtype.
DTYPES = {
    **{f"{letter}{8 * size}": np.dtype(f"{letter}{size}") for letter in "iu" for size in (1, 2, 4, 8)},
    **{f"f{8 * size}": np.dtype(f"f{size}") for size in (2, 4, 8)},
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "e4m3": np.dtype(ml_dtypes.float8_e4m3fn),
    "e5m2": np.dtype(ml_dtypes.float8_e5m2),
}
#: What Triton and PTX call some of them.
_ALIASES = {"fp16": "f16", "fp32": "f32", "fp64": "f64", "fp8e4nv": "e4m3", "fp8e5": "e5m2"} | {
    f"s{bits}": f"i{bits}" for bits in (8, 16, 32, 64)
}
#: numpy's files know these types by their size only.
_STORED = {
    DTYPES["bf16"]: np.dtype(np.uint16),
    DTYPES["e4m3"]: np.dtype(np.uint8),
    DTYPES["e5m2"]: np.dtype(np.uint8),
}
_MOST_DIGITS = 100
#: Where `random` without limits draws integers from: -_REACH … _REACH - 1, or from 0 where there are no negative ones.
_REACH = 10


def dtype_of(name: str) -> np.dtype:
    """The dtype of a name.

    Raises:
        InputError.
    """
    dtype = DTYPES.get(_ALIASES.get(name, name))
    if dtype is None:
        raise InputError(f"there is no element type '{name}'{suggest(name, DTYPES)}")
    return dtype


def name_of(dtype: np.dtype) -> str:
    """The name of a dtype that has one."""
    return next(name for name, each in DTYPES.items() if each == dtype)


def stored(array: np.ndarray) -> np.ndarray:
    """The array as a `.npy` file holds it: bf16, e4m3 and e5m2 as unsigned integers of the same bits."""
    return array.view(_STORED.get(array.dtype, array.dtype))


def from_stored(array: np.ndarray, dtype: np.dtype | None) -> np.ndarray:
    """The array of a file as one of `dtype` (None: the file's own), row-major, in the byte order of a GPU.

    Raises:
        InputError: it has another type, or one that no kernel reads.
    """
    native = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(array.shape)
    if dtype is not None and dtype in _STORED and native.dtype in (_STORED[dtype], np.dtype(f"V{dtype.itemsize}")):
        native = native.view(dtype)
    if native.dtype == np.bool_:
        native = native.view(np.uint8)
    if native.dtype not in DTYPES.values():
        raise InputError(f"the file holds {array.dtype}; give one of {', '.join(DTYPES)}")
    if dtype is not None and native.dtype != dtype:
        raise InputError(f"the file holds {name_of(native.dtype)}, not {name_of(dtype)}")
    return native


def number(text: str, dtype: np.dtype) -> np.generic:
    """The number that a text means, exactly if it is an integer and rounded to the type if it is a float.

    Raises:
        InputError: it is none, or none of that type.
    """
    try:
        if len(text) > _MOST_DIGITS:
            raise ValueError
        value = int(text, 0) if dtype.kind in "iu" else float(text)
    except ValueError:
        raise InputError(f"'{text[:_MOST_DIGITS]}' is no number of type {name_of(dtype)}") from None
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if not limits.min <= value <= limits.max:
            what = f"{value} is no {name_of(dtype)}, which goes from {limits.min} to {limits.max}"
            raise InputError(what)
        return dtype.type(value)
    with np.errstate(all="ignore"):
        rounded = dtype.type(value)
    if math.isfinite(value) and not np.isfinite(np.float64(rounded)):
        what = f"{value} is no {name_of(dtype)}, which goes up to {float(ml_dtypes.finfo(dtype).max)}"
        raise InputError(what)
    return rounded


def filled(dtype: np.dtype, shape: tuple[int, ...], fill: str, seed: tuple[int, ...]) -> np.ndarray:
    """An array: "zeros", "arange", "random", "random:LOW:HIGH", or a number.

    `random` draws floats from the normal distribution, and integers near 0. Between limits it draws evenly; HIGH is
    exclusive.

    Raises:
        InputError, MemoryShortage.
    """
    _require_memory(dtype, shape)
    kind, *limits = fill.split(":")
    if fill == "zeros":
        return np.zeros(shape, dtype)
    if fill == "arange":
        with np.errstate(all="ignore"):
            return np.arange(math.prod(shape)).astype(dtype).reshape(shape)
    if kind == "random" and len(limits) in (0, 2):
        return _random(dtype, shape, [number(each, dtype) for each in limits], np.random.default_rng(seed))
    try:
        return np.full(shape, number(fill, dtype))
    except InputError as error:
        known = "zeros, arange, random, random:LOW:HIGH, a number, or a file whose name ends in .npy"
        raise InputError(f"{error.message}; an array is {known}") from None


def _random(
    dtype: np.dtype, shape: tuple[int, ...], limits: list[np.generic], generator: np.random.Generator
) -> np.ndarray:
    if dtype.kind not in "iu":
        if not limits:
            return generator.standard_normal(shape).astype(dtype)
        low, high = (float(limit) for limit in limits)
        if not (math.isfinite(low) and low < high < math.inf):
            raise InputError(f"there is no number from {low} to {high}")
        return (low + (high - low) * generator.random(shape)).astype(dtype)
    low, high = (int(limit) for limit in limits) if limits else (-_REACH * (dtype.kind == "i"), _REACH)
    if low >= high:
        raise InputError(f"there is no integer from {low} to {high} - 1")
    return generator.integers(low, high, shape, dtype)


def _require_memory(dtype: np.dtype, shape: tuple[int, ...]) -> None:
    """Check that the machine has room for an array, its copy in the simulator and its shadow.

    Raises:
        MemoryShortage.
    """
    copies = 4
    if copies * math.prod(shape) * dtype.itemsize > os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"):
        message = f"there is no memory for an array {name_of(dtype)} {list(shape)}; use smaller sizes"
        raise MemoryShortage(message)
