"""Disassembly as nvdisasm prints it, from short rows; and the skip where ptxas or nvdisasm is missing."""

import pytest

from ptxsim.clock.sass.listing import read_listing
from ptxsim.clock.sass.toolchain import find_program

needs_sass_tools = pytest.mark.skipif(
    find_program("ptxas") is None or find_program("nvdisasm") is None,
    reason="did not run: there is no ptxas or no nvdisasm; they come with the extra tinyc[clock]",
)


def control_bits(stall=1, write=7, read=7, waits=(), switches=False):
    return stall | (not switches) << 4 | write << 5 | read << 8 | sum(1 << each for each in waits) << 11


def sass_text(name, *rows):
    """A row is "LABEL:", or (PTX line, text) with keywords of `control_bits` as a third item."""
    text = [f'\t.section\t.text.{name},"ax",@progbits', "\t.sectioninfo\t@SHI", f"{name}:", f".text.{name}:"]
    address = 0
    for row in rows:
        if isinstance(row, str):
            text.append(row)
            continue
        line, words, *control = row
        high = control_bits(**(control[0] if control else {})) << 41
        text.append(f'\t//## File ".nv_debug_ptx_txt", line {line}')
        text.append(f"        /*{address:04x}*/    {words} ;    /* 0x{0x7918:016x} */")
        text.append(f"{'':40}/* 0x{high:016x} */")
        address += 16
    return "\n".join(text) + "\n"


def sass_function(*rows):
    return read_listing(sass_text("k", *rows))["k"]
