"""Threads that will never end: those that wait for what does not come, and those that spin.

In: CTAs in which nothing has changed memory for a while. Out: whether that is for ever, and the findings. A thread
spins for ever when it comes back to an earlier state (its place and all registers) while memory stays the same.
"""

from collections.abc import Callable, Iterable

import numpy as np

from tinyc.simulator.engine.cta import Cta

#: Turns in which every thread of a CTA must come back to an earlier state to be called stuck.
_WATCHED_TURNS = 1024

RunTurn = Callable[[Cta], bool]


def all_stuck(ctas: Iterable[Cta], run_turn: RunTurn) -> bool:
    """Return whether every thread of the CTAs waits or spins; runs those that spin for a while."""
    return all(cta.finished or _spins(cta, run_turn) for cta in ctas)


def _spins(cta: Cta, run_turn: RunTurn) -> bool:
    progress = cta.launch.progress
    places, registers = _places(cta), [register.copy() for register in cta.registers]
    back = ~cta.ready
    for _ in range(_WATCHED_TURNS):
        if back.all() or not run_turn(cta):
            return True
        if cta.launch.progress != progress:
            return False
        candidates = cta.ready & ~back & (_places(cta) == places)
        if candidates.any():
            back |= candidates & _same(cta.registers, registers, candidates.shape)
    return False


def _places(cta: Cta) -> np.ndarray:
    return cta.pc.copy() if cta.uniform is None else np.full(cta.pc.shape, cta.uniform)


def _same(registers: list[np.ndarray], before: list[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    same = np.ones(shape, bool)
    for now, then in zip(registers, before, strict=True):
        equal = now == then
        same &= equal.all(axis=-1) if equal.ndim > len(shape) else equal
    return same


def give_up(ctas: Iterable[Cta]) -> None:
    """Report who waits for what, and end all threads."""
    for cta in ctas:
        _report(cta)
        cta.kill()


def _report(cta: Cta) -> None:
    add = cta.launch.findings.add
    for wait in cta.waits:
        lanes = wait.lanes & cta.alive & ~cta.ready
        if lanes.any():
            add("deadlock", f"waits for {wait.what}, which never comes", cta, wait.at, lanes)
    for at, lanes in cta.gathering.items():
        add("deadlock", "waits for lanes of its warp that never come to this instruction", cta, at, lanes)
    if cta.ready.any():
        places = _places(cta)
        at = int(places[cta.ready].min())
        add("deadlock", "spins for ever: nothing changes what it looks at", cta, at, cta.ready & (places == at))
