"""What has happened in a launch, and who knows: the happens-before relation, as sets of tokens.

An *event* is that a tile has been filled, or read, or an mbarrier made. Its token is a number; the token's negative is
that a fence has made it known to tensor cores and TMA, too. A team that knows an event comes after it.
"""

import itertools
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from tinyc.executors.gpu.memory import KernelFault


class Events:
    """Numbers the events of a launch."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def new(self) -> int:
        """The token of a new event."""
        return next(self._numbers)


@dataclass
class KnownEvents:
    """The events that all threads of a team know of, and those that only some do: those that did something, or waited.

    What lanes have done by themselves the others of their warps do not know (`of_lanes`), of whom one may arrive
    somewhere for all. A team of one thread has but the first.
    """

    is_one_thread: bool
    of_all: set[int] = field(default_factory=set[int])
    of_some: set[int] = field(default_factory=set[int])
    of_lanes: set[int] = field(default_factory=set[int])

    def learn(self, events: Iterable[int]) -> None:
        """Let all threads know of events, as each of them has waited for them."""
        self.of_all.update(events)

    def note(self, events: Iterable[int]) -> None:
        """Let some thread know of events: one that has done it, or has waited for what it had started itself."""
        (self.of_all if self.is_one_thread else self.of_some).update(events)

    def share(self) -> None:
        """Let all threads know what some do: a barrier."""
        self.meet_in_warps()
        self.of_all |= self.of_some
        self.of_some.clear()

    def meet_in_warps(self) -> None:
        """Let the lanes of each warp know what the others have done."""
        self.of_some |= self.of_lanes
        self.of_lanes.clear()

    def fence(self) -> None:
        """Let what the threads know of be known to tensor cores and TMA, behind the next barrier."""
        self.note([-each for each in self.handed_on if each > 0])

    @property
    def handed_on(self) -> set[int]:
        """What an arrival of all threads tells those who wait for it."""
        return self.of_all | self.of_some


@dataclass
class Groups:
    """Asynchronous work of a kind: the events of the open group, and of those closed that no wait has covered."""

    kind: str
    open: list[int] = field(default_factory=list[int])
    closed: deque[list[int]] = field(default_factory=deque[list[int]])

    def commit(self) -> None:
        """Close the open group."""
        self.closed.append(self.open)
        self.open = []

    def wait(self, pending: int) -> list[int]:
        """The events of all groups but the last `pending`, which are over."""
        return [event for _ in range(len(self.closed) - pending) for event in self.closed.popleft()]

    def require_none(self, who: str) -> None:
        """Check that nothing is under way any more.

        Raises:
            KernelFault.
        """
        if self.open or any(self.closed):
            raise KernelFault(f"{who} ends while its copies ({self.kind}) are under way; 'tgpu.wait_group' is missing")
