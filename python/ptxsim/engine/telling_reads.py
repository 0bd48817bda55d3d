"""Reads that tell a thread something: their value decides where it goes, or goes on to memory, where it may decide.

In: the compiled instructions. Out: the loads and atomics among them of which that is so. Registers are looked at as
wholes, and in no order, so that a read tells rather too often; an address that comes from it decides nothing.
"""

from ptxsim.machine.site import Site

_READS = frozenset({"ld", "atom"})
_WRITES = frozenset({"st", "atom", "red"})


def telling_reads(sites: list[Site]) -> frozenset[int]:
    """The numbers of the loads and atomics whose value decides a branch or a guard, or is written to memory."""
    deciding = {site.guard_slot for site in sites if site.guard_slot is not None}
    deciding |= {slot for site in sites if site.instruction.opcode in _WRITES for slot in _values(site)}
    computed = [(site.writes, _values(site)) for site in sites if site.instruction.opcode not in _READS]
    before = -1
    while len(deciding) > before:
        before = len(deciding)
        for results, operands in computed:
            if not results.isdisjoint(deciding):
                deciding |= operands
    return frozenset(
        site.index for site in sites if site.instruction.opcode in _READS and not site.writes.isdisjoint(deciding)
    )


def _values(site: Site) -> set[int]:
    """The registers that an instruction reads otherwise than for an address."""
    return {slot for slot in site.reads if site.roles.get(slot) != "an address"}
