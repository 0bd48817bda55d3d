"""Turns the tallies of a finished launch into `report.Counters`."""

from ptxsim.counters import Counters, LineCount
from ptxsim.machine.launch import Launch


def counters(launch: Launch) -> Counters:
    """The counters of the launch, by opcode, space and line."""
    found = Counters(barriers=launch.barriers, fences=launch.fences)
    instructions = launch.code.instructions
    for instruction, count in zip(instructions, launch.counts.tolist(), strict=False):
        if count:
            found.instructions[instruction.opcode] += count
    for (number, kind, space, size), tally in launch.tallies.items():
        instruction = instructions[number]
        if kind != "store":
            found.read[space, size] += tally.lanes * size
        if kind != "load":
            found.written[space, size] += tally.lanes * size
        more = LineCount(instruction.opcode, tally.requests, tally.units, tally.fewest)
        if space == "global":
            _add(found.sectors, instruction.line, more)
        elif space == "shared":
            _add(found.passes, instruction.line, more)
            found.bank_conflicts[instruction.line] += tally.units - tally.fewest
    return found


def _add(known: dict[int, LineCount], line: int, more: LineCount) -> None:
    before = known.get(line, LineCount(more.opcode, 0, 0, 0))
    known[line] = LineCount(
        more.opcode, before.requests + more.requests, before.units + more.units, before.fewest + more.fewest
    )
