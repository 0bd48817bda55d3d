"""Asynchronous operations against everything else: what they read and write, until somebody knows their end.

In: `AsyncOperation`s of the engine, and the granules of threads' own accesses. Out: findings `async-in-flight`,
`proxy-fence-missing` and `race`.

An mbarrier that counts a copy is accessed as by the generic proxy: its `mbarrier.init` happens before the copy, and no
proxy fence is between. Source: PTX ISA, "Asynchronous operations", "Async proxy", `fence.proxy`; of mbarriers
https://github.com/NVIDIA/cccl/pull/5102, where NVIDIA says so for all GPUs that have these copies.
"""

import numpy as np

from ptxsim.machine.findings import OTHER_LINES
from ptxsim.machine.observer import AsyncOperation, ObservedCta, Other, Phase, Region
from ptxsim.machine.warp import WARP
from ptxsim.races import stamp
from ptxsim.races.accesses import UNORDERED, Accesses
from ptxsim.races.clocks import Clocks, Knowledge
from ptxsim.races.history import History
from ptxsim.races.map_fences import MapFences
from ptxsim.races.operations import Operations
from ptxsim.races.shadow import Shadow


class CopyChecks:
    """The asynchronous operations of one launch."""

    def __init__(self, history: History, maps: MapFences) -> None:
        self._history = history
        self._maps = maps
        self._operations = Operations()

    def check(self, look: Accesses, shadow: Shadow, places: np.ndarray, writes: bool, reduces: bool = False) -> None:
        """Report accesses to what an operation writes, and writes to what one reads, before its end is known."""
        mine = look.local.reshape(-1, *[1] * (places.ndim - 1))
        if shadow.landing is not None:
            numbers = shadow.landing[places]
            stores = self._operations.that_store(numbers) if reduces else numbers
            self._report(look, stores, mine, False, "is still writing")
            if writes and np.count_nonzero(numbers):
                shadow.landing[places] = 0
        if writes:
            for agent in shadow.reading.values():
                self._report(look, agent[places], mine, True, "is still reading")

    def _report(self, look: Accesses, numbers: np.ndarray, mine: np.ndarray, reads: bool, what: str) -> None:
        wrong = self._operations.unknown(look.clocks, self._history.messages, numbers, mine, reads)
        if wrong is not None:
            place = tuple(np.argwhere(wrong)[0])
            operation = self._operations.of_number(int(np.broadcast_to(numbers, wrong.shape)[place]))
            other = Other(operation.at, operation.cta.number, _issuer(operation, look, int(place[0])))
            text = f"that the asynchronous operation of {OTHER_LINES} {what}, as far as this thread knows"
            look.report("async-in-flight", wrong, text, other)

    def start(self, operation: AsyncOperation, clocks: Clocks, now: int) -> None:
        """Check an operation against what came before it, and note what it will read and write."""
        self._operations.add(operation, clocks.number)
        for region in operation.reads:
            self._read(operation, region, clocks, now)
        for region in operation.writes:
            self._write(operation, region, clocks, now)
        if operation.tensor_map is not None:
            self._read_map(operation, operation.tensor_map, clocks)
        if operation.signal is not None:
            self._check_signal(operation, operation.signal, clocks)

    def _look(self, operation: AsyncOperation, region: Region, clocks: Clocks, action: str) -> Accesses:
        threads = operation.threads.astype(np.int64) + operation.cta.number * clocks.per_cta
        strength = stamp.STRENGTH if operation.reduces else 0
        index = region.index
        return Accesses(
            operation.cta, clocks, operation.at, region.memory, index, region.size, threads, strength, action
        )

    def _read(self, operation: AsyncOperation, region: Region, clocks: Clocks, now: int) -> None:
        look = self._look(operation, region, clocks, "starts to read")
        shadow = self._history.shadow(region.memory, region.size)
        places = shadow.places(region.index, region.size)
        self._check_writes(look, shadow, places, visibly=True)
        self._note_read(operation, look, shadow, places)

    def _read_map(self, operation: AsyncOperation, region: Region, clocks: Clocks) -> None:
        look = self._look(operation, region, clocks, "starts to read")
        shadow = self._history.shadow(region.memory, region.size)
        places = shadow.places(region.index, region.size)
        self._check_writes(look, shadow, places, visibly=False)
        self._maps.check(look, shadow.written[places])
        self._note_read(operation, look, shadow, places)

    def _note_read(self, operation: AsyncOperation, look: Accesses, shadow: Shadow, places: np.ndarray) -> None:
        if shadow.landing is not None:
            self._report(look, shadow.landing[places], _column(look.local, places), False, "is still writing")
        warps = look.threads // WARP if look.memory.space == "global" else look.local // WARP
        shadow.note_reading(places, int(warps[0]) % shadow.slots, operation.number)

    def _check_signal(self, operation: AsyncOperation, region: Region, clocks: Clocks) -> None:
        """Report an mbarrier that another thread makes (or ends) with nothing that orders this with the copy.

        Arrivals, and other copies that it counts, are atomic with the copy's complete-tx.
        """
        look = self._look(operation, region, clocks, "signals")
        shadow = self._history.shadow(region.memory, region.size)
        places = shadow.places(region.index, region.size)
        last = shadow.written[places]
        made = np.where(last & stamp.STRENGTH, 0 if shadow.hidden is None else shadow.hidden[places], last)
        wrong = look.unordered(self._history.messages, made)
        if wrong is not None:
            text = f"that another thread writes at {OTHER_LINES}, {UNORDERED}"
            look.report("race", wrong, text, self._first(look, made, wrong))

    def _check_writes(self, look: Accesses, shadow: Shadow, places: np.ndarray, visibly: bool) -> None:
        """Report writes that the issuing thread does not know; `visibly`: those without a proxy fence, too."""
        last = shadow.written[places]
        for written in (last, shadow.updates_at(places, last)) if np.count_nonzero(last) else ():
            if written is None:
                continue
            wrong = look.unordered(self._history.messages, written)
            if wrong is not None:
                text = f"that another thread writes at {OTHER_LINES}, {UNORDERED}"
                look.report("race", wrong, text, self._first(look, written, wrong))
                written = np.where(wrong, 0, written)
            if visibly:
                self._check_proxy(look, written)

    def _first(self, look: Accesses, earlier: np.ndarray, wrong: np.ndarray) -> Other:
        return self._history.other(look.first_unordered(self._history.messages, earlier, wrong))

    def _check_proxy(self, look: Accesses, written: np.ndarray) -> None:
        wrong = look.unproxied(self._history.messages, written)
        if wrong is not None:
            other = self._history.other(written[wrong][:1])
            text = f"by the asynchronous proxy that a thread writes at {OTHER_LINES}, without fence.proxy.async between"
            look.report("proxy-fence-missing", wrong, text, other)

    def _write(self, operation: AsyncOperation, region: Region, clocks: Clocks, now: int) -> None:
        look, shadow = (
            self._look(operation, region, clocks, "starts to write"),
            self._history.shadow(region.memory, region.size),
        )
        places = shadow.places(region.index, region.size)
        # Those that read nothing are not copies of the asynchronous proxy: cp.async, st.async, red.async.
        self._check_writes(look, shadow, places, visibly=bool(operation.reads))
        read = shadow.reads_at(places)
        wrong = None if read is None else look.unordered(self._history.messages, read)
        if read is not None and wrong is not None:
            text = f"that another thread reads at {OTHER_LINES}, {UNORDERED}"
            look.report("race", wrong, text, self._first(look, read, wrong))
        if region.memory.space == "global" and operation.reduces:
            flags = look.strength | stamp.ASYNCHRONOUS
            shadow.written[places] = _column(stamp.stamps(now, look.threads, flags), places)
            return
        self.check(look, shadow, places, writes=True, reduces=operation.reduces)
        shadow.note_landing(places, operation.number)

    def settle(self, operation: AsyncOperation, chosen: np.ndarray, now: int) -> None:
        """Let chosen copies of the generic proxy become writes of their threads."""
        for region in operation.writes:
            self._become_writes(operation, region, operation.threads[chosen], region.index[chosen], now)

    def _become_writes(
        self, operation: AsyncOperation, region: Region, threads: np.ndarray, index: np.ndarray, now: int
    ) -> None:
        shadow = self._history.shadow(region.memory, region.size)
        places = shadow.places(index, region.size)
        flags = stamp.ASYNCHRONOUS if operation.proxy == "async" else 0
        first = operation.cta.number * self._history.per_cta
        stamps = stamp.stamps(now, threads.astype(np.int64) + first, flags)
        still = shadow.landing_at(places) == operation.number
        shadow.written[places] = np.where(still, _column(stamps, places), shadow.written[places])
        shadow.note_landed(places[still])

    def end(self, cta: ObservedCta, shadow: Shadow, clocks: Clocks) -> None:
        """Report copies into the shared memory of a CTA that no thread of it knew to be complete when it exited."""
        if shadow.landing is None:
            return
        threads = np.flatnonzero(cta.exists) + cta.rank * clocks.per_cta
        for number in np.unique(shadow.landing[shadow.landing > 0]).tolist():
            operation = self._operations.of_number(number)
            if operation.proxy != "async":
                continue
            numbers = np.full(len(threads), number)
            unknown = self._operations.unknown(clocks, self._history.messages, numbers, threads, reads=False)
            if unknown is not None and unknown.all():
                message = "the copy writes shared memory, and no thread waits for that before the CTA exits"
                lanes = operation.cta.lanes_of(operation.threads)
                operation.cta.report("async-in-flight", message, operation.at, lanes)

    def finish(self, operation: AsyncOperation, clocks: Clocks, phase: Phase, now: int, reads_only: bool) -> Knowledge:
        """Note the end of an operation; return what who waits for `phase` learns by it."""
        for region in operation.writes:
            if region.memory.space == "global" and not operation.reduces and not reads_only:
                self._become_writes(operation, region, operation.threads, region.index, now)
        column = self._operations.finish(operation, clocks, phase, now, reads_only)
        row = np.zeros(column + 1, np.int32)
        row[column] = now
        return Knowledge(row)


def _issuer(operation: AsyncOperation, look: Accesses, row: int) -> int:
    """The thread that has issued what an operation does to the bytes of access number `row`: its number in its CTA."""
    start = int(np.broadcast_to(look.index, max(len(look.index), row + 1))[row])
    for region in (*operation.writes, *operation.reads):
        near = (region.index < start + look.size) & (start < region.index + region.size)
        if region.memory is look.memory and len(near) == len(operation.threads) and near.any():
            return int(operation.threads[near][0])
    return int(operation.threads[0])


def _column(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Values of [k] in a shape that spreads over the places: [k], or [k, 1]."""
    return values.reshape(-1, *[1] * (places.ndim - 1))
