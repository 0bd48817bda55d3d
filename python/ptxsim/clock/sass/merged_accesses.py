"""Loads and stores of the PTX that ptxas has merged with neighbours into wider ones.

In: the runs of the PTX, a `SassFunction`, the PTX line of each of its instructions. Out: how many executions one access
stands for, where its bytes tell that: four loads of 2 bytes of four unrolled rounds are one of 8. Where loads of other
lines beside it are not in the SASS at all, it is these that were merged with it, each executed once. And the lines of
which the SASS does not tell how often they are executed.
"""

import re
from collections import defaultdict
from collections.abc import Sequence

from ptxsim.clock.sass.listing import SassFunction
from ptxsim.clock.sass.pipes import Rank, access_bytes, rank_of
from ptxsim.clock.sass.straight_runs import PtxRuns
from ptxsim.parsing.syntax import Instruction

_ACCESSES = {"ld": ("LDS", "LDG", "LD"), "st": ("STS", "STG", "ST")}
_TYPE = re.compile(r"[bfsu](8|16|32|64|128)")


def merged_executions(runs: PtxRuns, function: SassFunction, lines: Sequence[int]) -> dict[int, int]:
    """The executions that an access stands for, by its index, where they are more than one.

    `lines` has the line of each instruction, as `anchor_lines` gives them.
    """
    present = {line for line, each in zip(lines, function.instructions, strict=True) if rank_of(each) >= Rank.MERGED}
    found: dict[int, int] = {}
    for index, (line, each) in enumerate(zip(lines, function.instructions, strict=True)):
        own = _only_access(runs, line)
        if own is None or each.opcode not in _ACCESSES[own.opcode]:
            continue
        of_ptx, of_sass = _bytes_of_ptx(own), access_bytes(each)
        if of_ptx and of_sass > of_ptx and not of_sass % of_ptx and not _lacks_like(runs, own, present):
            found[index] = of_sass // of_ptx
    return found


def merged_lines(runs: PtxRuns, function: SassFunction, lines: Sequence[int]) -> frozenset[int]:
    """The lines of all accesses of one kind in a block of which one is wider than the PTX of its line has it.

    How often one of them is executed its SASS does not tell: an `LDS.128` may stand for four executions of its line, or
    for one and those of three other lines. `lines` has the line of each anchor, else 0.
    """
    asked = {line: max(map(_bytes_of_ptx, here)) for line, here in runs.on_line.items()}
    of_kind: dict[tuple[int, str], set[int]] = defaultdict(set)
    wide: set[tuple[int, str]] = set()
    for line, each in zip(lines, function.instructions, strict=True):
        if line and rank_of(each) is Rank.MERGED:
            of_kind[each.block, each.opcode].add(line)
            if 0 < asked.get(line, 0) < access_bytes(each):
                wide.add((each.block, each.opcode))
    return frozenset(line for kind in wide for line in of_kind[kind])


def _only_access(runs: PtxRuns, line: int) -> Instruction | None:
    """The load or store of a line that has one instruction."""
    here = runs.on_line.get(line, ())
    return here[0] if len(here) == 1 and here[0].opcode in _ACCESSES else None


def _lacks_like(runs: PtxRuns, own: Instruction, present: set[int]) -> bool:
    """Whether another access of the same form, in the same straight run, has no SASS."""
    run = runs.runs[runs.run_of[own.line]]
    around = (each for each in runs.instructions[run.start : run.end] if each.line not in present)
    return any((each.opcode, each.modifiers) == (own.opcode, own.modifiers) for each in around)


def _bytes_of_ptx(each: Instruction) -> int:
    """The bytes of a lane that a load or store moves, 0 for what is neither."""
    types = [int(found[1]) // 8 for word in each.modifiers if (found := _TYPE.fullmatch(word))]
    if each.opcode not in ("ld", "ldu", "st") or not types:
        return 0
    return types[-1] * next((int(word[1:]) for word in each.modifiers if word in ("v2", "v4", "v8")), 1)
