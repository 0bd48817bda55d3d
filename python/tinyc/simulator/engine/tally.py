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
        more = LineCount(instruction.opcode, requests, units, fewest)
        if space == "global":
            _add(found.sectors, instruction.line, more)
        elif space == "shared":
            _add(found.passes, instruction.line, more)
            found.bank_conflicts[instruction.line] += units - fewest
    return found


def _add_bytes(found: Counters, access: Access, space: str, lanes: int) -> None:
    if access.kind != "store":
        found.read[space, access.size] += lanes * access.size
    if access.kind != "load":
        found.written[space, access.size] += lanes * access.size


def _add(known: dict[int, LineCount], line: int, more: LineCount) -> None:
    before = known.get(line, LineCount(more.opcode, 0, 0, 0))
    known[line] = LineCount(
        more.opcode, before.requests + more.requests, before.units + more.units, before.fewest + more.fewest
    )
