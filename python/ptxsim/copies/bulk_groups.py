"""Bulk groups: `cp.async.bulk.commit_group` and `wait_group{.read}`, and copies under way when a CTA ends.

A thread's copies of the mechanism `.bulk_group` belong to the group that it commits next; the groups of a thread are
numbered from 0. A wait lands the copies of all groups but the last N, or with `.read` lets them read their sources.

Source: PTX ISA 9.1 §9.7.9.25.2 (bulk async-groups), §9.7.9.25.5.
"""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from ptxsim.copies.transfer import Transfer
from ptxsim.machine.cta import Batch, Cta, Step
from ptxsim.machine.misuse import Misuse
from ptxsim.machine.observer import Phase
from ptxsim.machine.site import Site


@dataclass
class _Member:
    """A copy of a group; `read` says that its thread has waited until its source was read."""

    transfer: Transfer
    group: int
    read: bool = False


class BulkGroups:
    """The groups of the threads of one CTA.

    `committed: [warps, 32]` counts the groups of each thread; `members` has the copies of each that it has not waited
    for, oldest first.
    """

    def __init__(self, cta: Cta) -> None:
        self.cta = cta
        self.committed = np.zeros(cta.exists.shape, np.int64)
        self.members: defaultdict[int, list[_Member]] = defaultdict(list)

    def add(self, transfer: Transfer, thread: int) -> None:
        """Let a copy belong to the group that `thread` commits next."""
        self.members[thread].append(_Member(transfer, int(self.committed.flat[thread])))

    def commit(self, batch: Batch) -> None:
        """End the group that each thread of the batch has open; a group may be empty."""
        batch.update(self.committed, batch.select(self.committed) + 1)

    def wait(self, batch: Batch, pending: int, read: bool) -> None:
        """Complete all groups of the threads of the batch but the last `pending`, or only their reading."""
        here = batch.in_cta()
        for thread in [thread for thread in self.members if here.flat[thread]]:
            before = int(self.committed.flat[thread]) - pending
            chosen = [member for member in self.members[thread] if member.group < before]
            self._complete(thread, chosen, read)
            if not read:
                self.members[thread] = self.members[thread][len(chosen) :]
                if not self.members[thread]:
                    del self.members[thread]

    def _complete(self, thread: int, chosen: list[_Member], read: bool) -> None:
        """Let copies land, or read, and tell the observer that the thread knows it."""
        lanes, observer = self.cta.lanes_of(thread), self.cta.launch.observer
        known: dict[int, None] = {}
        for member in chosen:
            if read and member.read:
                continue
            member.read = True
            if read:
                member.transfer.fetch()
            else:
                self.cta.copies_in_flight.land([member.transfer])
            for operation in member.transfer.operations:
                observer.finished(operation, self._name(thread, member.group), reads_only=read)
            known[member.group] = None
        for group in known:
            observer.departed(self.cta, self._name(thread, group), lanes)

    def _name(self, thread: int, group: int) -> Phase:
        return Phase("bulk", self.cta, thread, group)

    def end(self) -> None:
        """Report the copies that nobody has waited for though they read shared memory, which ends with the CTA."""
        for members in self.members.values():
            for member in members:
                if not member.read:
                    message = "reads shared memory, and no thread waits for that before the CTA exits"
                    member.transfer.issuer.report(Misuse("async-in-flight", f"the copy {message}"))


def bulk_groups(cta: Cta) -> BulkGroups:
    """The bulk groups of a CTA."""
    return cta.state_of(BulkGroups)


def end_copies(cta: Cta) -> None:
    """Report and land what is under way when a CTA has exited."""
    bulk_groups(cta).end()
    cta.copies_in_flight.land_all()


def commit_group(site: Site) -> Step:
    """`cp.async.bulk.commit_group;`."""
    if site.instruction.modifiers != ("async", "bulk", "commit_group"):
        site.unknown()
    site.operands(0)
    return lambda batch: bulk_groups(batch.cta).commit(batch)


def wait_group(site: Site) -> Step:
    """`cp.async.bulk.wait_group{.read} N;`."""
    words = site.instruction.modifiers[3:]
    if words not in ((), ("read",)):
        site.unknown()
    (operand,) = site.operands(1)
    pending, read = site.constant(operand, "number of groups"), bool(words)
    return lambda batch: bulk_groups(batch.cta).wait(batch, pending, read)
