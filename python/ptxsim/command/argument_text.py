"""Reads the arguments of a kernel as the command line writes them.

In: the texts of `--arg`, in order. Out: for each a `Given`. `NAME=` may stand before each:

    i32:1024                    a number: i8 … i64, u8 … u64, f16, bf16, f32, f64, e4m3, e5m2
    f32[128,64]:random          an array: random[:LOW:HIGH], zeros, arange, a number, or FILE.npy
    FILE.npy                    the array of a file, in its own type and shape
    same:x                      the array of an earlier argument, by its name or number
    bytes:00ff2a                bytes (a structure by value); bytes:@FILE
    tma:{"array": "x", …}       a tensor map; tma:@FILE
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ptxsim.command import elements, tensor_map_text
from ptxsim.command.files import read_array, read_file
from ptxsim.errors import InputError, PtxsimError, suggest
from ptxsim.tensor_maps.tensor_map import TensorMap

_NAMED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_ARRAY = re.compile(r"(\w+)\[([\d, ]*)\]:(.*)")
_SCALAR = re.compile(r"(\w+):(.*)")
_MOST_DIGITS = 15

Value = np.generic | np.ndarray | bytes | TensorMap


@dataclass(frozen=True)
class Given:
    """One argument: its name (its number where it has none), what the kernel gets, and the array behind it."""

    name: str
    value: Value
    array: np.ndarray | None


def read_arguments(texts: Sequence[str], seed: int) -> list[Given]:
    """The arguments; random ones follow from the seed and their number.

    Raises:
        InputError, FileError, MemoryShortage: with the number and text of the argument.
    """
    found: list[Given] = []
    for position, text in enumerate(texts):
        try:
            found.append(_argument(text, position, seed, found))
        except PtxsimError as error:
            message = f"argument {position} '{_shortened(text)}': {error.message}"
            raise type(error)(message, error.file) from None
    return found


def read_variable(name: str, text: str, seed: int) -> np.ndarray | np.generic | bytes:
    """What `--set NAME=…` gives a variable of the module, written as an argument is.

    Raises:
        InputError, FileError, MemoryShortage: with the name and the text.
    """
    try:
        value = _argument(text, 0, seed, []).value
        if isinstance(value, TensorMap):
            raise InputError("a variable is no tensor map; give a number, an array or bytes")
        return value
    except PtxsimError as error:
        raise type(error)(f"--set {name}={_shortened(text)}: {error.message}", error.file) from None


def arrays_of(given: Sequence[Given]) -> dict[str, np.ndarray]:
    """The arrays among the arguments, by number and by name."""
    arrays = {str(number): each.array for number, each in enumerate(given) if each.array is not None}
    return arrays | {each.name: each.array for each in given if each.array is not None}


def _array_of(name: str, given: Sequence[Given]) -> np.ndarray:
    arrays = arrays_of(given)
    if name not in arrays:
        raise InputError(f"there is no array argument '{name}'{suggest(name, arrays)}")
    return arrays[name]


def _argument(text: str, position: int, seed: int, earlier: Sequence[Given]) -> Given:
    named = _NAMED.fullmatch(text)
    name, rest = (named[1], named[2]) if named else (str(position), text)
    if any(each.name == name for each in earlier):
        raise InputError(f"the name '{name}' is given twice")
    word, colon, body = rest.partition(":")
    if colon and word in _FORMS:
        value, array = _FORMS[word](body, position, seed, earlier)
    elif (match := _SCALAR.fullmatch(rest)) and not rest.endswith(".npy"):
        value, array = elements.number(match[2], elements.dtype_of(match[1])), None
    else:
        value = array = _array(rest, (seed, position))
    return Given(name, value, array)


def _array(text: str, seed: tuple[int, ...]) -> np.ndarray:
    """The array of `f32[128,64]:random` or `x.npy`."""
    match = _ARRAY.fullmatch(text)
    if match is None and text.endswith(".npy"):
        return elements.from_stored(read_array(Path(text)), None)
    if match is None:
        forms = "i32:1024, f32[128,64]:random, x.npy, same:NAME, bytes:00ff or tma:{…}"
        raise InputError(f"this is no argument; write {forms}, with NAME= before it if you like")
    dtype, shape = elements.dtype_of(match[1]), _shape(match[2])
    if not match[3].endswith(".npy"):
        return elements.filled(dtype, shape, match[3], seed)
    array = elements.from_stored(read_array(Path(match[3])), dtype)
    if array.shape != shape:
        raise InputError(f"the file holds an array of shape {list(array.shape)}, not {list(shape)}")
    return array


def _shape(text: str) -> tuple[int, ...]:
    extents = [extent.strip() for extent in text.split(",")]
    if not all(extent.isdigit() and len(extent) <= _MOST_DIGITS for extent in extents):
        raise InputError(f"'[{text[:60]}]' is no shape; write extents, as in f32[128,64]")
    return tuple(int(extent) for extent in extents)


def _same(body: str, position: int, seed: int, earlier: Sequence[Given]) -> tuple[Value, np.ndarray]:
    array = _array_of(body, earlier)
    return array, array


def _bytes(body: str, position: int, seed: int, earlier: Sequence[Given]) -> tuple[Value, None]:
    if body.startswith("@"):
        return read_file(Path(body[1:])), None
    try:
        return bytes.fromhex(body), None
    except ValueError:
        message = f"'{_shortened(body)}' is no row of bytes; write two hexadecimal digits for each, or @FILE"
        raise InputError(message) from None


def _tensor_map(body: str, position: int, seed: int, earlier: Sequence[Given]) -> tuple[Value, np.ndarray]:
    text = read_file(Path(body[1:])).decode("utf-8", "replace") if body.startswith("@") else body

    def array(name: str) -> np.ndarray:
        named = _NAMED.fullmatch(name)
        if named:
            message = f"the name of an argument stands before all of it, as in {named[1]}=tma:{{…}}"
            raise InputError(message)
        return _array(name, (seed, position)) if "[" in name or name.endswith(".npy") else _array_of(name, earlier)

    tensor = tensor_map_text.tensor_map(text, array)
    return tensor, tensor.global_address


_FORMS: Mapping[str, Callable[[str, int, int, Sequence[Given]], tuple[Value, np.ndarray | None]]] = {
    "same": _same,
    "bytes": _bytes,
    "tma": _tensor_map,
}


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}…"
