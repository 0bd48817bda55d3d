"""The mbarrier object: phases, arrivals and the bytes of asynchronous copies, as a state machine on 64 bits.

In: the word in shared memory and an operation. Out: the next word, or `Misuse` where the ISA leaves the result
undefined. The layout of the word is ours (the ISA calls it opaque), least significant bit first:

    bits  0–19  pending arrivals of the current phase
    bits 20–39  expected arrivals of the next phase
    bits 40–60  tx-count, two's complement
    bits 61–62  number of the current phase modulo 4; its lowest bit is the parity
    bit  63     1: a valid object

A phase completes when no arrival is pending and the tx-count is 0. Two bits of phase tell the current phase and the
one before it, which may be tested, from older ones, which may not.

Source: PTX ISA 9.1 §9.7.13.15 (mbarrier); the sections below are of the same version.
"""

from dataclasses import dataclass, replace

from ptxsim.machine.misuse import Misuse

#: The largest count, of arrivals and of bytes. Source: §9.7.13.15.2 (Contents of the mbarrier object).
MAXIMUM_COUNT = 2**20 - 1
SIZE = 8
#: The bits of a state that say which phase it is of, and that it is one.
PHASE_BITS = 0b111 << 61

_COUNT_BITS = 20
_TX_BITS = 21
_PHASES = 4


