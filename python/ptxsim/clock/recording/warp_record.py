"""The record of one warp while a launch runs: its straight runs and their events, put in order.

In: runs and events as the engine tells them. Out: the runs of a `WarpTrace`. Three things are put right. Events
of a run are told before the run is. What lets a warp go on happens while another one runs, and belongs to the wait.
Lanes that the simulator runs one after the other, while a GPU has them converged again, are one execution.
"""

from dataclasses import dataclass, field

from ptxsim.clock.recording.trace import Depart, ExecutedRun, TraceEvent

#: All lanes of a warp.
FULL = 0xFFFFFFFF
#: Runs of other lanes that may stand between two that belong together.
_NEAR = 16


@dataclass(eq=False)
class _Run:
    """A run while its events come: `lanes` are the bits of those that executed it."""

    start: int
    end: int
    lanes: int
    events: list[TraceEvent] = field(default_factory=list)


class WarpRecord:
    """What one warp has done so far.

    `waits` are the instructions that threads may block at, `gathers` those at which lanes wait for others of the warp.
    """

    def __init__(self, waits: frozenset[int], gathers: frozenset[int] = frozenset()) -> None:
        self._waits, self._gathers = waits, gathers
        self._runs: list[_Run] = []
        self._pending: list[tuple[int, int, TraceEvent]] = []
        #: Lanes that may be blocked, the run that ended there, and the instruction.
        self._blocked: list[tuple[int, _Run, int]] = []

    def add(self, event: TraceEvent, lanes: int, batch: int) -> None:
        """Note an event of `lanes` in a batch of the engine's."""
        self._pending.append((batch, lanes, event))

    def ran(self, start: int, end: int, lanes: int, batch: int) -> None:
        """Note that `lanes` have executed the instructions from `start` to `end` in a batch."""
        own: list[TraceEvent] = []
        for when, who, event in self._pending:
            if when == batch and start <= event.at < end:
                own.append(event)
            else:
                self._let_go(event, who)
        self._pending.clear()
        run = self._converged(start, lanes) if lanes != FULL else None
        if run is None:
            run = _Run(start, end, lanes)
            if end - 1 in self._gathers:
                self._gather(run)
            self._runs.append(run)
        elif end > run.end:  # these lanes went further than the others
            run.lanes |= lanes
            if run is self._runs[-1]:
                run.end = end
            else:
                run.events += [event for event in own if event.at < run.end]
                own = [event for event in own if event.at >= run.end]
                run = _Run(run.end, end, lanes)
                self._runs.append(run)
        else:
            run.lanes |= lanes
        run.events += own
        if end - 1 in self._waits:
            self._blocked.append((lanes, run, end - 1))
            del self._blocked[:-_NEAR]

    def _gather(self, run: _Run) -> None:
        """Have the lanes that wait where a run ends, and have not been elsewhere since, execute that with it."""
        at, later = run.end - 1, run.lanes
        for other in self._runs[: -_NEAR - 1 : -1]:
            if other.end == run.end and not other.lanes & later:
                run.lanes |= other.lanes
                run.events += [event for event in other.events if event.at == at]
                other.events = [event for event in other.events if event.at < at]
                other.end = at
                self._blocked = [
                    (lanes, run if (held is other and where == at) else held, where)
                    for lanes, held, where in self._blocked
                ]
                if other.start == at:
                    self._runs.remove(other)
            later |= other.lanes

    def runs(self) -> tuple[ExecutedRun, ...]:
        """The runs, with what has come since the last one."""
        for _, who, event in self._pending:
            self._let_go(event, who)
        self._pending.clear()
        return tuple(ExecutedRun(each.start, each.end, tuple(each.events)) for each in self._runs)

    def _let_go(self, event: TraceEvent, lanes: int) -> None:
        """Add what lanes have waited for to the run that ended with their wait."""
        if not isinstance(event, Depart):
            if self._runs:
                self._runs[-1].events.append(event._replace(at=self._runs[-1].end - 1))
            return
        for number in range(len(self._blocked) - 1, -1, -1):
            blocked, run, at = self._blocked[number]
            if blocked & lanes:
                run.events.append(event._replace(at=at))
                return

    def _converged(self, start: int, lanes: int) -> _Run | None:
        """The run of other lanes that these would have executed with, if they had come together."""
        for run in self._runs[: -_NEAR - 1 : -1]:
            if run.lanes & lanes:
                return None  # these lanes have been elsewhere since
            if run.start <= start < run.end:
                return run
        return None
