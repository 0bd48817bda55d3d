"""What a launch on the simulator found and counted: frozen data, printed by whoever asked for the launch.

In: findings and tallies of the engine. Out: `Report`. A finding is a defect of the kernel (or of its launch); the
counters say what the kernel did, whatever a GPU would make of it.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from ptxsim.counters import Counters

#: Check → the kinds of findings that it makes.
KINDS = {
    "bounds": ("out-of-bounds", "misaligned"),
    "uninitialized": ("uninitialized",),
    "races": ("race", "proxy-fence-missing", "async-in-flight", "wgmma-in-flight", "wgmma-fence-missing"),
    "barriers": ("barrier-divergence", "mbarrier-tx-mismatch", "deadlock"),
}
#: Findings that no check turns off: the kernel has aborted itself.
ALWAYS = ("trap",)
#: Check → the kinds of warnings that it makes, beside its findings: a launch is fine with them.
WARNINGS = {"uninitialized": ("unset-variable",)}
#: Check that is on only where it is asked for: equal stores of several threads to one word are races, too.
SAME_VALUE = "same-value"


class Thread(NamedTuple):
    """A thread of a launch: the index of its CTA in the grid and its index in the CTA, (x, y, z) each."""

    cta: tuple[int, int, int]
    thread: tuple[int, int, int]

    def __str__(self) -> str:
        return f"thread {self.thread} of CTA {self.cta}"


class Counterpart(NamedTuple):
    """The other side of a finding (an access, a barrier): its line, its source where the PTX says it, its thread."""

    line: int
    source: str | None
    thread: Thread

    def __str__(self) -> str:
        return f"line {self.line}" + (f" ({self.source})" if self.source else "") + f" by {self.thread}"


@dataclass(frozen=True)
class Finding:
    """One defect: `kind` is one of `KINDS`, `line` that of the PTX text, `address` as the instruction named it.

    `threads` are those of the first time (16 of them at most), `occurrences` counts all lanes over the whole launch,
    `source` is the place in the program that the PTX was compiled from, where the PTX says it, with the calls that it
    was inlined at. `others` are, where a finding has two sides, the other ones: for each line (8 of them at most) the
    thread of the first time. `variable` is what the address is called: "tile+128", "4 bytes
    before array 'x'".
    """

    kind: str
    message: str
    line: int
    threads: tuple[Thread, ...] = ()
    address: int | None = None
    source: str | None = None
    occurrences: int = 1
    variable: str | None = None
    others: tuple[Counterpart, ...] = ()

    def __str__(self) -> str:
        place = f"line {self.line}" + (f" ({self.source})" if self.source else "")
        who = f", by {self.threads[0]}" if self.threads else ""
        more = f" {self.more_than(1)}" if self.threads and self.occurrences > 1 else ""
        where = f", address {self.address:#x}" if self.address is not None else ""
        where += f" = {self.variable}" if self.variable else ""
        others = "; the other: " + "; ".join(map(str, self.others)) if self.others else ""
        return f"{place}: {self.kind}: {self.message}{where}{who}{more}{others}"

    def more_than(self, named: int) -> str:
        """How often it happened beside the `named` times that are told: "and 988 more times"."""
        more = self.occurrences - named
        return f"and {more} more time{'s' * (more != 1)}"


@dataclass(frozen=True)
class Report:
    """The result of a launch; `ok` says that nothing was found.

    `addresses` says, by the number of the argument, where its array lay in global memory; `ignored` counts the findings
    that the launch was told to ignore. `warnings` are what may be meant as it is, and
    `printed` is what `printf` has printed.
    """

    findings: list[Finding]
    counters: Counters
    addresses: dict[int, int] = field(default_factory=dict)
    ignored: int = 0
    warnings: list[Finding] = field(default_factory=list)
    printed: str = ""

    @property
    def ok(self) -> bool:
        """Whether there are no findings."""
        return not self.findings

    def __str__(self) -> str:
        return "\n".join(str(finding) for finding in self.findings) or "no findings"
