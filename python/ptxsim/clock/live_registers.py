"""How many registers a thread takes where no ptxas tells it: those that are live at once, within the kernel's limits.

In: a compiled kernel, the threads of a CTA, a device. Out: an estimate, or one of its bounds. A value is live from
where it is written to its last use; ptxas moves instructions so that more are, and computes some again so that fewer
are.
"""

from collections.abc import Sequence

from ptxsim.clock.devices import Device
from ptxsim.engine.executable import Executable
from ptxsim.linking.code import Code
from ptxsim.machine.site import Site
from ptxsim.parsing.types import TYPE_BITS

#: Registers of a thread at most, and the unit that they are given in. Source: CUDA C++ Programming Guide.
_MOST, _UNIT = 255, 8
#: Registers beside the values of the PTX, and ptxas' number relative to all that: the median of 17 kernels of fast.cu
#: and xudoong/GEMM that take as many as they like, and between which all but one of them are.
_OWN = 12
_RELATIVE = {"lower": 0.7, "expected": 0.9, "upper": 1.3}


def estimated_registers(
    executable: Executable, kept: int, threads: int, device: Device, bound: str = "expected"
) -> int:
    """The registers of a thread of a kernel whose CTAs have so many threads; `bound` as `weighed_code` has it.

    `kept` are those of what ptxas computes before a loop.

    With `setmaxnreg` a kernel begins with as many as its CTA has room for; with `.maxnreg` or bounds of its launch it
    has at most what these leave, and never more than its CTA has room for.
    """
    room = int(device.registers_per_sm) // threads // _UNIT * _UNIT
    most = min(_limit(executable.code, device), max(_UNIT, room))
    if any(each.opcode == "setmaxnreg" for each in executable.code.instructions):
        return most
    wanted = (live_registers(executable.sites) + kept + _OWN) * _RELATIVE[bound]
    return min(most, -(-int(wanted) // _UNIT) * _UNIT)


def live_registers(sites: Sequence[Site]) -> int:
    """The most registers of 32 bits that are live before an instruction."""
    registers = sites[0].code.slots if sites else ()
    wide = sum(1 << each.index for each in registers if TYPE_BITS[each.type] == 64)
    widest = sum(1 << each.index for each in registers if TYPE_BITS[each.type] == 128)
    flags = sum(1 << each.index for each in registers if TYPE_BITS[each.type] == 1) | 1 << len(registers)
    most = 0
    for live in live_before(sites):
        values = live & ~flags
        most = max(most, values.bit_count() + (values & wide).bit_count() + 3 * (values & widest).bit_count())
    return most


def live_before(sites: Sequence[Site]) -> list[int]:
    """The registers that are live before each instruction, as bits."""
    reads = [sum(1 << slot for slot in site.reads) for site in sites]
    kept = [~sum(1 << slot for slot in site.writes) if site.guard_slot is None else -1 for site in sites]
    ways = [[*site.targets, *([site.index + 1] if site.falls_through else [])] for site in sites]
    live = [0] * (len(sites) + 1)
    changed = True
    while changed:
        changed = False
        for at in range(len(sites) - 1, -1, -1):
            after = 0
            for way in ways[at]:
                after |= live[way] if way <= len(sites) else 0
            before = reads[at] | (after & kept[at])
            if before != live[at]:
                live[at], changed = before, True
    return live[:-1]


def _limit(code: Code, device: Device) -> int:
    """The most registers that the directives of a kernel leave a thread."""
    directives = code.kernel.function.directives
    if "maxnreg" in directives:
        return directives["maxnreg"][0]
    shape = directives.get("reqntid") or directives.get("maxntid")
    if shape is None:
        return _MOST
    threads = 1
    for extent in shape:
        threads *= extent
    ctas = max(1, directives.get("minnctapersm", (1,))[0])
    return min(_MOST, int(device.registers_per_sm) // (threads * ctas) // _UNIT * _UNIT)
