"""What is resident on the SMs of a replay: CTAs of clusters, and their warps.

In: the streams of clusters. Out: the state that the replay keeps of each warp, and of each CTA.
"""

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ptxsim.clock.recording.trace import Arrive, CopyFacts, CopyStart, PhaseKey
from ptxsim.clock.replay.stream import WarpStream
from ptxsim.clock.sass.control import SCOREBOARDS


@dataclass(frozen=True)
class ClusterStreams:
    """The streams of one cluster's warps, by CTA; what is expected at each phase of its barriers and mbarriers."""

    ctas: tuple[tuple[WarpStream, ...], ...]
    expected: Mapping[PhaseKey, int]

    @classmethod
    def of(cls, ctas: Sequence[Sequence[WarpStream]], copies: Sequence[CopyFacts]) -> "ClusterStreams":
        """The streams of CTAs that make a cluster, and start some of `copies`."""
        expected: Counter[PhaseKey] = Counter()
        for stream in (stream for streams in ctas for stream in streams):
            for event in (event for events in stream.events.values() for event in events):
                if isinstance(event, Arrive):
                    expected[event.phase] += 1
                elif isinstance(event, CopyStart):
                    expected.update(copies[event.number].phases)
        return cls(tuple(map(tuple, ctas)), expected)


@dataclass(eq=False)
class ResidentCluster:
    """An instance of a cluster: how many of its warps have not ended, the SM of each CTA, bytes read beyond L1."""

    instance: int
    left: int
    sm_of: Mapping[int, int]
    read: float = 0.0


@dataclass(eq=False)
class ResidentCta:
    """A CTA that is resident: its number in the grid, its SM, since when, and warps that have not ended."""

    cluster: ResidentCluster
    number: int
    sm: int
    since: float
    left: int


@dataclass(eq=False)
class ResidentWarp:
    """A warp that is resident: where it is in its stream, when it may issue, and when its scoreboards are free.

    `due` is when it tries to issue, -1 while it waits for a phase. `stored` is when its stores have left the SM,
    `copies` when its copies by threads are there, `group` when its last warpgroup product is, `groups` when those of
    each group are that has not been waited for.
    """

    number: int
    cta: ResidentCta
    part: int
    stream: WarpStream
    place: int = 0
    time: float = 0.0
    boards: list[float] = field(default_factory=lambda: [0.0] * SCOREBOARDS)
    open_boards: list[deque[float]] = field(default_factory=lambda: [deque() for _ in range(SCOREBOARDS)])
    copies: float = 0.0
    group: float = 0.0
    groups: deque[float] = field(default_factory=deque)
    stored: float = 0.0
    due: float = -1.0
    waits_at: int = 0

    def mark(self, board: int, ready: float) -> None:
        """Count a scoreboard down at `ready`."""
        if board >= 0:
            self.boards[board] = max(self.boards[board], ready)
            self.open_boards[board].append(ready)
