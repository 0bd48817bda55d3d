"""Bank swizzling of shared memory by tensor copies: where a byte of a box lies.

The 16-byte chunks of shared memory form lines of 128 bytes. A swizzle exchanges chunks within its span: the index of
the chunk in its span is XORed with the index of the line, modulo the chunks of a span. It acts on the address, not on
the row of the box: a box that does not begin where the pattern repeats is shifted against it.

Source: PTX ISA 9.1 §5.5.7 (Swizzling Modes); CUDA C++ Programming Guide, table "Swizzle Pattern Pointer Offset
Formula and Index Relation".
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

#: Swizzle → its span in bytes: the inner dimension of a box must not be longer.
SPANS = {"32B": 32, "64B": 64, "128B": 128}

CHUNK = 16
LINE = 128


def swizzled_addresses(addresses: NDArray[np.int64], swizzle: str) -> NDArray[np.int64]:
    """The shared-memory addresses at which the bytes of these unswizzled addresses lie.

    `swizzle` is "none" or a key of `SPANS`. The function is its own inverse, and keeps the lower 4 bits of an address.
    """
    if swizzle == "none":
        return addresses
    chunks = SPANS[swizzle] // CHUNK
    return addresses ^ (addresses // LINE % chunks * CHUNK)


def swizzled_bytes(contents: NDArray[np.uint8], address: int, swizzle: str) -> NDArray[np.uint8]:
    """The bytes of a box as they lie in shared memory from `address` on, or, from those, the bytes of the box.

    `contents` is whole rows, each as long as the span of the swizzle; `address` is a multiple of 128.
    """
    if swizzle == "none":
        return contents
    places = _chunk_places(len(contents) // CHUNK, address // LINE % (LINE // CHUNK), swizzle)
    return contents.view(f"V{CHUNK}")[places].view(np.uint8)


@lru_cache(maxsize=256)
def _chunk_places(count: int, line: int, swizzle: str) -> NDArray[np.int64]:
    """The place that each of `count` chunks goes to, from the line of number `line` on."""
    return swizzled_addresses(line * LINE + np.arange(count, dtype=np.int64) * CHUNK, swizzle) // CHUNK - line * (
        LINE // CHUNK
    )
