"""What a warp issues where there is no SASS: the operations of what it executed, with what happened at each.

In: a `WarpTrace`, the operations of each straight run. Out: `WarpStream`. No way has to be found: runs of the PTX are
the warp's own. A loop that tests an mbarrier again and again, and does nothing else, is one wait.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from ptxsim.clock.recording.trace import Depart, TraceEvent, WarpTrace
from ptxsim.clock.replay.operations import PLAIN, VARIABLE, SassOperation
from ptxsim.clock.replay.path import SassPath
from ptxsim.clock.replay.stream import WarpStream
from ptxsim.clock.sass.anchor_lines import is_wait_test
from ptxsim.linking.code import Code

#: There is no way through SASS, and nothing of it is missed.
_NO_PATH = SassPath((), 0, 0, 0)


class WeighedStreams:
    """Makes the streams of one kernel.

    `issued` has for each instruction of the PTX the number of its run; for each run, by number, its operations in
    order, each as (instruction, operation). `main` has the operation of an instruction that its events are of.
    """

    def __init__(
        self,
        code: Code,
        operations: Sequence[SassOperation],
        run_of: Sequence[int],
        issued: Sequence[Sequence[tuple[int, int]]],
        main: Mapping[int, int],
    ) -> None:
        self._operations, self._run_of, self._issued, self._main = operations, run_of, issued, main
        self._tests = {main[at] for at, each in enumerate(code.instructions) if at in main and is_wait_test(each)}
        self._parts: dict[tuple[int, int], tuple[int, ...]] = {}

    def stream(self, trace: WarpTrace) -> WarpStream:
        """The stream of a warp."""
        instructions: list[int] = []
        events: dict[int, tuple[TraceEvent, ...]] = {}
        failed: int | None = None  # the place of a test that has found a phase not over
        for run in trace.runs:
            here: dict[int, list[TraceEvent]] = defaultdict(list)
            for event in run.events:
                here[self._main[event.at]].append(event)
            for op in self._part(run.start, run.end):
                place = len(instructions)
                instructions.append(op)
                found = tuple(here.pop(op, ()))
                if op in self._tests:
                    is_over = any(isinstance(event, Depart) for event in found)
                    if failed is not None and self._only_tests(instructions, events, failed):
                        del instructions[failed + 1 :]
                        place = failed
                        found = events.get(place, ()) + found
                    failed = None if is_over else place
                if found:
                    events[place] = found
        return WarpStream(trace.cta, trace.warp, tuple(instructions), events, _NO_PATH)

    def _only_tests(
        self, instructions: Sequence[int], events: Mapping[int, tuple[TraceEvent, ...]], failed: int
    ) -> bool:
        """Whether nothing has happened since a test failed, but that it was made again."""
        kinds = {self._operations[op].kind for op in instructions[failed + 1 : -1]}
        return kinds <= {PLAIN, VARIABLE} and not any(place > failed for place in events)

    def _part(self, start: int, end: int) -> Sequence[int]:
        """The operations of the instructions from `start` to `end`, run by run."""
        if (start, end) not in self._parts:
            runs = dict.fromkeys(self._run_of[start:end])
            issued = (pair for run in runs for pair in self._issued[run])
            self._parts[start, end] = tuple(op for at, op in issued if start <= at < end)
        return self._parts[start, end]
