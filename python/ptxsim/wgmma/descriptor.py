"""The matrix descriptor of `wgmma`: where the parts of a matrix in shared memory lie.

In: a 64-bit descriptor and the extents of the matrix. Out: the shared address of every chunk of 16 bytes, the unit of
all layouts: K-major, a chunk holds neighbours along k, MN-major, along m or n.

The address of a chunk is formed linearly, from the start address and the two strides, and then swizzled: the number of
the chunk within its line of 128 bytes is XORed with the number of the line. That is a function of the address alone, so
a start address in the middle of a pattern (a step along k) needs nothing more. Where the pattern does not start on
its natural boundary, the base offset is the number of the line at which it does. Start addresses have 18 bits.

Source: PTX ISA §9.7.15.5.1.2 (layouts, strides, canonical layouts), §9.7.15.5.1.2.2 (descriptor format).
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

CHUNK_BYTES = 16
_LINE_SHIFT = 7  # lines of 128 bytes: the swizzle's row number is in the address bits from here on
_CHUNK_SHIFT = 4
_CORE = 8  # rows of a core matrix, and lines of a swizzle pattern
_WIDTHS = (16, 128, 64, 32)  # bytes of a row of the swizzle atom, by the two bits of the mode; 16: no swizzle


@dataclass(frozen=True)
class MatrixDescriptor:
    """The fields of a matrix descriptor, addresses and offsets in bytes.

    `width`: the bytes of a row of the swizzle atom: 32, 64 or 128, or 16 without swizzle.
    """

    start: int
    leading: int
    stride: int
    base_offset: int
    width: int

    @classmethod
    def decoded(cls, bits: int) -> "MatrixDescriptor":
        """The fields of a descriptor; bits that the ISA does not name are not looked at."""
        return cls(
            start=_encoded(bits, 0),
            leading=_encoded(bits, 16),
            stride=_encoded(bits, 32),
            base_offset=bits >> 49 & 0x7,
            width=_WIDTHS[bits >> 62 & 0x3],
        )


def _encoded(bits: int, shift: int) -> int:
    """The 18-bit value of which a descriptor holds the upper 14 bits."""
    return (bits >> shift & 0x3FFF) << 4


@lru_cache(maxsize=4096)
def chunk_addresses(descriptor: int, extent: int, k: int, element_bytes: int, mn_major: bool) -> np.ndarray:
    """The shared address of every chunk of a matrix, read-only; each chunk is read whole.

    Shapes: K-major: [extent, k · element_bytes / 16]; MN-major: [k, extent · element_bytes / 16]; int64.

    Args:
        descriptor: its 64 bits.
        extent: m of A, or n of B: a multiple of 8.
        k: the extent along k.
        element_bytes: the size of an element.
        mn_major: whether m or n is contiguous (`imm-trans-a`, `imm-trans-b`), and not k.
    """
    fields = MatrixDescriptor.decoded(descriptor)
    if mn_major:
        offsets = _mn_major(fields, k, extent * element_bytes // CHUNK_BYTES)
    else:
        offsets = _k_major(fields, extent, k * element_bytes // CHUNK_BYTES)
    addresses = canonical_addresses(fields.start + offsets, fields)
    addresses.setflags(write=False)
    return addresses


def _k_major(fields: MatrixDescriptor, extent: int, chunks: int) -> np.ndarray:
    """The offsets [extent, chunks]: rows of the atom's width, groups of 8 rows at the stride.

    Swizzled, the chunks of a row are neighbours and the leading offset is not used; without swizzle it is their
    distance.
    """
    row, chunk = np.arange(extent)[:, None], np.arange(chunks)[None, :]
    distance = CHUNK_BYTES if _is_swizzled(fields) else fields.leading
    return row % _CORE * fields.width + row // _CORE * fields.stride + chunk * distance


def _mn_major(fields: MatrixDescriptor, k: int, chunks: int) -> np.ndarray:
    """The offsets [k, chunks]: a line of the atom's width for each k, 8 of them an atom.

    Swizzled, atoms are at the leading offset along m or n, and at the stride along k; without swizzle, where an atom
    is one chunk wide, the other way round.
    """
    line, chunk = np.arange(k)[:, None], np.arange(chunks)[None, :]
    along_mn, along_k = (fields.leading, fields.stride) if _is_swizzled(fields) else (fields.stride, fields.leading)
    wide = fields.width // CHUNK_BYTES
    within = line % _CORE * fields.width + chunk % wide * CHUNK_BYTES
    return within + chunk // wide * along_mn + line // _CORE * along_k


def _is_swizzled(fields: MatrixDescriptor) -> bool:
    return fields.width > CHUNK_BYTES


def canonical_addresses(addresses: np.ndarray, fields: MatrixDescriptor) -> np.ndarray:
    """The addresses of the bytes at linear addresses: Swizzle<0 to 3, 4, 3> of the canonical layouts."""
    line = (addresses >> _LINE_SHIFT) - fields.base_offset
    return addresses ^ (line & fields.width // CHUNK_BYTES - 1) << _CHUNK_SHIFT


def matrix_of_chunks(chunks: np.ndarray, element_bytes: int, mn_major: bool) -> np.ndarray:
    """The elements [extent, k] in the chunks of a matrix, as bit patterns.

    Shapes: chunks [..., 16] uint8, in the order of `chunk_addresses`.
    """
    lines = np.ascontiguousarray(chunks).view(f"<u{element_bytes}")
    elements = lines.reshape(*lines.shape[:-2], -1)
    return elements.swapaxes(-1, -2) if mn_major else elements
