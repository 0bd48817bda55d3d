"""Phases of barriers and mbarriers: what each still waits for, when it is over, and who waits for it.

In: arrivals and copies, in any order, each with its time. Out: the time when a phase is over: that of the last of them.
A phase belongs to an instance of a cluster: the same cluster may be replayed several times, also at once.
"""

from collections.abc import Mapping, Sequence
from typing import Generic, TypeVar

from ptxsim.clock.recording.trace import PhaseKey

_Waiter = TypeVar("_Waiter")


class Phases(Generic[_Waiter]):
    """The phases of the clusters that run."""

    def __init__(self) -> None:
        self._pending: dict[int, dict[PhaseKey, int]] = {}
        self._done: dict[int, dict[PhaseKey, float]] = {}
        self._waiting: dict[tuple[int, PhaseKey], list[_Waiter]] = {}

    def begin(self, instance: int, expected: Mapping[PhaseKey, int]) -> None:
        """Begin an instance of a cluster; `expected` counts what completes each of its phases."""
        self._pending[instance] = dict(expected)
        self._done[instance] = {}

    def end(self, instance: int) -> None:
        """Forget an instance."""
        del self._pending[instance], self._done[instance]

    def complete(self, instance: int, phase: PhaseKey, time: float) -> tuple[float, Sequence[_Waiter]]:
        """Count one arrival or copy that is there at `time`: when the phase is over, and who has waited for that."""
        done, pending = self._done[instance], self._pending[instance]
        done[phase] = over = max(done.get(phase, 0.0), time)
        pending[phase] -= 1
        return over, self._waiting.pop((instance, phase), ()) if pending[phase] == 0 else ()

    def over(self, instance: int, phase: PhaseKey) -> float | None:
        """When a phase is over; None while it is not known."""
        if self._pending[instance].get(phase, 0) > 0:
            return None
        return self._done[instance].get(phase, 0.0)

    def wait(self, instance: int, phase: PhaseKey, waiter: _Waiter) -> None:
        """Wait for the end of a phase that is not known yet."""
        self._waiting.setdefault((instance, phase), []).append(waiter)
