"""On whose results a SASS instruction waits.

In: a `SassFunction`. Out: for each instruction the earlier ones whose scoreboards it waits for: those that may have
counted a scoreboard up since it was last waited for, on any way there, also around a loop.
"""

import re
from collections.abc import Iterable

from ptxsim.clock.sass.graph import FlowGraph
from ptxsim.clock.sass.listing import SassFunction, SassInstruction

#: What is open: scoreboard → indices of the instructions that set it.
_Open = dict[int, frozenset[int]]
_COUNTED = re.compile(r"SB(\d)\s*(?:,\s*0x([0-9a-f]+))?")


def counted_wait(each: SassInstruction) -> tuple[int, int] | None:
    """The scoreboard that a `DEPBAR.LE SB0, 0x1` waits for, until at most so many are open, which end in order."""
    found = _COUNTED.match(each.operands) if each.opcode == "DEPBAR" else None
    return (int(found[1]), int(found[2] or "0", 16)) if found else None


def waited_for(function: SassFunction) -> tuple[tuple[int, ...], ...]:
    """For each instruction, by index, the indices of the instructions that it waits for, in order.

    The index is negative, -1 - index, where it waits until the operands have been read and not for the result.
    """
    blocks = function.blocks
    graph = FlowGraph(function.successors, function.entries)
    leaving: list[_Open] = [{} for _ in blocks]
    changed = True
    while changed:
        changed = False
        for block in sorted(graph.reached):
            before = _join(leaving[each] for each in graph.predecessors[block])
            after = _pass(blocks[block], function.spans[block].start, before, None)
            changed |= after != leaving[block]
            leaving[block] = after
    found: list[tuple[int, ...]] = [() for _ in function.instructions]
    for block, instructions in enumerate(blocks):
        before = _join(leaving[each] for each in graph.predecessors[block]) if block in graph.reached else {}
        _pass(instructions, function.spans[block].start, before, found)
    return tuple(found)


def _join(states: Iterable[_Open]) -> _Open:
    joined: _Open = {}
    for state in states:
        for board, setters in state.items():
            joined[board] = joined.get(board, frozenset()) | setters
    return joined


def _pass(
    instructions: tuple[SassInstruction, ...], start: int, state: _Open, found: list[tuple[int, ...]] | None
) -> _Open:
    now = dict(state)
    for index, each in enumerate(instructions, start):
        waits = [setter for board in each.control.waits for setter in now.pop(board, frozenset())]
        if counted := counted_wait(each):
            board, left = counted
            setters = sorted(now.get(board, frozenset()))
            kept = setters[len(setters) - left :] if left else []
            now[board] = frozenset(kept)
            waits += [setter for setter in setters if setter not in kept]
        if found is not None:
            found[index] = tuple(sorted(set(waits), key=lambda setter: (max(setter, -1 - setter), setter)))
        for board, setter in ((each.control.write_scoreboard, index), (each.control.read_scoreboard, -1 - index)):
            if board is not None:
                now[board] = now.get(board, frozenset()) | {setter}
    return now
