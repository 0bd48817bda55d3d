"""The PTX lines of loads and stores that ptxas has merged with neighbours into wider ones.

In: the runs of the PTX, a `SassFunction`, the PTX line of each of its anchors. Out: lines. How often one of them is
executed its SASS does not tell: an `LDS.128` may stand for four executions of its line, or for one and those of three
other lines.
"""

import re
from collections import defaultdict
from collections.abc import Sequence

from ptxsim.clock.sass.listing import SassFunction
from ptxsim.clock.sass.pipes import Rank, access_bytes, rank_of
from ptxsim.clock.sass.straight_runs import PtxRuns
from ptxsim.parsing.syntax import Instruction

_TYPE = re.compile(r"[bfsu](8|16|32|64|128)")


def merged_lines(runs: PtxRuns, function: SassFunction, line_of: Sequence[int]) -> frozenset[int]:
    """The lines of all accesses of one kind in a block of which one is wider than the PTX of its line has it."""
    asked = {line: max(map(_ptx_bytes, here)) for line, here in runs.on_line.items()}
    lines: dict[tuple[int, str], set[int]] = defaultdict(set)
    wide: set[tuple[int, str]] = set()
    for line, each in zip(line_of, function.instructions, strict=True):
        if line and rank_of(each) is Rank.MERGED:
            lines[each.block, each.opcode].add(line)
            if 0 < asked.get(line, 0) < access_bytes(each):
                wide.add((each.block, each.opcode))
    return frozenset(line for kind in wide for line in lines[kind])


def _ptx_bytes(each: Instruction) -> int:
    """The bytes of a lane that a load or store moves, 0 for what is neither."""
    types = [int(found[1]) // 8 for word in each.modifiers if (found := _TYPE.fullmatch(word))]
    if each.opcode not in ("ld", "ldu", "st") or not types:
        return 0
    counts = [int(word[1:]) for word in each.modifiers if word in ("v2", "v4", "v8")]
    return types[-1] * (counts[0] if counts else 1)
