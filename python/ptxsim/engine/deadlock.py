"""Threads that will never end: those that wait for what does not come, and those that spin.

In: the CTAs that run, after a while in which nothing has changed memory. Out: whether that is for ever, and the
findings. A thread spins for ever when it comes back to a place with the same values in all registers that decide where
it goes (`spin_loops`), while memory stays the same. So a long computation in registers is never taken for a spin,
however long it is, and a spin that counts its rounds or waits longer each time is one all the same. Two things are not
proved but bounded:

* A loop that looks at a clock may end when its time is over. Where all threads wait or spin, time passes faster and
  faster, and only when a clock of 64 bits has come to its end is the loop called endless.
* A loop that looks at memory in every round, and that a count may end, too, is called endless when nothing has changed
  memory for `_PATIENCE` turns of each CTA.
"""

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from ptxsim.engine.spin_loops import ControlGraph, SpinLoop
from ptxsim.machine.cta import Cta
from ptxsim.machine.launch import Launch
from ptxsim.machine.site import Site
from ptxsim.mbarrier.objects import mbarriers

#: Turns without an effect on memory after which threads are suspected, and turns after which they are in any case:
#: their loop may store what is there already, or come to a barrier in every round.
_QUIET_TURNS = 2_000
_MANY_TURNS = 30_000
#: Turns of a CTA in which memory may show that it changes, before any more is looked at.
_GLANCE = 256
#: Turns of a CTA in which its threads must come back to an earlier state; twice as many after each time in vain.
_FIRST_WATCH, _LONGEST_WATCH = 1024, 1 << 16
#: Turns of a CTA without an effect on memory that a loop which looks at memory in every round may take.
_PATIENCE = 300_000
#: The first jump in time and the one that ends it, in ticks; each is three times as far as the one before.
_FIRST_JUMP, _END_OF_TIME = 4097, 1 << 62

RunTurn = Callable[[Cta], bool]


class DeadlockDetector:
    """Watches the CTAs of one launch."""

    def __init__(self, launch: Launch, sites: list[Site]) -> None:
        self._launch = launch
        self._sites = sites
        self._progress = -1
        self._quiet_since = self._last_look = 0
        self._turns = _FIRST_WATCH
        self._marks = [launch.counts.copy()] * 2

    @cached_property
    def _graph(self) -> ControlGraph:
        return ControlGraph(self._sites)

    def is_suspicious(self) -> bool:
        """Whether it is time to look: nothing has changed memory for long, or much has run since."""
        launch = self._launch
        if launch.progress != self._progress:
            self._progress, self._quiet_since = launch.progress, launch.ticks
            self._marks = [self._marks[1], launch.counts.copy()]
        return launch.ticks - max(self._quiet_since, self._last_look) > _QUIET_TURNS or (
            launch.ticks - self._last_look > _MANY_TURNS
        )

    def are_deadlocked(self, ctas: Sequence[Cta], run_turn: RunTurn) -> bool:
        """Whether every thread of the CTAs waits or spins for ever; runs those that spin for a while."""
        launch = self._launch
        launch.watched = True
        deadlocked = self._watch_all(ctas, run_turn)
        launch.watched = False
        self._last_look = launch.ticks
        self._marks = [self._marks[1], launch.counts.copy()]
        return deadlocked

    def _watch_all(self, ctas: Sequence[Cta], run_turn: RunTurn) -> bool:
        """Whether all threads stay where they are, however much time passes."""
        launch = self._launch
        progress, alive = launch.progress, _alive(ctas)
        if not any(cta.ready.any() for cta in ctas):
            return True
        self._run(ctas, _GLANCE, run_turn)
        if launch.progress != progress or _alive(ctas) != alive:
            self._turns = _FIRST_WATCH
            return False
        spin = self._graph.spin(np.flatnonzero(launch.counts > self._marks[0]).tolist())
        jump = _FIRST_JUMP
        while all(cta.finished or self._spins(cta, spin, run_turn) for cta in ctas):
            if launch.progress != progress or _alive(ctas) != alive:
                return False
            if not spin.timed or jump > _END_OF_TIME:
                return True
            launch.skipped_time += jump
            jump *= 3
        if jump == _FIRST_JUMP:
            self._turns = min(2 * self._turns, _LONGEST_WATCH)
        return launch.progress == progress and _alive(ctas) == alive and self._is_impatient(ctas, run_turn)

    def _run(self, ctas: Sequence[Cta], turns: int, run_turn: RunTurn) -> None:
        """Run CTAs for some turns, as far as they can run and nothing changes memory."""
        progress = self._launch.progress
        for cta in ctas:
            for _ in range(turns):
                if self._launch.progress != progress or not run_turn(cta):
                    break

    def _spins(self, cta: Cta, spin: SpinLoop, run_turn: RunTurn) -> bool:
        """Whether every thread of a CTA waits, or comes back to an earlier state within the loops."""
        if not cta.ready.any():
            return True
        launch, progress = self._launch, self._launch.progress
        before, counts = _State(cta, spin), launch.counts.copy()
        back = ~cta.ready
        for _ in range(self._turns):
            if not run_turn(cta):
                break
            if launch.progress != progress:
                return False
            same = before.same_lanes(cta)
            back |= same
            if back.all() and (not spin.exchanges or (same == before.ready).all()):
                break
        else:
            return False
        return spin.places.issuperset(np.flatnonzero(launch.counts != counts).tolist())

    def _is_impatient(self, ctas: Sequence[Cta], run_turn: RunTurn) -> bool:
        """Whether nothing has changed memory for so long that loops which look at it are called endless."""
        launch = self._launch
        if launch.ticks - self._quiet_since < _PATIENCE * len(ctas):
            return False
        for cta in ctas:
            counts = launch.counts.copy()
            self._run([cta], _FIRST_WATCH, run_turn)
            if not self._graph.spin(np.flatnonzero(launch.counts != counts).tolist()).polls:
                return False
        return launch.progress == self._progress


