"""The address operands of instructions that access memory.

In: `[base+offset]`. Out: addresses of [n, 32] u64 in the access' state space. Source: PTX ISA, "Addresses as Operands".
"""

import numpy as np

from ptxsim.machine.cta import Read
from ptxsim.machine.site import Site
from ptxsim.memory.windows import BASES
from ptxsim.parsing.syntax import Address, Immediate, Location, Slot, Vector
from ptxsim.parsing.types import TYPE_BITS

#: The words of an instruction that name a state space → the engine's name of it.
ADDRESSED_SPACES = {
    "global": "global",
    "shared": "shared",
    "shared::cta": "shared",
    "shared::cluster": "shared::cluster",
    "local": "local",
    "const": "const",
    "param": "param",
    "param::entry": "param::entry",
    "param::func": "param::func",
}
VECTORS = {"v2": 2, "v4": 4, "v8": 8}


def address_reader(site: Site, operand: object, space: str) -> tuple[str, Read]:
    """The space that `[operand]` is in, and how to read its addresses.

    `param` becomes the kernel's arguments or the parameters of a call, whichever the name is of.
    """
    if not isinstance(operand, Address):
        site.fail("an address in brackets is expected")
    base = operand.base
    if isinstance(base, Location):
        return _of_variable(site, base, operand.offset, space)
    if space == "param":
        space = "param::entry"
    if isinstance(base, Immediate):
        constant = np.full((1, 1), (base.bits + operand.offset) & ~(-1 << 64), np.uint64)
        return space, lambda batch: constant
    if not isinstance(base, Slot):
        site.fail("the base of an address is a register or a variable")
    return space, _of_register(site, base, operand.offset)


def _of_variable(site: Site, base: Location, offset: int, space: str) -> tuple[str, Read]:
    read = site.address_of(base, "u64")
    if space == "generic":
        moved = np.uint64((BASES[base.space] + offset) & ~(-1 << 64))
        return space, lambda batch: read(batch) + moved
    if space.partition("::")[0] != base.space.partition("::")[0]:
        site.fail(f"'{base.variable.name}' is in {base.space} memory, not in {space}")
    moved = np.uint64(offset & ~(-1 << 64))
    return (space if space == "shared::cluster" else base.space), lambda batch: read(batch) + moved


def _of_register(site: Site, base: Slot, offset: int) -> Read:
    bits = TYPE_BITS[base.type]
    if bits not in (32, 64) or base.type[0] == "f":
        site.fail(f"register '{base.name}' of type {base.type} holds no address")
    read = site.reader(base, f"u{bits}")
    site.decides(base, "an address")
    if bits == 64:
        moved = np.uint64(offset & ~(-1 << 64))
        return (lambda batch: read(batch) + moved) if offset else read
    short = np.uint32(offset & ~(-1 << 32))
    return lambda batch: (read(batch) + short).astype(np.uint64)


def items(operand: object, count: int, site: Site) -> tuple:
    """The `count` registers of a vector operand, or the operand itself where it is one."""
    if isinstance(operand, Vector):
        if len(operand.items) != count:
            site.fail(f"a vector of {count} is expected, not one of {len(operand.items)}")
        return operand.items
    if count != 1:
        site.fail(f"a vector of {count} is expected")
    return (operand,)
