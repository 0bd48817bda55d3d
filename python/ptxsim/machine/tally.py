"""Turns the tallies of a finished launch into `report.Counters`."""

from collections.abc import Mapping, Sequence

from ptxsim.counters import ArrayCount, Counters, LineCount
from ptxsim.machine.address_names import Named
from ptxsim.machine.launch import Launch
from ptxsim.memory.traffic import Tally


def counters(launch: Launch, *arguments: Mapping[int, Named]) -> Counters:
    """The counters of the launch, by opcode, space, line and array.

    `arguments` are the arrays, and what else is in global memory, by the numbers of the arguments that gave them.
    """
    named = [each for given in arguments for each in given.items()]
    found = Counters(barriers=launch.barriers, fences=launch.fences, arrays=_arrays(launch, named))
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


def _arrays(launch: Launch, named: Sequence[tuple[int, Named]]) -> list[ArrayCount]:
    """What was accessed, in the order of memory."""
    traffic, given = launch.arrays, dict[int, list[tuple[int, Named]]]()
    for number, array in named:
        given.setdefault(traffic.range_at(array.start - launch.memory.base), []).append((number, array))
    found: list[ArrayCount] = []
    for place in sorted({place for place, _ in traffic.tallies}):
        load, store, atomic = (traffic.tallies.get((place, kind), Tally()) for kind in ("load", "store", "atomic"))
        here = given.get(place, [])
        name = ", ".join(dict.fromkeys(array.name for _, array in here)) or "variables of the module"
        found.append(
            ArrayCount(
                name,
                tuple(number for number, _ in here),
                load.lanes + atomic.lanes,
                store.lanes + atomic.lanes,
                load.units + atomic.units,
                store.units + atomic.units,
            )
        )
    return found


def _add(known: dict[int, LineCount], line: int, more: LineCount) -> None:
    before = known.get(line, LineCount(more.opcode, 0, 0, 0))
    known[line] = LineCount(
        more.opcode, before.requests + more.requests, before.units + more.units, before.fewest + more.fewest
    )