@dataclass(frozen=True)
class Barrier:
    """The contents of a valid mbarrier object; each operation returns the contents after it.

    `pending`, `expected`: arrivals; `tx_count`: bytes; `phase`: modulo 4.
    """

    pending: int
    expected: int
    tx_count: int = 0
    phase: int = 0

    @classmethod
    def initial(cls, count: int) -> "Barrier":
        """The barrier that `mbarrier.init` with `count` expected arrivals makes.

        Raises: Misuse where the count is out of range. Source: §9.7.13.15.9.
        """
        _require_count("mbarrier.init", count)
        return cls(pending=count, expected=count)

    @classmethod
    def of(cls, word: int) -> "Barrier":
        """The contents of a word.

        Raises: Misuse ("uninitialized") where the word is not a valid object (never initialised, or invalidated).
        """
        if not word >> 63 & 1:
            raise Misuse("uninitialized", f"the 8 bytes {word:#018x} are no mbarrier object: mbarrier.init is missing")
        tx_count = word >> 2 * _COUNT_BITS & (1 << _TX_BITS) - 1
        if tx_count >> _TX_BITS - 1:
            tx_count -= 1 << _TX_BITS
        return cls(
            pending=word & MAXIMUM_COUNT,
            expected=word >> _COUNT_BITS & MAXIMUM_COUNT,
            tx_count=tx_count,
            phase=word >> 61 & _PHASES - 1,
        )

    @property
    def word(self) -> int:
        """The object as an unsigned 64-bit word: what memory holds, and what an arrival returns as its state."""
        tx_count = self.tx_count & (1 << _TX_BITS) - 1
        return self.pending | self.expected << _COUNT_BITS | tx_count << 2 * _COUNT_BITS | self.phase << 61 | 1 << 63

    @property
    def parity(self) -> int:
        """The parity of the current phase, which is incomplete."""
        return self.phase & 1

    def arrive(self, count: int = 1, no_complete: bool = False) -> "Barrier":
        """Perform an arrive-on operation; the state it returns to the program is the `word` before it.

        Raises: Misuse where more arrive than are pending, or where `.noComplete` completes the phase.
        Source: §9.7.13.15.7, §9.7.13.15.13.
        """
        _require_count("mbarrier.arrive", count)
        if count > self.pending:
            message = f"{_arrivals(count)} at an mbarrier with {self.pending} of {self.expected} arrivals pending"
            raise Misuse("barrier-divergence", message)
        after = replace(self, pending=self.pending - count)._completed()
        if no_complete and after.phase != self.phase:
            raise Misuse("barrier-divergence", "mbarrier.arrive.noComplete completes the phase")
        return after

    def arrive_drop(self, count: int = 1, no_complete: bool = False) -> "Barrier":
        """Perform an arrive-on operation, and expect `count` arrivals less from the next phase on.

        Raises: Misuse as `arrive`, or where fewer are expected than drop out. Source: §9.7.13.15.14.
        """
        _require_count("mbarrier.arrive_drop", count)
        if count > self.expected:
            message = f"{_arrivals(count)} drop out of an mbarrier that expects {self.expected}"
            raise Misuse("barrier-divergence", message)
        return replace(self, expected=self.expected - count).arrive(count, no_complete)

    def add_pending(self) -> "Barrier":
        """Count one more pending arrival, which `cp.async.mbarrier.arrive` without `.noinc` makes later itself.

        Raises: Misuse where the count leaves its range. Source: §9.7.13.15.15.
        """
        if self.pending == MAXIMUM_COUNT:
            message = f"cp.async.mbarrier.arrive lifts the pending count of an mbarrier over {MAXIMUM_COUNT}"
            raise Misuse("barrier-divergence", message)
        return replace(self, pending=self.pending + 1)

    def expect_tx(self, count: int) -> "Barrier":
        """Expect `count` more bytes in the current phase.

        Raises: Misuse ("mbarrier-tx-mismatch") where the tx-count leaves its range. Source: §9.7.13.15.5.1.
        """
        return self._with_tx("expect-tx", count, self.tx_count + count)

    def complete_tx(self, count: int) -> "Barrier":
        """Count `count` bytes as having arrived, in whatever order they and the expectation come.

        Raises: Misuse ("mbarrier-tx-mismatch") where the tx-count leaves its range. Source: §9.7.13.15.5.2.
        """
        return self._with_tx("complete-tx", count, self.tx_count - count)

    def is_complete(self, state: int) -> bool:
        """Whether the phase in which an arrival returned `state` is complete.

        Raises: Misuse where it is neither the current phase nor the one before it. Source: §9.7.13.15.16.
        """
        age = (self.phase - Barrier.of(state).phase) % _PHASES
        if age > 1:
            message = "the state tested is neither of the mbarrier's current phase nor of the one before it"
            raise Misuse("barrier-divergence", message)
        return age == 1

    def is_parity_complete(self, parity: int) -> bool:
        """Whether the phase of this parity, the current one or the one before it, is complete.

        Raises: Misuse where the parity is neither 0 nor 1. Source: §9.7.13.15.16.
        """
        if parity not in (0, 1):
            raise Misuse("barrier-divergence", f"phaseParity {parity} of an mbarrier test is neither 0 nor 1")
        return parity != self.parity

    def mismatch(self, at_end: bool = False) -> str | None:
        """The mismatch of the bytes of the current phase once no copy is under way, None where they do.

        All have arrived, so that no arrival can expect more, and yet the tx-count is not 0: the phase cannot complete.
        `at_end`, when the CTA has exited, nothing can change the count any more, whoever has arrived.
        """
        if not self.tx_count or (self.pending and not at_end):
            return None
        if self.tx_count > 0:
            return f"{self.tx_count} bytes more are expected than copies bring"
        return f"copies bring {-self.tx_count} bytes more than are expected"

    def _with_tx(self, operation: str, count: int, tx_count: int) -> "Barrier":
        if not 0 <= count <= MAXIMUM_COUNT:
            raise Misuse("mbarrier-tx-mismatch", f"{operation} of {count} bytes is not within 0 … {MAXIMUM_COUNT}")
        if abs(tx_count) > MAXIMUM_COUNT:
            message = f"{operation} of {count} bytes makes the tx-count {tx_count}, beyond ±{MAXIMUM_COUNT}"
            raise Misuse("mbarrier-tx-mismatch", message)
        return replace(self, tx_count=tx_count)._completed()

    def _completed(self) -> "Barrier":
        """The object in its next phase where the current one is complete. Source: §9.7.13.15.6."""
        if self.pending or self.tx_count:
            return self
        return replace(self, pending=self.expected, phase=(self.phase + 1) % _PHASES)


def pending_count(state: int) -> int:
    """The pending arrivals in the state that an arrival returned (`mbarrier.pending_count`).

    Raises: Misuse where the state is of no mbarrier. Source: §9.7.13.15.17.
    """
    return Barrier.of(state).pending


def _require_count(operation: str, count: int) -> None:
    if not 1 <= count <= MAXIMUM_COUNT:
        raise Misuse("barrier-divergence", f"count {count} of {operation} is not within 1 … {MAXIMUM_COUNT}")


def _arrivals(count: int) -> str:
    return "1 arrival" if count == 1 else f"{count} arrivals"
