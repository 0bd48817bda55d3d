"""Bulk and tensor copies under way: issued by a thread, landing later, so that who does not wait sees the old bytes.

A copy lands when no thread of its cluster can run, when a thread waits for its group, and otherwise after its CTA has
had some turns; which of them first nobody can rely on. `cp.async` and `wgmma`, whose results only their own threads
wait for, keep theirs until the wait instead.
"""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

#: Turns of a copy's CTA after which it lands by itself.
_TURNS_IN_FLIGHT = 96


class InFlight(Protocol):
    """What lands: `due` is the turn of its CTA at which it does by itself."""

    due: int

    def land(self) -> None:
        """Move the bytes, and signal that they are there."""
        ...


@dataclass(eq=False)
class CopyInFlight:
    """One copy, by a function that lets it land."""

    land: Callable[[], None]
    due: int = 0


@dataclass(eq=False)
class CopiesInFlight:
    """The copies that the threads of one CTA have issued and that have not landed, oldest first."""

    under_way: deque[InFlight] = field(default_factory=deque)

    def start(self, copy: InFlight, turn: int) -> None:
        """Let a copy begin, at turn `turn` of its CTA."""
        copy.due = turn + _TURNS_IN_FLIGHT
        self.under_way.append(copy)

    def land(self, chosen: Iterable[InFlight]) -> None:
        """Let these copies land now, those that have not yet."""
        for copy in chosen:
            if copy in self.under_way:
                self.under_way.remove(copy)
                copy.land()

    def land_due(self, turn: int) -> None:
        """Let the copies land whose time has come."""
        while self.under_way and self.under_way[0].due <= turn:
            self.under_way.popleft().land()

    def land_all(self) -> None:
        """Let every copy land."""
        while self.land_next():
            pass

    def land_next(self) -> bool:
        """Let the oldest copy land; return whether there was one."""
        if not self.under_way:
            return False
        self.under_way.popleft().land()
        return True
