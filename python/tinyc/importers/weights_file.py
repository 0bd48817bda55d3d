"""Tensors in files: safetensors and `.npz`, mapped into memory where they lie, so that no more is read than is used.

In: a path and a tensor's name. Out: a read-only array over the file. A `.npz` member that is compressed, or not in
row-major order, is read. Nothing in a file is evaluated: pickled objects are refused.
"""

import json
import math
import os
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np

from tinyc.diagnostics import TinycError, Where, suggest
from tinyc.importers.files import unreadable_file
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.mapped_file import map_file

#: What safetensors calls the element types.
SAFETENSORS_TYPES = {
    **{f"F{bits}": ElementType(f"f{bits}") for bits in (16, 32, 64)},
    **{f"I{bits}": ElementType(f"i{bits}") for bits in (8, 16, 32, 64)},
    **{f"U{bits}": ElementType(f"ui{bits}") for bits in (8, 16, 32, 64)},
    "BF16": ElementType.BF16,
    "BOOL": ElementType.BOOL,
}
#: The longest header that the format allows.
_MAX_HEADER_BYTES = 100_000_000
#: What the standard library and numpy raise of a file that they cannot read.
_DAMAGED = (
    *(OSError, ValueError, EOFError, NotImplementedError, RuntimeError),
    *(struct.error, zlib.error, zipfile.BadZipFile),
)
#: What stands in front of the name of a member, in a zip archive.
_LOCAL_HEADER = struct.Struct("<4s22xHH")


def read_tensor(path: Path, name: str) -> np.ndarray:
    """The tensor called `name` in a file; bf16 in a `.npz`, which has no type for it, comes as the bits.

    Raises:
        TinycError: `UnreadableFile`: there is no such file or tensor, it is damaged, or of a type that Tiny lacks.
    """
    read = _from_npz if _is_npz(path) else _from_safetensors
    try:
        with path.open("rb") as file:
            return read(file, path, name)
    except _DAMAGED as error:
        raise unreadable_file("read", path, error) from None


def read_tensors(path: Path) -> dict[str, np.ndarray]:
    """All tensors of a file by name; see `read_tensor`.

    Raises:
        TinycError: `UnreadableFile`.
    """
    return {name: read_tensor(path, name) for name in tensor_names(path)}


def tensor_names(path: Path) -> list[str]:
    """The names of the tensors in a file.

    Raises:
        TinycError: `UnreadableFile`.
    """
    try:
        if not _is_npz(path):
            with path.open("rb") as file:
                return list(_header(file, path)[0])
        with zipfile.ZipFile(path) as archive:
            return [name.removesuffix(".npy") for name in archive.namelist()]
    except _DAMAGED as error:
        raise unreadable_file("read", path, error) from None


def _is_npz(path: Path) -> bool:
    """Whether a file of weights is a `.npz`, not safetensors.

    Raises:
        TinycError: `UnreadableFile`: it is neither, or no file: to open a pipe would wait for whoever writes it.
    """
    suffix = path.suffix.lower()
    if suffix not in (".npz", ".safetensors"):
        _refuse(path, f"'{path.suffix}' is no format of weights; give a .safetensors or an .npz file")
    if path.exists() and not path.is_file():
        _refuse(path, "weights are mapped from a file, and this is none; save them to one")
    return suffix == ".npz"


def tensor_at(path: Path, offset: int) -> str | None:
    """The name of the tensor whose bytes begin at an offset of a file; None where there is none.

    Raises:
        TinycError: `UnreadableFile`.
    """
    try:
        with path.open("rb") as file:
            if _is_npz(path):
                with zipfile.ZipFile(file) as archive:
                    for info in archive.infolist():
                        if info.compress_type == zipfile.ZIP_STORED and _npy_header(file, info)[2] == offset:
                            return info.filename.removesuffix(".npy")
                return None
            header, start = _header(file, path)
            return next((name for name, each in header.items() if start + each["data_offsets"][0] == offset), None)
    except (*_DAMAGED, KeyError, TypeError) as error:
        raise unreadable_file("read", path, error) from None


def _refuse(path: Path, message: str) -> NoReturn:
    raise TinycError("UnreadableFile", message, Where(file=str(path)))


def _mapped(file: IO[bytes], path: Path, dtype: np.dtype, offset: int, shape: tuple[int, ...]) -> np.ndarray:
    """An array over the bytes of an open file, of which there are enough."""
    count = math.prod(shape)
    if count == 0:  # no bytes can be mapped
        return np.empty(shape, dtype)
    return map_file(file, path, offset, count * dtype.itemsize).view(dtype).reshape(shape)


