"""The arithmetic of PTX: what each instruction that only computes does to the bits of its operands.

In: an opcode and its modifiers. Out: an `Operation`, a function from bit patterns to bit patterns. One module for each
section of the ISA, each with a registry of its opcodes (`BUILDERS`); `add` and others are in two of them, and the
modifiers say which one is meant. Instructions that move data between threads or memory are the engine's.
"""

import dataclasses
from functools import cache

import numpy as np

from ptxsim.semantics import (
    approximate,
    bits,
    convert,
    dot,
    extended,
    float_compare,
    float_sign,
    floating,
    integer,
    logic,
    move,
    packed,
    select,
    video,
)
from ptxsim.semantics.operation import Operation, UnknownInstruction, merged

__all__ = ["Operation", "UnknownInstruction", "bare_operation", "operation"]

_INTEGER = (integer, extended, packed, dot, bits, logic, select, move, video)
_FLOATING = (floating, approximate, float_sign, float_compare, convert)
_BUILDERS = merged([module.BUILDERS for module in (*_INTEGER, *_FLOATING)])


@cache
def operation(opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    """The operation `opcode.modifiers`, or None if the opcode is not one that only computes.

    Raises:
        UnknownInstruction: the opcode is known, and its modifiers are not.
    """
    found = bare_operation(opcode, modifiers)
    return found and dataclasses.replace(found, function=np.errstate(all="ignore")(found.function))


@cache
def bare_operation(opcode: str, modifiers: tuple[str, ...]) -> Operation | None:
    """The same with a function of which numpy may warn, for who calls many of them and lets it ignore errors before.

    Raises:
        UnknownInstruction: the opcode is known, and its modifiers are not.
    """
    builders = _BUILDERS.get(opcode)
    if builders is None:
        return None
    for builder in builders:
        found = builder(modifiers)
        if found is not None:
            return found
    raise UnknownInstruction(f"'{'.'.join((opcode, *modifiers))}' is not an instruction that the simulator knows")
