"""The way of a warp through the SASS of its kernel, found from its way through the PTX.

In: a `SassFunction` and what a warp executed, as PTX lines. Out: the blocks of the SASS that it went through. ptxas
unrolls, merges and moves code, but what touches memory, multiplies matrices or synchronises (an anchor) is executed
once for each time that its PTX line is. So that the blocks are those whose anchors spell the warp's: at a branch, the
way is taken whose next anchors are the warp's next ones.
"""

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ptxsim.clock.sass.anchor_lines import anchor_lines
from ptxsim.clock.sass.graph import FlowGraph
from ptxsim.clock.sass.listing import SassFunction, SassInstruction
from ptxsim.clock.sass.merged_accesses import merged_executions, merged_lines
from ptxsim.clock.sass.multiplicity import anchors_of_executions
from ptxsim.clock.sass.pipes import Rank, rank_of
from ptxsim.clock.sass.straight_runs import PtxRuns

#: Anchors of one path that are looked at to tell it from another one, and the steps in which they are looked for.
_ENOUGH = 12
_MOST_PATHS = 256
#: Ways not taken that are remembered until they meet the one that was.
_MOST_UNTAKEN = 16
#: A load of nothing, which ptxas for sm_80 puts in front of the first asynchronous copy.
_NOTHING = "RZ, [RZ]"


@dataclass(frozen=True)
class SassPath:
    """The blocks that a warp went through, in order.

    `anchors` counts those of the PTX, `missed` those that the SASS lacks, `extra` those of the SASS beyond them.
    """

    blocks: tuple[int, ...]
    anchors: int
    missed: int
    extra: int


class PathFinder:
    """Finds paths through one function; `line_of` has the PTX line of each instruction that is an anchor, else 0."""

    def __init__(self, runs: PtxRuns, function: SassFunction) -> None:
        self.function = function
        self._graph = FlowGraph(function.successors)
        self._acting: set[int] = set()
        self.line_of = self._lines_that_tell(anchor_lines(runs, function))
        self.lines = frozenset(self.line_of) - {0}
        anchors = list(zip(self.line_of, function.instructions, strict=True))
        self.polls = frozenset(line for line, each in anchors if line and _is_poll(each))
        guarded = self.lines - {line for index, line in enumerate(self.line_of) if not self._may_skip(index)}
        self._times = anchors_of_executions(runs, function, self.line_of)
        #: What a guard skips, or asks again whether a phase is over, may be executed more often than its line: lines
        #: that have nothing else tell no way.
        self._firm = self.lines - self.polls - guarded - {line for line, times in self._times.items() if not times}
        merged = merged_executions(runs, function, self.line_of)
        self._firm -= merged_lines(runs, function, self.line_of) - {self.line_of[index] for index in merged}
        #: The lines whose executions the anchors of each block are, in order.
        self.anchors = tuple(self._anchors_of(span, merged, guarded=False) for span in function.spans)
        #: Those that a guard may skip: the first round of a loop that ptxas has peeled, say.
        self._optional = tuple(self._anchors_of(span, merged, guarded=True) for span in function.spans)
        #: Where the lanes that a guard chooses end, and the others go on.
        self._may_end = {each.block for each in function.instructions if each.opcode == "EXIT" and each.is_conditional}
        self._polling = {each.block for each in function.instructions if _is_poll(each)}
        self._meetings: dict[int, int | None] = {}
        self._ahead: dict[int, dict[tuple[tuple[int, ...], bool], int]] = {}

    def _lines_that_tell(self, lines: Sequence[int]) -> list[int]:
        """The PTX line of each instruction that is an anchor, else 0; of loops without any, arithmetic is one."""
        code, loops = self.function.instructions, self._graph.loops
        ranks = [rank_of(each) if each.operands != _NOTHING else Rank.NONE for each in code]
        anchors = [rank >= Rank.MERGED for rank in ranks]
        firm = [each for each, is_anchor in zip(code, anchors, strict=True) if is_anchor and not each.is_conditional]
        told = {head for each in firm for head in loops[each.block]}
        #: Where a loop has guarded ones alone, such as atomics of the lane that acts for its warp, these are executed.
        self._acting = {
            index
            for index, (each, is_anchor) in enumerate(zip(code, anchors, strict=True))
            if is_anchor and loops[each.block] - told
        }
        told |= {head for index in self._acting for head in loops[code[index].block]}
        silent = {
            line
            for line, each, rank in zip(lines, code, ranks, strict=True)
            if rank is Rank.ARITHMETIC and loops[each.block] - told
        }
        return [
            line if rank >= Rank.MERGED or (rank is Rank.ARITHMETIC and line in silent) else 0
            for line, rank in zip(lines, ranks, strict=True)
        ]

    def _anchors_of(self, span: range, merged: Mapping[int, int], guarded: bool) -> tuple[int, ...]:
        firm = self._firm
        chosen = (at for at in span if self.line_of[at] in firm and self._may_skip(at) is guarded)
        return tuple(self.line_of[at] for at in chosen for _ in range(merged.get(at, 1)))

    def _may_skip(self, index: int) -> bool:
        """Whether a guard may skip an instruction, so that it does not tell how often its block is executed."""
        return self.function.instructions[index].is_conditional and index not in self._acting

    def path(self, executed: Sequence[int]) -> SassPath:
        """The path of a warp that executed PTX lines in this order."""
        wanted = [line for line in executed if line in self._firm for _ in range(self._times.get(line, 1))]
        left = _Left(wanted)
        blocks: list[int] = []
        block = 0
        since: set[int] = set()  # blocks since the last anchor
        untaken: list[tuple[int, int]] = []  # where ways converge, and the one that other lanes may take first
        most = 4 * len(self.function.blocks) + 4 * len(wanted)
        while len(blocks) < most:
            block = self._by_other_lanes(block, untaken, left)
            blocks.append(block)
            for line in self._optional[block]:
                left.take_if_there(line)
            for line in self.anchors[block]:
                left.take(line)
            since = set() if self.anchors[block] else since | {block}
            ways = self.function.successors[block]
            if not ways or (block in self._may_end and not left.count):
                break
            onward = [way for way in ways if way not in since] or ways
            if block in self._polling and len(onward) > 1:  # to ask again is a detour
                onward = [min(onward, key=self._blocks_to_anchor)]
            chosen = onward[0] if len(onward) == 1 else max(onward, key=lambda way: (*self._fit(way, left), way))
            meeting = self._meeting(block)
            if len(onward) > 1 and meeting is not None:
                untaken += [(meeting, way) for way in onward if way != chosen]
                del untaken[:-_MOST_UNTAKEN]
            block = chosen
        return SassPath(tuple(blocks), len(wanted), left.count, left.extra)

    def _by_other_lanes(self, block: int, untaken: list[tuple[int, int]], left: "_Left") -> int:
        """Where the warp goes before lanes meet at a block: the way of the others, if its anchors come next."""
        here = [way for meeting, way in untaken if meeting == block]
        if here:
            untaken[:] = [each for each in untaken if each[0] != block]
            best = max(here, key=lambda way: self._fit(way, left))
            if best != block and self._fit(best, left)[:2] > self._fit(block, left)[:2]:
                return best
        return block

    def _blocks_to_anchor(self, block: int) -> int:
        """How many blocks there are from one on until there is an anchor, or the end."""
        seen, here, steps = {block}, [block], 0
        while here and not any(self.anchors[each] or not self.function.successors[each] for each in here):
            here = [way for each in here for way in self.function.successors[each] if way not in seen]
            seen.update(here)
            steps += 1
        return steps

    def _meeting(self, block: int) -> int | None:
        """The first block that is on every way from one."""
        if block not in self._meetings:
            self._meetings[block] = next(iter(self._graph.chain(block, forward=True)), None)
        return self._meetings[block]

    def _fit(self, way: int, left: "_Left") -> tuple[float, int, int]:
        """How the best of the paths from a block fits what comes next: the share, how many fit, how soon (negative)."""
        return max((*left.fit(anchors, ends), -steps) for (anchors, ends), steps in self._paths_from(way).items())

    def _paths_from(self, block: int) -> dict[tuple[tuple[int, ...], bool], int]:
        """The anchors of the paths from a block until each has enough, whether it ends there → its fewest blocks."""
        if block not in self._ahead:
            found: dict[tuple[tuple[int, ...], bool], int] = {}
            work: deque[tuple[int, tuple[int, ...], frozenset[int], int]] = deque([(block, (), frozenset(), 1)])
            expanded = 0
            while work and expanded < _MOST_PATHS:
                here, anchors, seen, steps = work.popleft()
                expanded += 1
                anchors += self.anchors[here]
                ways = self.function.successors[here]
                if not ways or len(anchors) >= _ENOUGH:
                    found.setdefault((anchors, not ways), steps)
                    continue
                if here in self._may_end:
                    found.setdefault((anchors, True), steps)
                # A loop without an anchor is left at once: nothing tells how often it is gone through.
                seen = frozenset() if self.anchors[here] else seen | {here}
                work += [(each, anchors, seen, steps + 1) for each in ways if each not in seen]
            for _, anchors, _, steps in work:
                found.setdefault((anchors, False), steps)
            self._ahead[block] = found
        return self._ahead[block]


