"""What a launch on the simulator found and counted: frozen data, printed by whoever asked for the launch.

In: findings and tallies of the engine. Out: `Report`. A finding is a defect of the kernel (or of its launch); the
counters say what the kernel did, whatever a GPU would make of it.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from tinyc.simulator.tables import counter_tables

#: Check → the kinds of findings that it makes.
KINDS = {
    "bounds": ("out-of-bounds", "misaligned"),
    "uninitialized": ("uninitialized",),
    "races": ("race", "proxy-fence-missing", "async-in-flight", "wgmma-in-flight", "wgmma-fence-missing"),
    "barriers": ("barrier-divergence", "mbarrier-tx-mismatch", "deadlock"),
}
#: Findings that no check turns off: the kernel has aborted itself.
ALWAYS = ("trap",)
#: Check that is on only where it is asked for: equal stores of several threads to one word are races, too.
SAME_VALUE = "same-value"


class Thread(NamedTuple):
    """A thread of a launch: the index of its CTA in the grid and its index in the CTA, (x, y, z) each."""

    cta: tuple[int, int, int]
    thread: tuple[int, int, int]

    def __str__(self) -> str:
        return f"thread {self.thread} of CTA {self.cta}"


@dataclass(frozen=True)
class Finding:
    """One defect: `kind` is one of `KINDS`, `line` that of the PTX text, `address` as the instruction named it.

    `threads` are those of the first time (16 of them at most), `occurrences` counts all lanes over the whole launch,
    `source` is the place in the program that the PTX was compiled from, where the PTX says it, with the calls that it
    was inlined at. `variable` is what an address of shared memory is called: "tile+128".
    """

    kind: str
    message: str
    line: int
    threads: tuple[Thread, ...] = ()
    address: int | None = None
    source: str | None = None
    occurrences: int = 1
    variable: str | None = None

    def __str__(self) -> str:
        place = f"line {self.line}" + (f" ({self.source})" if self.source else "")
        who = f", by {self.threads[0]}" if self.threads else ""
        more = f" and {self.occurrences - 1} more" if self.threads and self.occurrences > 1 else ""
        where = f", address {self.address:#x}" if self.address is not None else ""
        where += f" = {self.variable}" if self.variable else ""
        return f"{place}: {self.kind}: {self.message}{where}{who}{more}"


@dataclass(frozen=True)
class LineCount:
    """Requests (warp-instructions with an access) of one PTX line, and the units that the hardware splits them into.

    Units are 32-byte sectors for global memory and passes through the 32 banks for shared memory. `fewest` is how many
    units the same accesses could do with: side by side in global memory, without conflicts in shared memory (one pass a
    request, two or four for 8- or 16-byte accesses).
    """

    opcode: str
    requests: int
    units: int
    fewest: int


@dataclass(frozen=True)
class Counters:
    """What a launch did.

    `instructions` counts warp-instructions by opcode, `read` and `written` bytes by (space, bytes of one lane's
    access), `sectors` and `passes` are by PTX line; `bank_conflicts` counts, by line, the passes that a layout without
    conflicts would have saved. `barriers` counts completed barriers of CTAs, and `fences` executed fences by name.
    """

    instructions: Counter[str] = field(default_factory=Counter)
    read: Counter[tuple[str, int]] = field(default_factory=Counter)
    written: Counter[tuple[str, int]] = field(default_factory=Counter)
    sectors: dict[int, LineCount] = field(default_factory=dict)
    passes: dict[int, LineCount] = field(default_factory=dict)
    bank_conflicts: Counter[int] = field(default_factory=Counter)
    barriers: int = 0
    fences: Counter[str] = field(default_factory=Counter)

    @property
    def bytes(self) -> Counter[str]:
        """Bytes read and written, by space."""
        total: Counter[str] = Counter()
        for (space, _), count in (*self.read.items(), *self.written.items()):
            total[space] += count
        return total

    @property
    def warp_instructions(self) -> int:
        """How many instructions the warps of the launch executed."""
        return self.instructions.total()

    def __str__(self) -> str:
        return "\n\n".join(str(table) for table in counter_tables(self))


@dataclass(frozen=True)
class Report:
    """The result of a launch; `ok` says that nothing was found.

    `addresses` says, by the number of the argument, where its array lay in global memory; `ignored` counts the findings
    that the launch was told to ignore.
    """

    findings: list[Finding]
    counters: Counters
    addresses: dict[int, int] = field(default_factory=dict)
    ignored: int = 0

    @property
    def ok(self) -> bool:
        """Whether there are no findings."""
        return not self.findings

    def __str__(self) -> str:
        return "\n".join(str(finding) for finding in self.findings) or "no findings"
