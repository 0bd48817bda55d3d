"""Threads that `mbarrier.try_wait` has blocked, where nothing else of the launch can run: how long they may wait.

The ISA bounds the time that `try_wait` suspends a thread: it then gives false, and a kernel that only wanted to look
goes on. In: the CTAs that run, none of which can go on. Out: blocked threads let go, or, where that has led nowhere
often enough, nothing, and the launch is at its end. Source: PTX ISA 9.1 §9.7.13.15.16 (mbarrier.try_wait).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b

from ptxsim.machine.cta import Cta
from ptxsim.machine.launch import Launch
from ptxsim.mbarrier.objects import mbarriers

#: Time-outs in a row between which no phase, thread or barrier has come to its end, and threads only count or write.
_FRUITLESS_TIME_OUTS = 256


@dataclass(eq=False)
class TimeOuts:
    """The time-outs of a launch since something came to its end: how the threads were at each of them."""

    launch: Launch
    _milestones: tuple[int, ...] = ()
    _seen: set[tuple[object, ...]] = field(default_factory=set)

    def let_go(self, ctas: Iterable[Cta]) -> bool:
        """Let the threads go on that a `try_wait` has blocked; return whether there were any, and it may help.

        It does not where they have come back with the same registers, and memory is as it was.
        """
        milestones = _milestones(self.launch, ctas)
        if milestones != self._milestones:
            self._milestones = milestones
            self._seen.clear()
        state = (self.launch.progress, *(_digest(cta) for cta in ctas))
        hopeless = state in self._seen or len(self._seen) >= _FRUITLESS_TIME_OUTS
        self._seen.add(state)
        released = [not hopeless and mbarriers(cta).time_out() for cta in ctas]
        return any(released)


def _milestones(launch: Launch, ctas: Iterable[Cta]) -> tuple[int, ...]:
    ended = sum(mbarriers(cta).ended_phases for cta in ctas)
    return launch.barriers, launch.cta_count, ended, sum(int(cta.alive.sum()) for cta in ctas)


def _digest(cta: Cta) -> bytes:
    """A digest of where the threads of a CTA are and of their registers."""
    digest = blake2b(cta.pc.tobytes())
    for register in cta.registers:
        digest.update(register.tobytes())
    return digest.digest()