# --- safetensors: the length of a header in JSON, the header, and the bytes -------------------------------------------


def _from_safetensors(file: IO[bytes], path: Path, name: str) -> np.ndarray:
    header, start = _header(file, path)
    if name not in header:
        _refuse(path, f"the file has no tensor '{name}'{suggest(name, header)}")
    entry: Any = header[name]
    try:
        called, shape, (begin, end) = entry["dtype"], tuple(entry["shape"]), entry["data_offsets"]
        numbers = (*shape, begin, end)
        if any(isinstance(each, bool) or not isinstance(each, int) or each < 0 for each in numbers):
            raise TypeError
        if not isinstance(called, str):
            raise TypeError
    except (KeyError, TypeError, ValueError):
        _refuse(path, f"the entry of the tensor '{name}' is damaged; write the file again")
    if called not in SAFETENSORS_TYPES:
        known = ", ".join(SAFETENSORS_TYPES)
        _refuse(path, f"the tensor '{name}' is of type {called}, which Tiny lacks; it has {known}: convert it")
    element = SAFETENSORS_TYPES[called]
    size = os.fstat(file.fileno()).st_size - start
    if end - begin != math.prod(shape) * element.size_bytes or end > size:
        _refuse(
            path,
            f"the tensor '{name}', {called} {list(shape)}, has the bytes {begin} … {end} of {size}; the file is "
            "damaged or cut off: write it again",
        )
    return _mapped(file, path, element.dtype, start + begin, shape)


def _header(file: IO[bytes], path: Path) -> tuple[dict[str, Any], int]:
    """The entries of a safetensors file by name, and where the bytes begin."""
    first = file.read(8)
    length = int.from_bytes(first, "little")
    text = file.read(length) if len(first) == 8 and length <= _MAX_HEADER_BYTES else b""
    try:
        header = json.loads(text.decode()) if len(text) == length else None
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict):
        _refuse(path, "the file has no header of safetensors; it is another format, damaged or cut off")
    return {name: entry for name, entry in header.items() if name != "__metadata__"}, 8 + length


# --- .npz: a zip archive of .npy files --------------------------------------------------------------------------------


def _from_npz(file: IO[bytes], path: Path, name: str) -> np.ndarray:
    with zipfile.ZipFile(file) as archive:
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        if name not in members:
            _refuse(path, f"the file has no array '{name}'{suggest(name, members)}")
        info = members[name]
        if info.compress_type != zipfile.ZIP_STORED:
            with archive.open(info) as member:
                return _read_array(member, path, name)
        (shape, in_columns, dtype), size, start = _npy_header(file, info)
    _require_numbers(dtype, path, name)
    end = start + math.prod(shape) * dtype.itemsize
    if end > min(info.header_offset + size, os.fstat(file.fileno()).st_size):
        _refuse(path, f"the array '{name}' is cut off; write the file again")
    if in_columns:
        return np.ascontiguousarray(_mapped(file, path, dtype, start, shape[::-1]).T)
    return _mapped(file, path, dtype, start, shape)


def _read_array(member: IO[bytes], path: Path, name: str) -> np.ndarray:
    """An array that is compressed, read as a whole."""
    version = np.lib.format.read_magic(member)
    _require_numbers(_header_reader(version)(member)[2], path, name)
    member.seek(0)
    return np.lib.format.read_array(member, allow_pickle=False)


def _require_numbers(dtype: np.dtype, path: Path, name: str) -> None:
    if dtype.hasobject:
        _refuse(path, f"the array '{name}' holds pickled objects, which are code; save it as numbers")


def _header_reader(version: tuple[int, int]) -> Callable[[IO[bytes]], tuple[tuple[int, ...], bool, np.dtype]]:
    """What reads the header of an array of a version of the format."""
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if read is None:
        raise ValueError(f"an array is of version {version} of the format; save it again")
    return read


def _npy_header(file: IO[bytes], info: zipfile.ZipInfo) -> tuple[tuple[tuple[int, ...], bool, np.dtype], int, int]:
    """What a stored member says of its array, the member's size from its header on, and where the elements begin."""
    file.seek(info.header_offset)
    signature, name_length, extra_length = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    if signature != b"PK\x03\x04":
        raise ValueError("an entry of the archive is damaged")
    file.seek(name_length + extra_length, 1)
    before = _LOCAL_HEADER.size + name_length + extra_length
    return _header_reader(np.lib.format.read_magic(file))(file), before + info.file_size, file.tell()
