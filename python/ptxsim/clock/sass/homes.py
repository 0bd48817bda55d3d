"""Which runs of the PTX a basic block of the SASS executes, and to which line each of its instructions is charged.

In: the runs of the PTX, a `SassFunction` with the lines of its instructions. Out: `Homes`. A run is at home in a block
where one of its anchors or branches stands that is not predicated by if-conversion. What stands in a block and belongs
to a run that is not at home there was moved (out of a loop) or if-converted: it is executed whenever the block is, so
it is charged to the last line of the nearest run that dominates its own and is at home.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass

from ptxsim.clock.sass.graph import FlowGraph
from ptxsim.clock.sass.listing import INSTRUCTION_BYTES, SassFunction
from ptxsim.clock.sass.pipes import Rank, rank_of
from ptxsim.clock.sass.straight_runs import PtxRuns


@dataclass(frozen=True)
class Homes:
    """For each instruction of a function, by index, the line that is charged, 0 for none, and why there is none.

    `moved` are the indices of those that are charged to another line than their own. `at_home` has the runs of each
    block; `depth` and `loop` its loops in the SASS: how many, and the first block of the innermost one, None outside.
    """

    charged: tuple[int, ...]
    reasons: dict[int, str]
    moved: frozenset[int]
    at_home: tuple[frozenset[int], ...]
    depth: tuple[int, ...]
    loop: tuple[int | None, ...]


def find_homes(runs: PtxRuns, function: SassFunction, lines: list[int]) -> Homes:
    """The runs at home in each block, and the charged lines; `lines` as `anchor_lines` gives them."""
    graph = FlowGraph(function.successors, function.entries)
    at_home = _homes(runs, function, lines, graph)
    charged: list[int] = []
    reasons: dict[int, str] = {}
    moved: set[int] = set()
    for index, each in enumerate(function.instructions):
        own, here = lines[index], at_home[each.block]
        line = 0
        if each.block in function.slow:
            reasons[index] = "slow path"
        elif each.block not in graph.reached:
            reasons[index] = "padding" if each.opcode in ("NOP", "BRA") else "slow path"
        elif not own or not here:
            reasons[index] = "no line"
        else:
            line = _charge(runs, own, here, graph.depth(each.block))
            if line != own:
                moved.add(index)
        charged.append(line)
    depth = tuple(graph.depth(block) if block in graph.reached else 0 for block in range(len(at_home)))
    loop = tuple(graph.innermost(block) for block in range(len(at_home)))
    return Homes(tuple(charged), reasons, frozenset(moved), at_home, depth, loop)


def _homes(runs: PtxRuns, function: SassFunction, lines: list[int], graph: FlowGraph) -> tuple[frozenset[int], ...]:
    anchored: dict[int, set[int]] = defaultdict(set)
    for index, each in enumerate(function.instructions):
        if lines[index] and rank_of(each) >= Rank.MERGED:
            anchored[runs.run_of[lines[index]]].add(lines[index])
    found: list[frozenset[int]] = []
    for number, block in enumerate(function.blocks):
        seen: Counter[int] = Counter()
        anchors: dict[int, set[int]] = defaultdict(set)
        witnesses: set[int] = set()
        for each in block:
            line = lines[each.address // INSTRUCTION_BYTES]
            if not line or number not in graph.reached or number in function.slow:
                continue
            run = runs.run_of[line]
            seen[run] += 1
            if each.is_conditional and all(own.guard is None for own in runs.on_line[line]) and each.opcode != "BRA":
                continue
            if rank_of(each) >= Rank.MERGED:
                anchors[run].add(line)
            elif rank_of(each) and runs.graph.depth(run) == graph.depth(number):
                witnesses.add(run)
        kept = {
            run
            for run, here in anchors.items()
            if runs.graph.depth(run) == graph.depth(number) or 2 * len(here) >= len(anchored[run])
        }
        found.append(_settle(runs, seen, kept | witnesses, graph.depth(number)))
    return tuple(found)


def _settle(runs: PtxRuns, seen: Counter[int], witnessed: set[int], depth: int) -> frozenset[int]:
    """The runs at home among those that are `seen` in a block: the witnessed, and those executed as often as they.

    Where no witnessed run is as deep in loops as the block, as where only the first test of a waiting loop is
    witnessed, that of the most instructions of those that are; without any witness else what dominates the most.
    """
    alike = Counter({run: count for run, count in seen.items() if runs.graph.depth(run) == depth})
    if alike and not witnessed & alike.keys():
        witnessed = witnessed | {max(alike, key=lambda run: (alike[run], -run))}
    elif seen and not witnessed:
        best = max(seen, key=lambda run: (seen[run], -run))
        around = (best, *runs.graph.chain(best))
        witnessed = {next((run for run in around if runs.graph.depth(run) <= depth), best)}
    classes = {runs.graph.equals[run] for run in witnessed}
    return frozenset(witnessed | {run for run in seen if runs.graph.equals[run] in classes})


def _charge(runs: PtxRuns, own: int, here: frozenset[int], depth: int) -> int:
    """The line that an instruction of line `own` is charged to in a block in `depth` loops, where `here` are at home.

    A run as deep in loops as the block comes before a waiting loop whose first test stands in it.
    """
    run = runs.run_of[own]
    if run in here:
        return own
    for deepest in (depth, len(runs.runs)):
        fit = {each for each in here if runs.runs[each].lines and runs.graph.depth(each) <= deepest}
        before = next((each for each in runs.graph.chain(run) if each in fit), None)
        if before is not None:
            return runs.runs[before].lines[-1]
        behind = next((each for each in runs.graph.chain(run, forward=True) if each in fit), None)
        if behind is not None:
            return runs.runs[behind].lines[0]
        if fit:
            nearest = min(fit, key=lambda each: (abs(each - run), each))
            return runs.runs[nearest].lines[-1 if nearest < run else 0]
    return own
