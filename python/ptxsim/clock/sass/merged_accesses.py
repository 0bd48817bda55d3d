"""How many executions of a load or store of the PTX one access of the SASS is: ptxas merges those of unrolled rounds.

In: the runs of the PTX, a `SassFunction` with the lines of its instructions. Out: by index, the executions of an
access, where these are several: four loads of 2 bytes of four rounds are one of 8. Where loads of other lines beside it
are not in the SASS at all, it is these that were merged with it, each executed once.
"""

import re
from collections.abc import Sequence

from ptxsim.clock.sass.listing import SassFunction, SassInstruction
from ptxsim.clock.sass.pipes import Rank, rank_of
from ptxsim.clock.sass.straight_runs import PtxRuns
from ptxsim.parsing.syntax import Instruction

_ACCESSES = {"ld": ("LDS", "LDG", "LD"), "st": ("STS", "STG", "ST")}
_LANE_BYTES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}
_WORD_BYTES = 4


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
        of_ptx, of_sass = _bytes_of_ptx(own), _bytes_of_sass(each)
        if of_ptx and of_sass > of_ptx and not of_sass % of_ptx and not _lacks_like(runs, own, present):
            found[index] = of_sass // of_ptx
    return found


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
    """The bytes of a lane; 0 where its type does not say it."""
    bits = next((int(found[1]) for word in each.modifiers[-1:] if (found := re.fullmatch(r"[bsuf](\d+)", word))), 0)
    count = next((int(word[1:]) for word in each.modifiers if word in ("v2", "v4", "v8")), 1)
    return bits * count // 8


def _bytes_of_sass(each: SassInstruction) -> int:
    return next((_LANE_BYTES[word] for word in each.modifiers if word in _LANE_BYTES), _WORD_BYTES)
