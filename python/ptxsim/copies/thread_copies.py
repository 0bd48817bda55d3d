"""The copies that `cp.async` has under way in one CTA: each belongs to a group of the thread that issued it.

The bytes have left global memory when the copy is issued, and come into shared memory when the thread waits for its
group, or when an mbarrier that tracks the copy gets its arrival; until then whoever reads sees the old bytes. What no
thread waits for never comes: no other thread may rely on it, and the thread's end makes it visible to nobody.
"""

from dataclasses import dataclass

import numpy as np

from ptxsim.machine.access import Access
from ptxsim.machine.copies_in_flight import CopyInFlight
from ptxsim.machine.cta import Batch, Cta
from ptxsim.machine.launch import Launch
from ptxsim.machine.observer import AsyncOperation


@dataclass(eq=False)
class BatchCopies:
    """The copies of one instruction-batch, one for each of `operation.threads`: [k].

    `words: [k]` or `[k, count]` are the bytes on their way, `groups: [k]` the threads' groups, `pending: [k]` says
    which have not come yet. `number` counts the batches of the CTA.
    """

    access: Access
    operation: AsyncOperation
    words: np.ndarray
    groups: np.ndarray
    number: int
    pending: np.ndarray

    def __post_init__(self) -> None:
        self.first_group = int(self.groups.min())

    def land(self, launch: Launch, chosen: np.ndarray) -> None:
        """Let the bytes of the copies of `chosen: [k]` come into shared memory."""
        self.pending &= ~chosen
        (region,) = self.operation.writes
        view = region.memory.view(self.access.width, self.access.count)
        rows, words = region.index >> view.shift, self.words
        if not chosen.all():
            rows, words = rows[chosen], words[chosen]
        launch.store(view, rows, words)
        launch.observer.settled(self.operation, chosen)


class ThreadCopies:
    """The copies under way in a CTA, oldest first, and how many groups each thread has committed: [warps, 32]."""

    def __init__(self, cta: Cta) -> None:
        self.cta = cta
        self.committed = np.zeros(cta.exists.shape, np.int64)
        self.issued = 0
        self._under_way: list[BatchCopies] = []
        #: Arrivals that come with copies: how many batches had been issued, the lanes that arrive, and the arrival.
        self._arrivals: list[tuple[int, np.ndarray, CopyInFlight]] = []

    def start(self, access: Access, operation: AsyncOperation, words: np.ndarray) -> None:
        """Begin copies to `operation.writes`: they belong to the group that their threads will commit next."""
        groups = self.committed.reshape(-1)[operation.threads]
        pending = np.ones(len(groups), bool)
        self._under_way.append(BatchCopies(access, operation, words, groups, self.issued, pending))
        self.issued += 1
        self.cta.launch.observer.started(operation)

    def commit(self, batch: Batch) -> None:
        """Close the current group of the lanes of `batch`."""
        self.committed[batch.warps] += batch.mask

    def wait(self, batch: Batch, left: int) -> None:
        """Let all groups of the lanes come but the `left` that were committed last."""
        if not self._under_way:
            return
        limits = np.zeros(self.committed.shape, np.int64)
        limits[batch.warps] = np.where(batch.mask, self.committed[batch.warps] - left, 0)
        limits = limits.reshape(-1)
        latest = int(limits.max())
        for copies in self._under_way:
            if copies.first_group < latest:
                chosen = copies.groups < limits[copies.operation.threads]
                self._arrive(copies.number, copies.operation.threads[chosen])
                self._land(copies, chosen)
        self._drop_landed()

    def arrive_behind(self, lanes: np.ndarray, arrival: CopyInFlight) -> None:
        """Let `arrival` come with the copies that `lanes: [warps, 32]` have issued, and before their later ones."""
        self._arrivals = [each for each in self._arrivals if each[2] in self.cta.copies_in_flight.under_way]
        self._arrivals.append((self.issued, lanes.reshape(-1), arrival))
        self.cta.copies_in_flight.start(arrival, self.cta.turn)

    def _arrive(self, number: int, threads: np.ndarray) -> None:
        """Let the arrivals come that `threads` have put before their copies of batch `number`."""
        for before, lanes, arrival in self._arrivals:
            if before <= number and lanes[threads].any():
                self.cta.copies_in_flight.land([arrival])

    def land_issued(self, lanes: np.ndarray, before: int) -> None:
        """Let the copies come that `lanes: [warps, 32]` issued when fewer than `before` batches had been."""
        flat = lanes.reshape(-1)
        for copies in self._under_way:
            if copies.number < before:
                self._land(copies, flat[copies.operation.threads])
        self._drop_landed()

    def _land(self, copies: BatchCopies, chosen: np.ndarray) -> None:
        chosen = chosen & copies.pending
        if chosen.any():
            copies.land(self.cta.launch, chosen)

    def _drop_landed(self) -> None:
        self._under_way = [copies for copies in self._under_way if copies.pending.any()]


def thread_copies(cta: Cta) -> ThreadCopies:
    """The copies that the threads of a CTA have under way."""
    return cta.state_of(ThreadCopies)
