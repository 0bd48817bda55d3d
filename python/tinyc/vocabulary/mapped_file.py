"""Bytes of a file in memory, which are read when they are needed: for as long as the file is what it was.

A part of a mapped file that has been cut off since ends the process when it is read, and what has been written since is
not what was looked at. So whoever reads elements that may be in a file asks before (`require_unchanged`). A file that
another one takes the place of stays as it is for those who have it.

What has been read takes memory until its pages are given back (`give_back_pages`): they are read again when somebody
needs them again, as a rule from memory that the system holds of files anyway. So whoever copies a file goes through it
in parts (`once_through`).
"""

import mmap
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from tinyc.diagnostics import TinycError, Where

#: Of so many bytes at most are pages held while a file is gone through.
PART_BYTES = 1 << 22


class MappedFile(np.memmap[Any, np.dtype[np.uint8]]):
    """Bytes of a file, read-only; `state` is what the file was. Views are arrays of this class, without a state."""

    state: os.stat_result


def map_file(file: IO[bytes], path: Path, offset: int = 0, size_bytes: int | None = None) -> MappedFile:
    """The bytes of an open file from an offset on, of which there are enough, all by default.

    Raises:
        OSError, ValueError: it cannot be mapped.
    """
    state = os.fstat(file.fileno())
    size = state.st_size - offset if size_bytes is None else size_bytes
    mapped = cast(MappedFile, MappedFile(file, np.uint8, "r", offset, (size,)))  # numpy's stubs say np.memmap
    mapped.filename, mapped.state = str(path.resolve()), state
    return mapped


def require_unchanged(array: np.ndarray) -> None:
    """Check that the file that an array is in, if it is in one, is what it was when it was mapped.

    Raises:
        TinycError: `UnreadableFile`.
    """
    mapped = mapping_of(array)
    if mapped is not None:
        mapping: Any = mapped.base  # which numpy's stubs take for an array
        _require_unchanged(mapped, mapping.size())


def mapping_of(array: np.ndarray) -> MappedFile | None:
    """The mapped file that an array is a view of; None where its memory is no file's."""
    held: Any = array
    while isinstance(held, np.ndarray | memoryview):
        if isinstance(held, MappedFile) and isinstance(held.base, mmap.mmap):
            return held
        held = held.obj if isinstance(held, memoryview) else held.base
    return None


def give_back_pages(array: np.ndarray) -> None:
    """Take the pages that an array has in a mapped file, if it is in one, out of the memory of this process.

    The array stays what it is. Where the system has no such call, nothing happens.
    """
    mapped = mapping_of(array)
    if mapped is None or not array.size or not hasattr(mmap, "MADV_DONTNEED"):
        return
    mapping: Any = mapped.base  # as above
    first = mapped.ctypes.data - mapped.offset % mmap.ALLOCATIONGRANULARITY  # where numpy lets a mapping begin
    low, high = (address - first for address in np.lib.array_utils.byte_bounds(array))
    page = low - low % mmap.PAGESIZE
    mapping.madvise(mmap.MADV_DONTNEED, page, high - page)


def once_through(array: np.ndarray) -> Iterator[np.ndarray]:
    """The elements of a dense array in parts of one axis, in order; one's pages are given back before the next one."""
    flat, count = array.reshape(-1), max(1, PART_BYTES // array.itemsize)
    for start in range(0, flat.size, count):
        part = flat[start : start + count]
        yield part
        give_back_pages(part)


def _require_unchanged(mapped: MappedFile, size_bytes: int) -> None:
    before, path = mapped.state, Path(str(mapped.filename))
    what = f"it has {size_bytes} bytes now, and had {before.st_size}" if size_bytes != before.st_size else None
    try:
        now = path.stat()
    except OSError:  # it has no name any more, and only its size can be asked for
        now = before
    if what is None and os.path.samestat(now, before) and now.st_mtime_ns != before.st_mtime_ns:
        what = f"it was written to {(now.st_mtime_ns - before.st_mtime_ns) / 1e9:.3f} s later"
    if what is not None:
        message = (
            f"the file has changed since it was mapped into memory: {what}; compile or load the program again, and "
        )
        raise TinycError(
            "UnreadableFile", message + "put a new file in the place of one that is used", Where(file=str(path))
        )