def _is_poll(each: SassInstruction) -> bool:
    return "TRYWAIT" in each.modifiers


class _Left:
    """The anchors of the PTX that no SASS has been found for, in order."""

    def __init__(self, wanted: Sequence[int]) -> None:
        self._wanted = wanted
        self._places: dict[int, deque[int]] = {}
        for at, line in enumerate(wanted):
            self._places.setdefault(line, deque()).append(at)
        self._first = 0
        self._taken = bytearray(len(wanted))
        self.count, self.extra = len(wanted), 0

    def take(self, line: int) -> None:
        """Take the first one of a line."""
        places = self._places.get(line)
        if not places:
            self.extra += 1
            return
        self._taken[places.popleft()] = 1
        self.count -= 1
        while self._first < len(self._taken) and self._taken[self._first]:
            self._first += 1

    def take_if_there(self, line: int) -> None:
        """Take the first one of a line if one is left."""
        if self._places.get(line):
            self.take(line)

    def fit(self, ahead: Sequence[int], ends: bool) -> tuple[float, int]:
        """How well these anchors are the next ones: the share of them, and their number; `ends` if none follow."""
        if not ahead:
            return (0.0, 0) if self.count else (1.0, 0)
        near, far = self._window(len(ahead)), Counter(ahead)
        matched = (near & far).total()
        lacking = min(self.count, _ENOUGH) if ends and self.count > matched else 0
        return (2 * matched - len(ahead) - lacking) / len(ahead), matched

    def _window(self, size: int) -> Counter[int]:
        """The next `size` of them."""
        window: list[int] = []
        at = self._first
        while at < len(self._wanted) and len(window) < size:
            if not self._taken[at]:
                window.append(self._wanted[at])
            at += 1
        return Counter(window)
