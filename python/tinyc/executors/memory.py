"""Refuse what this machine has no memory for, before it is touched: an allocation beyond it may succeed at first."""

import math

import numpy as np

from tinyc.diagnostics import TinycError
from tinyc.runtime.sizes import memory_bytes


def require_memory(shape: tuple[int, ...], dtype: np.dtype, purpose: str) -> None:
    """Check that an array of that shape could be made.

    Raises:
        TinycError: `OutOfMemory`; `purpose` says what the array is for.
    """
    needed = math.prod(shape) * dtype.itemsize
    if needed > memory_bytes():
        raise TinycError(
            "OutOfMemory",
            f"{purpose} of shape {list(shape)} needs {needed} bytes, and this machine has {memory_bytes()} bytes of "
            "memory; use smaller sizes",
        )
