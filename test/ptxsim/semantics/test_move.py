"""Moves, and permutations of bytes against the ISA's tables. Source: PTX ISA §9.7.9.2 and §9.7.9.7."""

import numpy as np
import pytest

from ptxsim.semantics import operation
from ptxsim_cases.semantics_samples import check, run

# Bytes 3, 2, 1, 0 of the result, for selectors 0 to 3.
MODES = {
    "f4e": ("3210", "4321", "5432", "6543"),
    "b4e": ("5670", "6701", "7012", "0123"),
    "rc8": ("0000", "1111", "2222", "3333"),
    "ecl": ("3210", "3211", "3222", "3333"),
    "ecr": ("0000", "1110", "2210", "3210"),
    "rc16": ("1010", "3232", "1010", "3232"),
}


@pytest.mark.parametrize("kind", ["pred", "b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"])
def test_mov(kind):
    check(f"mov.{kind}", lambda a: a)


def test_mov_of_128_bits():
    bits = np.arange(64, dtype=np.uint64).reshape(32, 2)
    assert np.array_equal(operation("mov", ("b128",)).function(bits)[0], bits)


# Byte i of {b, a} holds 0x80 + i here, so that the result shows the bytes' numbers.
@pytest.mark.parametrize("mode", MODES)
def test_modes(mode):
    for selector, bytes_ in enumerate(MODES[mode]):
        wanted = int("".join(f"8{byte}" for byte in bytes_), 16)
        assert run(f"prmt.b32.{mode}", 0x83828180, 0x87868584, selector) == wanted
        assert run(f"prmt.b32.{mode}", 0x83828180, 0x87868584, 0xFFFFFFF4 + selector) == wanted


# Each nibble chooses a byte; its top bit makes eight copies of that byte's sign. The upper half of c is ignored.
def test_any_permutation():
    def permuted(a, b, c):
        source = (b << 32 | a).to_bytes(8, "little")
        chosen = bytearray()
        for i in range(4):
            nibble = c >> 4 * i & 15
            byte = source[nibble & 7]
            chosen.append(0xFF * (byte >> 7) if nibble & 8 else byte)
        return int.from_bytes(chosen, "little")

    check("prmt.b32", permuted)
    assert run("prmt.b32", 0x00007F80, 0, 0x9898) == 0x00FF00FF


# A selector that is the same for all threads, as an immediate is, chooses the same bytes as one in a register.
def test_one_selector_for_all():
    a, b = (np.arange(first, first + 64, dtype=np.uint32).reshape(2, 32) * np.uint32(0x9E3779B9) for first in (0, 64))
    for modifiers, selector in ((("b32",), 0x9D64), (("b32", "b4e"), 1)):
        permute = operation("prmt", modifiers).function
        wanted = permute(a, b, np.full((2, 32), selector, np.uint32))[0]
        assert np.array_equal(permute(a, b, np.array(selector, np.uint32))[0], wanted)
        assert np.array_equal(permute(a, b, np.broadcast_to(np.uint32(selector), (2, 32)))[0], wanted)
