"""Host memory for one run: the arena, and fresh arrays for the outputs."""

import math
import os

import numpy as np

from tinyc.analysis.arena import ALIGNMENT_BYTES
from tinyc.diagnostics import TinycError


def allocate_arena(size_bytes: int) -> np.ndarray:
    """`size_bytes` bytes of uninitialised memory, aligned as every offset into it is.

    Raises:
        TinycError: `OutOfMemory`.
    """
    raw = allocate_array((size_bytes + ALIGNMENT_BYTES,), np.dtype(np.uint8), "the arena")
    start = -raw.ctypes.data % ALIGNMENT_BYTES
    return raw[start : start + size_bytes]


def allocate_array(shape: tuple[int, ...], dtype: np.dtype, purpose: str) -> np.ndarray:
    """An uninitialised array.

    Raises:
        TinycError: `OutOfMemory`; `purpose` says for what.
    """
    try:
        if math.prod(shape) * dtype.itemsize > memory_bytes():
            raise MemoryError
        return np.empty(shape, dtype)
    except (MemoryError, ValueError, OverflowError):
        raise TinycError(
            "OutOfMemory",
            f"there is no memory for {purpose}, a {dtype} array of shape {list(shape)}; use smaller inputs",
        ) from None


def memory_bytes() -> int:
    """The machine's memory: an allocation beyond it may succeed, and end the process when it is used."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
