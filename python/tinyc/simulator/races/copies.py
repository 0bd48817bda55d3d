"""Asynchronous operations against everything else: what they read and write, until somebody knows their end.

In: `Operation`s of the engine, and the granules of threads' own accesses. Out: findings `async-in-flight`,
`proxy-fence-missing` and `race`. Source: PTX ISA, "Asynchronous operations", "Async proxy", `fence.proxy`.
"""

from typing import TYPE_CHECKING

import numpy as np

from tinyc.simulator.engine.cta import WARP
from tinyc.simulator.engine.observer import Operation, Phase, Region
from tinyc.simulator.races import stamp
from tinyc.simulator.races.accesses import UNORDERED, Accesses
from tinyc.simulator.races.clocks import Clocks, Knowledge
from tinyc.simulator.races.operations import Operations
from tinyc.simulator.races.shadow import Shadow

if TYPE_CHECKING:
    from tinyc.simulator.races.detector import Races


class Copies:
    """The asynchronous operations of one launch."""

    def __init__(self, races: "Races") -> None:
        self._races = races
        self._operations = Operations()

    def check(self, look: Accesses, shadow: Shadow, places: np.ndarray, writes: bool, reduces: bool = False) -> None:
        """Report accesses to what an operation writes, and writes to what one reads, before its end is known."""
        mine = look.local.reshape(-1, *[1] * (places.ndim - 1))
        if shadow.landing is not None:
            numbers = shadow.landing[places]
            stores = self._operations.that_store(numbers) if reduces else numbers
            self._report(look, stores, mine, False, "is still writing")
            if writes and numbers.any():
                shadow.landing[places] = 0
        if writes:
            for agent in shadow.reading.values():
                self._report(look, agent[places], mine, True, "is still reading")

    def _report(self, look: Accesses, numbers: np.ndarray, mine: np.ndarray, reads: bool, what: str) -> None:
        wrong = self._operations.unknown(look.clocks, numbers, mine, reads)
        if wrong is not None:
            at = self._operations.instructions[int(np.broadcast_to(numbers, wrong.shape)[wrong][0])]
            line = look.cta.launch.program.code.instructions[at].line
            text = f"that the asynchronous operation of line {line} {what}, as far as this thread knows"
            look.report("async-in-flight", wrong, text)

    def start(self, operation: Operation, clocks: Clocks, now: int) -> None:
        """Check an operation against what came before it, and note what it will read and write."""
        self._operations.add(operation)
        for region in operation.reads:
            self._read(operation, region, clocks, now)
        for region in operation.writes:
            self._write(operation, region, clocks, now)

    def _look(self, operation: Operation, region: Region, clocks: Clocks, action: str) -> Accesses:
        threads = operation.threads.astype(np.int64) + operation.cta.number * clocks.per_cta
        strength = stamp.STRENGTH if operation.reduces else 0
        index = region.index
        return Accesses(
            operation.cta, clocks, operation.at, region.memory, index, region.size, threads, strength, action
        )

    def _read(self, operation: Operation, region: Region, clocks: Clocks, now: int) -> None:
        look, shadow = self._look(operation, region, clocks, "starts to read"), self._races.shadow(region.memory)
        places = shadow.places(region.index, region.size)
        written = shadow.written[places]
        if written.any():
            self._check_writes(look, written)
        if shadow.landing is not None:
            self._report(look, shadow.landing[places], _column(look.local, places), False, "is still writing")
        if region.memory.space == "global":
            slots = look.threads // WARP % shadow.slots
            shadow.note_read(places, _column(slots, places), _column(stamp.stamps(now, look.threads, 0), places))
            return
        shadow.note_reading(
            places, int(operation.threads[0]) // WARP + operation.cta.rank * clocks.warps, operation.number
        )

    def _check_writes(self, look: Accesses, written: np.ndarray) -> None:
        """Report writes that the issuing thread does not know, and those that no proxy fence makes visible."""
        wrong = look.unordered(self._races.messages, written)
        if wrong is not None:
            text = f"that another thread writes at line {self._races.line(written, wrong)}, {UNORDERED}"
            look.report("race", wrong, text)
            written = np.where(wrong, 0, written)
        wrong = look.unproxied(written)
        if wrong is not None:
            line = self._races.line(written, wrong)
            text = f"by the asynchronous proxy that a thread writes at line {line}, without fence.proxy.async between"
            look.report("proxy-fence-missing", wrong, text)

    def _write(self, operation: Operation, region: Region, clocks: Clocks, now: int) -> None:
        look, shadow = self._look(operation, region, clocks, "starts to write"), self._races.shadow(region.memory)
        places = shadow.places(region.index, region.size)
        for earlier, verb in ((shadow.written[places], "writes"), (shadow.reads_at(places), "reads")):
            wrong = look.unordered(self._races.messages, earlier) if earlier.any() else None
            if wrong is not None:
                text = f"that another thread {verb} at line {self._races.line(earlier, wrong)}, {UNORDERED}"
                look.report("race", wrong, text)
        if region.memory.space == "global" and operation.reduces:
            flags = look.strength | stamp.ASYNCHRONOUS
            shadow.written[places] = _column(stamp.stamps(now, look.threads, flags), places)
            return
        self.check(look, shadow, places, writes=True, reduces=operation.reduces)
        shadow.note_landing(places, operation.number)

    def settle(self, operation: Operation, chosen: np.ndarray, now: int) -> None:
        """Let chosen copies of the generic proxy become writes of their threads."""
        for region in operation.writes:
            self._become_writes(operation, region, operation.threads[chosen], region.index[chosen], now)

    def _become_writes(
        self, operation: Operation, region: Region, threads: np.ndarray, index: np.ndarray, now: int
    ) -> None:
        shadow = self._races.shadow(region.memory)
        places = shadow.places(index, region.size)
        flags = stamp.ASYNCHRONOUS if operation.proxy == "async" else 0
        first = operation.cta.number * self._races.per_cta
        stamps = stamp.stamps(now, threads.astype(np.int64) + first, flags)
        still = shadow.landing_at(places) == operation.number
        shadow.written[places] = np.where(still, _column(stamps, places), shadow.written[places])
        shadow.note_landed(places[still])

    def finish(self, operation: Operation, clocks: Clocks, phase: Phase, now: int, reads_only: bool) -> Knowledge:
        """Note the end of an operation; return what who waits for `phase` learns by it."""
        for region in operation.writes:
            if region.memory.space == "global" and not operation.reduces and not reads_only:
                self._become_writes(operation, region, operation.threads, region.index, now)
        column = self._operations.finish(operation, clocks, phase, now, reads_only)
        row = np.zeros(column + 1, np.int32)
        row[column] = now
        return Knowledge(row)


def _column(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return values of [k] in a shape that spreads over the places: [k], or [k, 1]."""
    return values.reshape(-1, *[1] * (places.ndim - 1))
