"""One bulk or tensor copy from its issue to its completion: who issued it, how it lands, and what it signals.

In: the endpoints of a copy and the mbarriers that count its bytes, all checked. Out: a copy under way, told to the
observer and counted, which reads its source and writes its destinations when it lands.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ptxsim.copies.endpoints import CopyDestination, CopySource, CopyUpdate, Range, Words
from ptxsim.machine.cta import Cta
from ptxsim.machine.misuse import Misuse, require_aligned
from ptxsim.machine.observer import AsyncOperation, Region
from ptxsim.mbarrier.barrier import SIZE
from ptxsim.mbarrier.objects import mbarriers
from ptxsim.memory.traffic import PASS_BYTES, SECTOR_BYTES


@dataclass(frozen=True, eq=False)
class Issuer:
    """The thread that issues a copy: number `thread` of its CTA, at instruction `at`."""

    cta: Cta
    thread: int
    at: int

    def report(self, misuse: Misuse) -> None:
        """Record a finding by the thread, whichever instruction runs now."""
        self.cta.report(misuse.kind, misuse.message, self.at, self.cta.lanes_of(self.thread))


@dataclass(frozen=True)
class Signal:
    """The mbarrier at `offset` of a CTA's shared memory, which counts the bytes of a copy."""

    cta: Cta
    offset: int

    @property
    def region(self) -> Region:
        """Its bytes for the observer."""
        return Region(self.cta.shared, np.array([self.offset]), SIZE)

    def require_valid(self) -> None:
        """Check that there is an mbarrier object. Raises: Misuse."""
        require_aligned("mbarrier", self.offset, SIZE)
        Range(self.cta.shared, self.offset, SIZE).require_allocated("mbarrier of the copy")
        mbarriers(self.cta).find(self.offset)


@dataclass(eq=False)
class Transfer:
    """A copy under way, or a reduction where there is an `update`.

    `operations` has one for each destination, and so has `signals` where mbarriers count the copy.
    """

    issuer: Issuer
    operations: Sequence[AsyncOperation]
    source: CopySource
    destinations: Sequence[CopyDestination]
    signals: Sequence[Signal]
    byte_count: int
    update: CopyUpdate | None
    contents: np.ndarray | None = None
    due: int = 0

    def fetch(self) -> np.ndarray:
        """Read the source, if that is not done, and return what was read.

        Bulk groups look for themselves whether somebody has waited for that.
        """
        if self.contents is None:
            if self.signals:
                self._require_alive(self.source, "reads")
            self.contents = self.source.read()
        return self.contents

    def land(self) -> None:
        """Move the bytes, and count them at the mbarriers."""
        contents = self.fetch()
        for endpoint in self.destinations:
            self._require_alive(endpoint, "writes")
            if self.update is None:
                endpoint.write(contents)
            else:
                endpoint.update(self.update, contents)
        for signal, operation in zip(self.signals, self.operations, strict=False):
            self._count(signal, operation)
        self.issuer.cta.launch.progress += 1

    def _count(self, signal: Signal, operation: AsyncOperation) -> None:
        objects = mbarriers(signal.cta)
        try:
            self.issuer.cta.launch.observer.finished(operation, objects.phase(signal.offset))
            objects.complete_tx(signal.offset, self.byte_count)
        except Misuse as misuse:
            self.issuer.report(misuse)

    def _require_alive(self, endpoint: CopySource, verb: str) -> None:
        if endpoint.owner is not None and endpoint.owner.finished:
            message = f"the copy {verb} shared memory of a CTA that has exited, which waits for no such copy"
            self.issuer.report(Misuse("async-in-flight", message))


def start(
    issuer: Issuer,
    source: CopySource,
    destinations: Sequence[CopyDestination],
    signals: Sequence[Signal] = (),
    update: CopyUpdate | None = None,
    tensor_map: Region | None = None,
) -> Transfer:
    """Let a copy begin, told to the observer and counted; the bytes that its mbarriers count are those of its box.

    `tensor_map` is the map that the copy reads, where that is in global memory.
    """
    cta = issuer.cta
    counted: Sequence[Region | None] = [each.region for each in signals] or [None] * len(destinations)
    operations = [
        AsyncOperation(
            cta,
            issuer.at,
            np.array([issuer.thread]),
            source.regions,
            endpoint.regions,
            reduces=update is not None,
            tensor_map=tensor_map,
            signal=signal,
        )
        for endpoint, signal in zip(destinations, counted, strict=True)
    ]
    size = next(endpoint.size for endpoint in (source, *destinations) if isinstance(endpoint, Range))
    transfer = Transfer(issuer, operations, source, destinations, signals, size, update)
    if not isinstance(source, Words):
        _count(issuer, source, "load")
    for endpoint, operation in zip(destinations, operations, strict=True):
        _count(issuer, endpoint, "store" if update is None else "atomic")
        cta.launch.observer.started(operation)
    cta.copies_in_flight.start(transfer, cta.turn)
    return transfer


def _count(issuer: Issuer, endpoint: CopyDestination, kind: str) -> None:
    """Add the bytes of one endpoint to the tallies: by sectors of global, by passes of shared memory."""
    space, width = endpoint.memory.space, endpoint.width
    tally = issuer.cta.launch.tally(issuer.at, kind, space, width)
    for region in endpoint.regions:
        size = region.size * len(region.index)
        units = _sectors(region) if space == "global" else -(-size // PASS_BYTES)
        tally.add(size // width, 1, units, units)
        if space == "global":
            first, end = int(region.index.min()), int(region.index.max()) + region.size
            issuer.cta.launch.arrays.add(kind, first, end, size, units)


def _sectors(region: Region) -> int:
    last = region.index + (region.size - 1)
    return int((last // SECTOR_BYTES - region.index // SECTOR_BYTES + 1).sum())
