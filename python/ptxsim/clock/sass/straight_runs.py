"""The straight runs of a kernel's PTX: what is executed from its first instruction to its last, by lines.

In: flat code (`linking.code`). Out: `PtxRuns`. A run starts at a kernel's or function's first instruction, at what is
jumped to, and behind a jump.
"""

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

from ptxsim.clock.sass.graph import FlowGraph
from ptxsim.linking.code import Code
from ptxsim.parsing.syntax import BranchTable, BranchTarget, Instruction

_JUMPS = frozenset({"bra", "brx", "ret", "exit", "trap"})


@dataclass(frozen=True)
class PtxRun:
    """A straight run: instructions `start` to `end` (exclusive) of the flat code, and their lines, in order, once each.

    A line of inline assembly that has several instructions, also of several runs, belongs to the run that starts it.
    """

    number: int
    start: int
    end: int
    lines: tuple[int, ...]


@dataclass(frozen=True)
class PtxRuns:
    """The runs of a kernel in the order of the flat code, what they consist of, and how control goes between them."""

    runs: tuple[PtxRun, ...]
    instructions: tuple[Instruction, ...]
    graph: FlowGraph

    @cached_property
    def run_of(self) -> dict[int, int]:
        """The number of the run that a line belongs to."""
        return {line: run.number for run in reversed(self.runs) for line in run.lines}

    @cached_property
    def on_line(self) -> dict[int, tuple[Instruction, ...]]:
        """The instructions of each line."""
        found: dict[int, list[Instruction]] = defaultdict(list)
        for each in self.instructions:
            found[each.line].append(each)
        return {line: tuple(here) for line, here in found.items()}


def ptx_runs(code: Code) -> PtxRuns:
    """The straight runs of a kernel and of the functions that it can reach."""
    instructions = code.instructions
    entries = sorted(routine.start for routine in code.routines.values() if 0 <= routine.start < routine.end)
    starts = set(entries)
    for index, each in enumerate(instructions):
        starts |= _targets(each)
        if each.opcode in _JUMPS:
            starts.add(index + 1)
    order = sorted(start for start in starts if start < len(instructions))
    runs: list[PtxRun] = []
    seen: set[int] = set()
    for start, end in zip(order, [*order[1:], len(instructions)], strict=True):
        lines = dict.fromkeys(each.line for each in instructions[start:end] if each.line not in seen)
        seen |= lines.keys()
        runs.append(PtxRun(len(runs), start, end, tuple(lines)))
    number = {run.start: run.number for run in runs}
    ends = {routine.end for routine in code.routines.values()}
    ways = [[number[way] for way in _ways_on(instructions, run.end - 1, ends) if way in number] for run in runs]
    return PtxRuns(tuple(runs), instructions, FlowGraph(ways, [number[start] for start in entries] or [0]))


def _targets(each: Instruction) -> set[int]:
    found: set[int] = set()
    for operand in each.operands:
        if isinstance(operand, BranchTarget):
            found.add(operand.index)
        elif isinstance(operand, BranchTable):
            found |= set(operand.indices)
    return found


def _ways_on(instructions: tuple[Instruction, ...], last: int, ends: set[int]) -> set[int]:
    each = instructions[last]
    ways = _targets(each)
    if (each.opcode not in _JUMPS or each.guard is not None) and last + 1 not in ends:
        ways.add(last + 1)
    return ways
