"""The PTX lines of instructions for which ptxas names a neighbour's line.

In: the runs of the PTX, a `SassFunction`. Out: the line of each instruction, by index. ptxas moves an HGMMA's line to
that of what stands around it, so they are matched by order behind each `wgmma.fence`; the first test of a waiting loop
that ptxas peels off has a line before the loop, so it is given to the next `mbarrier.try_wait`.
"""

from bisect import bisect_left
from collections.abc import Iterable
from itertools import pairwise

from ptxsim.clock.sass.listing import SassFunction, SassInstruction
from ptxsim.clock.sass.straight_runs import PtxRuns
from ptxsim.parsing.syntax import Instruction


def anchor_lines(runs: PtxRuns, function: SassFunction) -> list[int]:
    """The PTX line of each instruction of a function, 0 for one without a line or with one that has no instruction."""
    lines = [each.line for each in function.instructions]
    for index, line in _matrix_lines(runs, function):
        lines[index] = line
    waits = sorted({each.line for each in runs.instructions if is_wait_test(each)})
    for index, each in enumerate(function.instructions):
        if each.opcode == "SYNCS" and "PHASECHK" in each.modifiers and lines[index] and lines[index] not in waits:
            lines[index] = next((line for line in waits if line >= lines[index]), lines[index])
    known = sorted(runs.run_of)
    # a directive's line, such as .loc or .entry, means what it stands before
    return [known[min(bisect_left(known, line), len(known) - 1)] if line and known else 0 for line in lines]


def is_wait_test(each: Instruction) -> bool:
    """Whether an instruction of the PTX tests whether the phase of an mbarrier is over."""
    return each.opcode == "mbarrier" and each.modifiers[:1] in (("try_wait",), ("test_wait",))


def _is_product(each: SassInstruction) -> bool:
    return each.opcode.endswith("GMMA")


def _matrix_lines(runs: PtxRuns, function: SassFunction) -> Iterable[tuple[int, int]]:
    """Yield the HGMMAs by index, each with the line of its `wgmma.mma_async`."""
    asked: dict[int, list[int]] = {0: []}
    fence = 0
    for each in runs.instructions:
        if each.opcode == "wgmma" and each.modifiers[:1] == ("fence",):
            fence = each.line
            asked.setdefault(fence, [])
        elif each.opcode == "wgmma" and each.modifiers[:1] == ("mma_async",):
            asked[fence].append(each.line)
    everything = [line for group in asked.values() for line in group]
    if not everything:
        return
    code = function.instructions
    starts = [index for index, each in enumerate(code) if each.opcode == "WARPGROUP" and "ARRIVE" in each.modifiers]
    for start, end in pairwise([0, *starts, len(code)]):
        products = [index for index in range(start, end) if _is_product(code[index])]
        group = asked.get(code[start].line) or everything
        for count, index in enumerate(products):
            yield index, group[count % len(group)]
