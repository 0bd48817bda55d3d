"""The matrix descriptor: the ISA's examples of canonical layouts, evaluated here as CuTe layouts, and its fields.

A layout is ((extents…), (extents…)):((strides…), (strides…)) over (m or n, k), in elements; the swizzle<B, 4, 3> XORs
the B bits of an address from bit 7 on into those from bit 4 on. Source: PTX ISA §9.7.15.5.1.2.
"""

import numpy as np
import pytest

from ptxsim.wgmma.descriptor import MatrixDescriptor, chunk_addresses

Mode = tuple[tuple[int, ...], tuple[int, ...]]
SWIZZLE_BITS = {0: 0, 3: 1, 2: 2, 1: 3}  # the descriptor's mode to B


def descriptor(start: int, leading: int, stride: int, mode: int, base_offset: int = 0) -> int:
    fields = (start >> 4) | (leading >> 4) << 16 | (stride >> 4) << 32 | base_offset << 49 | mode << 62
    assert start % 16 == leading % 16 == stride % 16 == 0
    return fields


def offset(mode: Mode, index: int) -> int:
    """Where a layout's mode puts an index: its digits, the first fastest, times the strides."""
    total = 0
    for extent, stride in zip(*mode, strict=True):
        index, digit = divmod(index, extent)
        total += digit * stride
    assert index == 0
    return total


def swizzle(address: int, bits: int) -> int:
    return address ^ (address >> 3 & ((1 << bits) - 1) << 4)


def element_addresses(chunks: np.ndarray, element_bytes: int, mn_major: bool) -> np.ndarray:
    """The address of every element [mn, k] from those of the chunks."""
    within = np.arange(0, 16, element_bytes)
    elements = (chunks[..., None] + within).reshape(chunks.shape[0], -1)
    return elements.T if mn_major else elements


# (mn mode, k mode, element bytes, LBO, SBO, descriptor mode, MN-major), strides in bytes as the examples give them.
EXAMPLES = {
    "K, none, tf32": (((8, 2), (4, 32)), ((4, 4), (1, 64)), 4, 64 * 4, 32 * 4, 0, False),
    "K, 32B, tf32": (((8, 2), (8, 64)), ((4, 2), (1, 4)), 4, 16, 64 * 4, 3, False),
    "MN, none, bf16": (((8, 1, 2), (1, 8, 64)), ((8, 2), (8, 128)), 2, 128 * 2, 64 * 2, 0, True),
    "MN, 32B, bf16": (((8, 2, 2), (1, 8, 128)), ((8, 2), (16, 256)), 2, 128 * 2, 256 * 2, 3, True),
    "MN, 64B, bf16": (((8, 4, 2), (1, 8, 256)), ((8, 2), (32, 512)), 2, 256 * 2, 512 * 2, 2, True),
    # By the table of canonical layouts, with strides larger than the atoms.
    "MN, 128B, bf16": (((8, 8, 2), (1, 8, 2048)), ((8, 2), (64, 1024)), 2, 4096, 2048, 1, True),
    "K, 64B, f16": (((8, 3), (32, 512)), ((8, 4), (1, 8)), 2, 16, 1024, 2, False),
    "K, 128B, f16": (((8, 3), (64, 1024)), ((8, 8), (1, 8)), 2, 16, 2048, 1, False),
    "K, 128B, s8": (((8, 3), (128, 1024)), ((16, 8), (1, 16)), 1, 16, 1024, 1, False),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_canonical_layouts(name: str) -> None:
    # A matrix of several steps of k is read by steps of 32 bytes of k, each from a start address of its own.
    along_mn, along_k, size, leading, stride, mode, mn_major = EXAMPLES[name]
    base, extent, step = 8192, int(np.prod(along_mn[0])), 32 // size
    for start_k in range(0, int(np.prod(along_k[0])), step):
        start = base + size * offset(along_k, start_k)
        chunks = chunk_addresses(descriptor(start, leading, stride, mode), extent, step, size, mn_major)
        expected = [
            [
                swizzle(base + size * (offset(along_mn, mn) + offset(along_k, start_k + k)), SWIZZLE_BITS[mode])
                for k in range(step)
            ]
            for mn in range(extent)
        ]
        np.testing.assert_array_equal(element_addresses(chunks, size, mn_major), expected)


def test_the_fields_and_their_places() -> None:
    fields = MatrixDescriptor.decoded(0x1234 | 0x0ABC << 16 | 0x3FFF << 32 | 5 << 49 | 2 << 62)
    assert fields == MatrixDescriptor(start=0x12340, leading=0xABC0, stride=0x3FFF0, base_offset=5, width=64)


def test_reserved_bits_are_not_read() -> None:
    reserved = 3 << 14 | 3 << 30 | 7 << 46 | 0x3FF << 52
    assert MatrixDescriptor.decoded(reserved) == MatrixDescriptor(start=0, leading=0, stride=0, base_offset=0, width=16)


def test_without_swizzle_the_base_offset_is_not_read() -> None:
    plain, with_base = (chunk_addresses(descriptor(1024, 128, 256, 0, base), 16, 16, 2, False) for base in (0, 3))
    np.testing.assert_array_equal(plain, with_base)


def test_the_base_offset_is_the_line_at_which_the_pattern_starts() -> None:
    # The pattern starts at line 3: there, and not at the 1024-byte boundary, row 0 is unswizzled.
    start = 2048 + 3 * 128
    chunks = chunk_addresses(descriptor(start, 16, 1024, 1, base_offset=3), 16, 64, 2, False)
    expected = [[start + 128 * row + 16 * (chunk ^ row % 8) for chunk in range(8)] for row in range(16)]
    np.testing.assert_array_equal(chunks, expected)


def test_addresses_cannot_be_written() -> None:
    chunks = chunk_addresses(descriptor(0, 16, 1024, 1), 8, 16, 2, False)
    with pytest.raises(ValueError, match="read-only"):
        chunks[0, 0] = 1