class _State:
    """Where the threads of a CTA are, and what is in the registers that decide where they go."""

    def __init__(self, cta: Cta, spin: SpinLoop) -> None:
        slots = [slot for slot in spin.registers - spin.timed if slot < len(cta.registers)]
        self.ready, self._turn, self._ran = cta.ready.copy(), cta.turn, cta.no_lanes()
        self._places, self._depth, self._stack = _places(cta), cta.depth.copy(), [each.copy() for each in cta.stack]
        self._registers = [(cta.registers[slot], cta.registers[slot].copy()) for slot in slots]

    def same_lanes(self, cta: Cta) -> np.ndarray:
        """The lanes that are ready, have run since, and are in the same state again; called after each turn."""
        places = _places(cta)
        self._ran |= (cta.last_turn > self._turn) | (places != self._places) | (cta.uniform is not None)
        same = self._ran & cta.ready & (places == self._places) & (cta.depth == self._depth)
        if not same.any():
            return same
        for level, (now, before) in enumerate(zip(cta.stack, self._stack, strict=False)):
            same &= (cta.depth <= level) | (now == before)
        for now, before in self._registers:
            equal = now == before
            same &= equal.all(axis=-1) if equal.ndim > same.ndim else equal
        return same


def _alive(ctas: Sequence[Cta]) -> int:
    return sum(int(cta.alive.sum()) for cta in ctas)


def _places(cta: Cta) -> np.ndarray:
    return cta.pc.copy() if cta.uniform is None else np.full(cta.pc.shape, cta.uniform)


def give_up(ctas: Sequence[Cta]) -> None:
    """Report who waits for what, and end all threads."""
    for cta in ctas:
        _report(cta)
        cta.kill()


def _report(cta: Cta) -> None:
    for wait in cta.waits:
        lanes = wait.lanes & cta.alive & ~cta.ready
        if lanes.any():
            cta.report("deadlock", f"waits for {wait.what}, which never comes", wait.at, lanes)
    for members in cta.converging.values():
        _report_converging(cta, members != 0)
    spinning = cta.ready & ~mbarriers(cta).report_tests()
    if spinning.any():
        places = _places(cta)
        at = int(places[spinning].min())
        cta.report("deadlock", "spins for ever: nothing changes what it looks at", at, spinning & (places == at))


def _report_converging(cta: Cta, lanes: np.ndarray) -> None:
    for at in np.unique(cta.pc[lanes]).tolist():
        here = lanes & (cta.pc == at)
        cta.report("deadlock", "waits for lanes of its warp that never come to this instruction", at, here)
