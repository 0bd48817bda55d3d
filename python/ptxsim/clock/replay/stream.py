"""What a warp issues, instruction by instruction: the SASS of its path, with what its PTX did at each anchor.

In: a `WarpTrace`, the kernel's flat code, its SASS. Out: `WarpStream`.
"""

from collections import defaultdict, deque
from dataclasses import dataclass

from ptxsim.clock.recording.trace import Depart, TraceEvent, WarpTrace
from ptxsim.clock.replay.path import PathFinder, SassPath
from ptxsim.clock.sass.anchor_lines import is_wait_test
from ptxsim.linking.code import Code
from ptxsim.parsing.syntax import Instruction

#: What no anchor is made of: of a line that has other instructions, too, these do not tell how often it is executed.
_PLAIN_TEXT = (
    "abs add addc and bfe bfi bra brx copysign cvta elect exit fence fma isspacep lop3 mad madc mapa max min mov mul "
    "mul24 nanosleep neg not or prmt ret sad selp set setp shf shl shr slct sub subc testp xor"
)
_PLAIN = frozenset(_PLAIN_TEXT.split())
#: So that shares such as a third add up to one.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class WarpStream:
    """The SASS instructions of a warp, by their index in the function, and the events of some: place → events."""

    cta: int
    warp: int
    instructions: tuple[int, ...]
    events: dict[int, tuple[TraceEvent, ...]]
    path: SassPath


class StreamMaker:
    """Makes the streams of one kernel; warps that went the same way share it."""

    def __init__(self, code: Code, finder: PathFinder) -> None:
        self._finder = finder
        self._paths: dict[tuple[tuple[int, int], ...], tuple[SassPath, tuple[int, ...]]] = {}
        self._line_of = _counted_lines(code)
        self._tests = {at for at, each in enumerate(code.instructions) if is_wait_test(each)}

    def stream(self, trace: WarpTrace) -> WarpStream:
        """The stream of a warp."""
        path, instructions = self._path(trace)
        done = self._executions(trace)
        keys, met = self._finder.line_of, defaultdict(int)
        for index in instructions:
            met[keys[index]] += 1
        # ptxas may make several anchors of a line, or merge those of several executions: events are dealt out evenly.
        share = {line: len(found) / met[line] for line, found in done.items() if met[line]}
        share.update((line, 1.0) for line in share.keys() & self._finder.polls)
        events: dict[int, tuple[TraceEvent, ...]] = {}
        due: dict[int, float] = defaultdict(lambda: _ROUNDING)
        for place, index in enumerate(instructions):
            line = keys[index]
            if line not in share:
                continue
            due[line] += share[line]
            while due[line] >= 1 and done[line]:
                due[line] -= 1
                events[place] = events.get(place, ()) + done[line].popleft()
        return WarpStream(trace.cta, trace.warp, instructions, events, path)

    def _path(self, trace: WarpTrace) -> tuple[SassPath, tuple[int, ...]]:
        key = tuple((run.start, run.end) for run in trace.runs)
        if key not in self._paths:
            executed = [self._line_of[at] for start, end in key for at in range(start, end)]
            path = self._finder.path(executed)
            spans = self._finder.function.spans
            self._paths[key] = path, tuple(index for block in path.blocks for index in spans[block])
        return self._paths[key]

    def _executions(self, trace: WarpTrace) -> dict[int, deque[tuple[TraceEvent, ...]]]:
        """The events of each execution of a line that has anchors, in order.

        A warp that tests an mbarrier again and again, also on other lines, waits at the first of these tests.
        """
        lines, known, tests = self._line_of, self._finder.lines, self._tests
        found: dict[int, deque[list[TraceEvent]]] = defaultdict(deque)
        waiting: list[TraceEvent] | None = None
        for run in trace.runs:
            at_events: dict[int, list[TraceEvent]] = defaultdict(list)
            for event in run.events:
                at_events[event.at].append(event)
            for at in range(run.start, run.end):
                if lines[at] not in known and at not in tests:
                    continue
                here = at_events.get(at, [])
                if at in tests:
                    ends = [event for event in here if isinstance(event, Depart)]
                    if waiting is not None:  # once more: it is one wait
                        waiting += ends
                        waiting = None if ends else waiting
                        continue
                    waiting = None if ends else here
                found[lines[at]].append(here)
        return {line: deque(map(tuple, each)) for line, each in found.items()}


def _counted_lines(code: Code) -> list[int]:
    """The line of each instruction that counts as an execution of it, 0 for the others."""
    telling = {each.line for each in code.instructions if not _is_plain(each)}
    return [0 if each.line in telling and _is_plain(each) else each.line for each in code.instructions]


def _is_plain(each: Instruction) -> bool:
    if each.opcode == "wgmma":
        return each.modifiers[:1] != ("mma_async",)
    return each.opcode in _PLAIN or (each.opcode == "ld" and "param" in each.modifiers)
