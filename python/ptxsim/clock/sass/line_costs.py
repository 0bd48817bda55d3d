"""What each line of a kernel's PTX costs, and the straight runs that it comes from: the data that the clock reads.

In: what the other files of the folder find. Out: `KernelCost`, frozen. Costs are of one execution of a line by one
warp: issue slots (SASS instructions), stall cycles (how long they keep their warp from issuing), slots by pipe.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ptxsim.clock.sass.listing import SassInstruction
from ptxsim.clock.sass.pipes import Pipe
from ptxsim.clock.sass.resources import PtxasWarning, ResourceUse


@dataclass(frozen=True)
class TensorWork:
    """Tensor instructions of a line: the SASS name, (m, n, k) if it is known, and how many for one execution."""

    name: str
    shape: tuple[int, int, int] | None
    count: float


@dataclass(frozen=True)
class ScoreboardWait:
    """A wait for what `line` has started: until its result is there, or (`operands`) until its operands are read."""

    line: int
    operands: bool


@dataclass(frozen=True)
class LineCost:
    """The cost of a line: totals over `copies` executions, as the SASS has them; the properties are of one execution.

    `sequence` are the instructions of the first copy, in order, with their stalls and scoreboards; what serves several
    copies (the set-up of addresses, a load merged over them) stands there whole. `waits` are what it
    waits for, `scoreboarded` says that its result comes through a scoreboard; else `latency_cycles` from the issue of
    its last instruction to a use, None where nothing is computed or nothing is known. `slots_between` are the bounds of
    `slots`: equal, but for an estimate.
    """

    line: int
    copies: int
    slots_total: float
    stall_total: float
    pipe_totals: Mapping[Pipe, float]
    tensor: tuple[TensorWork, ...] = ()
    sequence: tuple[SassInstruction, ...] = ()
    scoreboarded: bool = False
    waits: tuple[ScoreboardWait, ...] = ()
    latency_cycles: int | None = None
    bounds: tuple[float, float] | None = None

    @property
    def slots(self) -> float:
        """Issue slots of one execution."""
        return self.slots_total / self.copies

    @property
    def stall_cycles(self) -> float:
        """Cycles of one execution until the warp's next instruction may issue, where nothing else holds it up."""
        return self.stall_total / self.copies

    @property
    def pipes(self) -> dict[Pipe, float]:
        """Issue slots of one execution by pipe."""
        return {pipe: total / self.copies for pipe, total in self.pipe_totals.items()}

    @property
    def slots_between(self) -> tuple[float, float]:
        """The least and the most that `slots` may be."""
        return self.bounds or (self.slots, self.slots)


@dataclass(frozen=True)
class RunVariant:
    """A run in one place of the SASS: a loop or its unrolled copies, a remainder, a peeled round.

    `instructions`, all that is charged to the run there, execute it `copies` times. `loop` is the first block of the
    innermost loop of the SASS around it, None outside of loops; `costs` are those of its lines there.
    """

    run: int
    copies: int
    loop: int | None
    depth: int
    function: str
    blocks: tuple[int, ...]
    instructions: tuple[SassInstruction, ...]
    costs: Mapping[int, LineCost]


@dataclass(frozen=True)
class RunCost:
    """A straight run of the PTX: its lines, the copies that ptxas has made of it, and where they are.

    `variants` starts with the one that a long loop spends its time in: the most copies.
    """

    number: int
    lines: tuple[int, ...]
    copies: int
    variants: tuple[RunVariant, ...]


@dataclass(frozen=True)
class UnchargedSass:
    """SASS of no line: `reason` is "slow path" (ptxas' own functions), "padding" or "no line"; totals of the kernel."""

    reason: str
    slots: int
    stall_cycles: int


@dataclass(frozen=True)
class KernelCost:
    """The cost of a kernel's lines for an architecture. `estimate` says why it is one, "" where it is from SASS.

    `lines` are averages over all copies of a run, `hot` over those of the first variant of each run (and variants that
    complete it), for loops of many rounds. A line that is not in it costs nothing. `moved` counts the instructions that
    stand where another run is at home, and are charged to it.
    """

    entry: str
    arch: str
    ptxas_version: str
    instructions: tuple[SassInstruction, ...]
    lines: Mapping[int, LineCost]
    hot: Mapping[int, LineCost]
    runs: tuple[RunCost, ...]
    uncharged: tuple[UnchargedSass, ...]
    moved: int
    resources: ResourceUse | None
    warnings: tuple[PtxasWarning, ...] = ()
    estimate: str = ""
    run_of: Mapping[int, int] = field(default_factory=dict)

    @property
    def slots(self) -> float:
        """All instructions of the kernel: copies times cost, over all lines, and what is charged to none."""
        return sum(each.slots_total for each in self.lines.values()) + sum(each.slots for each in self.uncharged)

    @property
    def stall_cycles(self) -> float:
        """The same sum of stall cycles."""
        charged = sum(each.stall_total for each in self.lines.values())
        return charged + sum(each.stall_cycles for each in self.uncharged)
