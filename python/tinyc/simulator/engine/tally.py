"""Turns the tallies of a finished launch into `report.Counters`."""

from collections import Counter

from tinyc.simulator.engine.access import Access
from tinyc.simulator.engine.launch import Launch
from tinyc.simulator.report import Counters, LineCount


def counters(launch: Launch) -> Counters:
    """Return what the launch did, by opcode, space and line."""
    found = Counters(barriers=launch.barriers, fences=Counter(launch.fences))
    instructions = launch.program.code.instructions
    for instruction, count in zip(instructions, launch.counts.tolist(), strict=False):
        if count:
            found.instructions[instruction.opcode] += count
    for (access, space), (lanes, requests, units, fewest) in launch.tallies.items():
        instruction = instructions[access.number]
        _add_bytes(found, access, space, lanes)
        if space == "global":
            found.sectors[instruction.line] = _added(
                found.sectors, instruction.line, instruction.opcode, requests, units
            )
        elif space == "shared":
            found.passes[instruction.line] = _added(found.passes, instruction.line, instruction.opcode, requests, units)
            found.bank_conflicts[instruction.line] += units - fewest
    return found


def _add_bytes(found: Counters, access: Access, space: str, lanes: int) -> None:
    if access.kind != "store":
        found.read[space, access.size] += lanes * access.size
    if access.kind != "load":
        found.written[space, access.size] += lanes * access.size


def _added(known: dict[int, LineCount], line: int, opcode: str, requests: int, units: int) -> LineCount:
    before = known.get(line, LineCount(opcode, 0, 0))
    return LineCount(opcode, before.requests + requests, before.units + units)
