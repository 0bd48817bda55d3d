"""A team: the threads that do a statement together, and their way through a kernel.

A team of all threads of a CTA runs the kernel. At a `tgpu.warpgroups` teams of a warpgroup each go on beside it; it
waits for them in front of the next statement that is for all threads.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from tinyc.dialects.gpu.fragment_layout import WARPGROUP_THREADS
from tinyc.dialects.gpu.kernel import WARP_LANES, Position, axis_of
from tinyc.dialects.gpu.statements import WarpgroupsOp
from tinyc.dialects.gpu.statements.groups import GROUP_KINDS
from tinyc.executors.gpu.arithmetic import COMPUTE, DIVISIONS, constant_array
from tinyc.executors.gpu.memory import Array, KernelFault
from tinyc.executors.gpu.tiles.events import Groups, KnownEvents
from tinyc.executors.gpu.tiles.launch import TileLaunch
from tinyc.executors.gpu.tiles.mbarriers import Mbarrier
from tinyc.executors.gpu.tiles.schedule import CoroutineSteps, Running, Waiting
from tinyc.executors.gpu.tiles.stages import Stage
from tinyc.mlir import arith, gpu, ir, scf
from tinyc.mlir.bodies import END

#: What a value is: a number (an array of one element), accumulators, a fragment.
HeldTile: TypeAlias = Any
#: What does a statement: its results, or, where it waits, the steps that return them.
Executes: TypeAlias = Callable[["Team", Any], Sequence[HeldTile] | CoroutineSteps]


@dataclass(eq=False)
class Meeting:
    """A barrier: `came` of its threads are there, and what they know; `rounds` times all have come."""

    came: int = 0
    rounds: int = 0
    told: set[int] = field(default_factory=set[int])


@dataclass(eq=False)
class TileCluster:
    """The CTAs that run together, and all that runs in them."""

    launch: TileLaunch
    statements: Mapping[type[ir.OpView], Executes]
    ctas: list["TileCta"] = field(default_factory=list["TileCta"])
    running: list[Running] = field(default_factory=list[Running])
    meeting: Meeting = field(default_factory=Meeting)


@dataclass(eq=False)
class TileCta:
    """A CTA: where it is in the grid, and what is in its shared memory.

    `used_by_others` are the events that other CTAs of its cluster do there; it must not end before them.
    """

    cluster: TileCluster
    place: tuple[int, ...]
    rank: int
    stages: Mapping[ir.Value, list[Stage]]
    mbarriers: dict[ir.Value, list[Mbarrier]] = field(default_factory=dict[ir.Value, list[Mbarrier]])
    meetings: dict[int, Meeting] = field(default_factory=dict[int, Meeting])
    used_by_others: set[int] = field(default_factory=set[int])
    is_done: bool = False

    def end(self, known: set[int]) -> None:
        """End, where so much is known to have happened.

        Raises:
            KernelFault: others may still use its shared memory.
        """
        if not self.used_by_others <= known:
            raise KernelFault(f"CTA {self.rank} of its cluster ends while others may use its shared memory")
        self.is_done = True


class Team:
    """Threads that do statements together; `group` is the number of its warpgroup in its role."""

    def __init__(
        self, cta: TileCta, name: str, threads: int, values: Mapping[ir.Value, HeldTile], group: int | None
    ) -> None:
        self.cta, self.name, self.threads, self.group = cta, name, threads, group
        self.values = dict(values)
        self.known = KnownEvents(is_one_thread=threads == 1)
        self.groups = {kind: Groups(kind) for kind in GROUP_KINDS}
        self.children: list[Team] = []
        self.is_done = False
        self.steps: CoroutineSteps = self.run(cta.cluster.launch.kernel.block)

    @property
    def launch(self) -> TileLaunch:
        """The launch that it is part of."""
        return self.cta.cluster.launch

    @property
    def warps(self) -> int:
        """How many warps it has, or has threads of."""
        return -(-self.threads // WARP_LANES)

    def new_event(self) -> int:
        """The token of something that happens."""
        return self.launch.events.new()

    def done_by_threads(self) -> int:
        """The token of something that its threads do now, each a share of it."""
        event = self.new_event()
        self.known.note([event])
        return event

    def done_by_lanes(self) -> int:
        """The same, where no lane of a warp knows yet that the others have done theirs."""
        event = self.new_event()
        self.known.of_lanes.add(event)
        return event

    def _number(self, value: ir.Value) -> Array:
        return self.values[value]

    def number(self, value: ir.Value) -> int:
        """A number."""
        return int(self.values[value][0])

    def stage(self, tiles: ir.Value, stage: ir.Value) -> Stage:
        """A stage of its CTA.

        Raises:
            KernelFault: there is none of that number.
        """
        return _of_number(self.cta.stages[tiles], self.number(stage), "stage")

    # --- control flow -------------------------------------------------------------------------------------------------

    def run(self, block: ir.Block) -> CoroutineSteps:
        """Run a block to the end, the teams that it starts included."""
        yield from self._block(block)
        yield from self._joined()
        for groups in self.groups.values():
            groups.require_none(self.name)
        self.is_done = True
        return []

    def _block(self, block: ir.Block) -> CoroutineSteps:
        for op in block.operations:
            if isinstance(op, scf.YieldOp | gpu.ReturnOp) or op.operation.name == END:
                return [self.values[each] for each in op.operands]
            if isinstance(op, WarpgroupsOp):
                self._start(op)
                continue
            given = yield from self._op(op)
            self.values.update(zip(op.results, given, strict=True))
        return []

    def _op(self, op: ir.OpView) -> CoroutineSteps:
        if isinstance(op, arith.ConstantOp):
            return [constant_array(op)]
        if type(op) in COMPUTE:
            return self._compute(op)
        if isinstance(op, Position):
            return [np.full(1, self._position(op), np.int64)]
        yield from self._joined()
        if isinstance(op, scf.ForOp):
            return (yield from self._for(op))
        if isinstance(op, scf.IfOp):
            taken = op.regions[0 if self.values[op.condition][0] else 1].blocks
            return (yield from self._block(taken[0])) if len(taken) else []
        if isinstance(op, gpu.BarrierOp):
            if self.group is not None:
                raise KernelFault(f"{self.name} is at a 'gpu.barrier', which not all threads of the CTA come to")
            self.known.share()
            return []
        execute = self.cta.cluster.statements.get(type(op))
        if execute is None:
            raise KernelFault(f"'{op.operation.name}' is no statement over tiles")
        given = execute(self, op)
        return given if isinstance(given, Sequence) else (yield from given)

    def _compute(self, op: ir.OpView) -> Sequence[Array]:
        operands = [self._number(operand) for operand in op.operands]
        if isinstance(op, DIVISIONS) and operands[1][0] == 0:
            raise KernelFault("a division by zero")
        results = COMPUTE[type(op)](op, *operands)
        return results if isinstance(results, tuple) else [results]

    def _position(self, op: Position) -> int:
        sizes: dict[type[ir.OpView], Sequence[int]] = {
            gpu.BlockIdOp: self.cta.place,
            gpu.GridDimOp: self.launch.grid,
            gpu.BlockDimOp: self.launch.kernel.cta_shape,
        }
        if type(op) not in sizes:
            raise KernelFault(f"'{op.operation.name}' is of one thread, and statements are of all")
        return sizes[type(op)]["xyz".index(axis_of(op))]

    def _for(self, op: scf.ForOp) -> CoroutineSteps:
        index, high, step = (self._number(each) for each in (op.lowerBound, op.upperBound, op.step))
        carried: Sequence[HeldTile] = [self.values[each] for each in op.initArgs]
        while index[0] < high[0]:
            self.values.update(zip(op.body.arguments, [index, *carried], strict=True))
            carried = yield from self._block(op.body)
            index = index + step
        return carried

    def _start(self, op: WarpgroupsOp) -> None:
        """Start the teams of a role."""
        for group in range(op.count.value):
            name = f"warpgroup {op.first.value + group} of {self.name}"
            threads = 1 if op.one_thread.value else WARPGROUP_THREADS
            team = Team(self.cta, name, threads, self.values, group)
            team.values[op.body_block.arguments[0]] = np.full(1, group, np.int64)
            team.known.learn(self.known.of_all)
            team.known.note(self.known.of_some)
            team.steps = team.run(op.body_block)
            self.children.append(team)
            self.cta.cluster.running.append(team)

    def _joined(self) -> CoroutineSteps:
        """Wait for the teams that it has started, one of which knows what they have done."""
        if not self.children:
            return []
        yield Waiting(lambda: all(each.is_done for each in self.children), lambda: "for its warpgroups")
        for each in self.children:
            self.known.note(each.known.handed_on)
        self.children = []
        return []


def _of_number(found: list[Any], number: int, what: str) -> Any:
    if not 0 <= number < len(found):
        raise KernelFault(f"{what} {number} is used, and there are {len(found)}")
    return found[number]


def mbarrier_of(team: Team, barriers: ir.Value, stage: ir.Value, cta: TileCta | None = None) -> Mbarrier:
    """The mbarrier of a stage, of the team's CTA or of another one in the cluster.

    Raises:
        KernelFault: the team does not know that it has been made, or the other CTA may have ended.
    """
    there = team.cta if cta is None else cta
    if there.is_done:
        raise KernelFault(f"{team.name} uses shared memory of a CTA of its cluster that has ended")
    if barriers not in there.mbarriers:
        raise KernelFault(f"{team.name} uses mbarriers of another CTA before they are made")
    barrier: Mbarrier = _of_number(there.mbarriers[barriers], team.number(stage), "mbarrier")
    if barrier.made not in team.known.of_all:
        raise KernelFault(f"{team.name} uses {barrier.name} without a barrier behind its 'tgpu.mbarrier_init'")
    return barrier
