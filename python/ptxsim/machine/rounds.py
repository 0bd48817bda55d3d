"""Where threads are on their ways to and past aligned barriers, so that those who meet at one are in the same round.

In: marks on instructions (`engine.barrier_marks`), which threads pass as they run. Out: findings, where threads come to
an aligned barrier that others of their warp, or of their CTA, come to in another round, or are past for good. The round
of a thread is a row of numbers, compared one after the other: whether it is past the barrier, the count of the
outermost loop around it, whether it is past the barrier within that loop, the count of the next loop, and so on. It
says what a thread has left behind, and so does not depend on who runs first. Source: PTX ISA, `bar`, `barrier`, on
`.aligned` (in conditional code only where all threads evaluate the condition identically), and `exit`.
"""

from dataclasses import dataclass

import numpy as np

from ptxsim.machine.cta import Batch, Cta, Step
from ptxsim.machine.observer import Other


@dataclass(frozen=True)
class Mark:
    """A place on the way past `barriers` (instructions), whose rounds are `size` numbers: it changes number `row`.

    `counts` says that the number grows there; otherwise it becomes 1. Those after it start anew.
    """

    barriers: tuple[int, ...]
    size: int
    row: int
    counts: bool


class Rounds:
    """The rounds of a CTA's threads: barrier → [numbers, warps, 32], kept once its threads have gone different ways."""

    def __init__(self, cta: Cta) -> None:
        self._shape = cta.exists.shape
        self.kept: dict[int, np.ndarray] = {}

    def pass_mark(self, mark: Mark, batch: Batch) -> None:
        """Let the lanes of a batch pass a mark."""
        if mark.barriers[0] not in self.kept:
            self.kept |= dict.fromkeys(mark.barriers, np.zeros((mark.size, *self._shape), np.int32))
        rows = self.kept[mark.barriers[0]]
        batch.update(rows[mark.row], batch.select(rows[mark.row]) + 1 if mark.counts else 1)
        for row in rows[mark.row + 1 :]:
            batch.update(row, 0)


def marked(step: Step, marks: list[Mark]) -> Step:
    """The step of an instruction with marks on it."""

    def with_marks(batch: Batch) -> bool | None:
        rounds = batch.cta.state_of(Rounds)
        # Threads that have never been apart are in one round, whatever its numbers are.
        if rounds.kept or batch.cta.uniform is None:
            again = batch.select(batch.cta.repeating)
            coming = batch.narrowed(batch.mask & ~again) if again.any() else batch
            for mark in marks:
                rounds.pass_mark(mark, coming)
        return step(batch)

    return with_marks


def check_rounds(cta: Cta, at: int, came: np.ndarray, members: np.ndarray, group: str) -> None:
    """Report lanes that come to the aligned barrier `at` in another round than others of their group.

    `came` are those that come and `members` all lanes of the group, [warps, 32]; the rest have exited.
    """
    rounds = cta.state_of(Rounds).kept.get(at)
    if rounds is None:
        return
    numbers = rounds[:, came]
    first = Other(at, cta.number, int(np.flatnonzero(came)[0]))
    other = (numbers != numbers[:, :1]).any(axis=0)
    if other.any():
        lanes = came.copy()
        lanes[came] = other
        message = f"comes to this aligned barrier in another round than other threads of its {group}"
        cta.report("barrier-divergence", message, at, lanes, other=first)
    past = members & ~came & ~cta.alive
    past[past] = _is_later(rounds[:, past], numbers[:, 0])
    if past.any():
        message = f"has passed this aligned barrier, and exits; other threads of its {group} still come to it"
        cta.report("barrier-divergence", message, at, past, other=first)


def _is_later(numbers: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Which of the rounds `numbers: [n, k]` come after the round `reference: [n]`."""
    difference = numbers - reference[:, None]
    first = (difference != 0).argmax(axis=0)
    return np.take_along_axis(difference, first[None], axis=0)[0] > 0
