"""mbarriers: a phase ends when all arrivals have come, and all bytes that they expect; then the next begins."""

from dataclasses import dataclass, field

from tinyc.executors.gpu.memory import KernelFault


@dataclass(eq=False)
class Mbarrier:
    """One mbarrier; `made` is the event that it was made.

    `pending` and `missing_bytes` are what its phase, number `phase`, waits for; bytes may come before they are
    expected. `told` are the events that those who have arrived in this phase know of, `known` those of phases before.
    """

    name: str
    arrivals: int
    made: int
    phase: int = 0
    pending: int = 0
    missing_bytes: int = 0
    told: set[int] = field(default_factory=set[int])
    known: set[int] = field(default_factory=set[int])

    def __post_init__(self) -> None:
        self.pending = self.arrivals

    def arrive(self, count: int, events: set[int], expected_bytes: int = 0) -> None:
        """Arrive `count` times, telling `events`; the phase then waits for so many bytes, too.

        Raises:
            KernelFault: more arrive than it counts.
        """
        if count > self.pending:
            raise KernelFault(f"{count} arrive at {self.name}, whose phase {self.phase} waits for {self.pending} only")
        self.pending -= count
        self.missing_bytes += expected_bytes
        self.told |= events
        self._advance()

    def bring(self, count: int, event: int) -> None:
        """Count bytes that a copy has brought."""
        self.missing_bytes -= count
        self.told.add(event)
        self._advance()

    def has_ended(self, parity: int) -> bool:
        """Whether the phase of that parity, this one or the last, has ended."""
        return self.phase % 2 != parity

    @property
    def missing(self) -> str:
        """What its phase waits for."""
        return (
            f"phase {self.phase}: {self.pending} of {self.arrivals} arrivals and {self.missing_bytes} bytes are missing"
        )

    def _advance(self) -> None:
        if self.pending == 0 and self.missing_bytes == 0:
            self.known |= self.told
            self.told = set()
            self.phase, self.pending = self.phase + 1, self.arrivals
