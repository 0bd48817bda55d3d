"""What fences have prepared in a cluster: what a thread's next strong write releases, and what it has seen before one.

In: fences and relaxed synchronisation, in the order in which a thread executes them. Source: PTX ISA, "Release and
Acquire Patterns", `fence.mbarrier_init`.
"""

from dataclasses import dataclass, field
from functools import reduce

import numpy as np

from ptxsim.races.clocks import Clocks, Knowledge, Snapshot
from ptxsim.races.stamp import scope_of

_SCOPES = frozenset({"cta", "cluster", "gpu", "sys", "gl"})


@dataclass(frozen=True, eq=False)
class Fence:
    """A fence in a scope, and what its threads knew `then`; `membar` and `fence.sc` are `sc`."""

    scope: int
    sc: bool
    acquires: bool
    releases: bool
    then: Snapshot

    @classmethod
    def of(cls, words: list[str], then: Snapshot) -> "Fence":
        """The fence with these words: its opcode and modifiers."""
        scope = scope_of(*(_SCOPES & set(words)))
        sc = words[0] == "membar" or "sc" in words
        return cls(scope, sc, "release" not in words, "acquire" not in words, then)


@dataclass(eq=False)
class ReleaseState:
    """What the threads of a cluster (their numbers in it) have prepared."""

    #: Thread → its fences, the last of each scope that no wider one follows.
    fenced: dict[int, list[Fence]] = field(default_factory=dict)
    #: Thread → messages seen by strong reads that no fence has followed yet (bit set).
    seen: dict[int, int] = field(default_factory=dict)
    #: Thread → what phases have told it that it left without acquiring, until a fence.
    told: dict[int, Knowledge] = field(default_factory=dict)
    #: Thread → the time of its last `mbarrier.init`, and of the last one before a `fence.mbarrier_init`.
    made: dict[int, int] = field(default_factory=dict)
    published: dict[int, int] = field(default_factory=dict)

    def fence(self, threads: np.ndarray, fence: Fence) -> None:
        """Note a fence that releases."""
        for thread in threads.tolist():
            wider = [each for each in self.fenced.get(thread, ()) if each.scope > fence.scope or each.sc > fence.sc]
            self.fenced[thread] = [*wider, fence]

    def publish(self, threads: np.ndarray) -> None:
        """Note a `fence.mbarrier_init` of threads."""
        for thread in threads.tolist():
            if thread in self.made:
                self.published[thread] = self.made[thread]

    def tell(self, thread: int, knowledge: Knowledge) -> None:
        """Note what a thread will know behind its next fence that acquires."""
        self.told[thread] = self.told[thread].joined(knowledge) if thread in self.told else knowledge

    def relaxed(self, clocks: Clocks, threads: np.ndarray, scope: int) -> Knowledge | None:
        """The knowledge that relaxed arrivals of `threads: [k]` hand on in a scope: what their fences have prepared."""
        handed = [
            each.then.of(thread)
            for thread in threads.tolist()
            for each in self.fenced.get(thread, ())
            if each.scope >= scope
        ]
        made = [thread for thread in threads.tolist() if thread in self.published]
        if made:
            row = np.zeros(clocks.count, np.int32)
            row[made] = [self.published[thread] for thread in made]
            handed.append(Knowledge(row))
        return reduce(Knowledge.joined, handed) if handed else None
