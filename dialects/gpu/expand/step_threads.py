"""Which steps the threads of a CTA compute, and which part of one each: along x or along y they share a step.

Where they are along x, a step's elements lie beside each other: a thread takes `width` neighbours of each turn. Where
they are along y, steps lie beside each other: a thread takes part in `width` steps, and one element of each a turn.
"""

import contextlib
import functools
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

from tinyc.analysis.poly_core.fused_loops import Phase
from tinyc.codegen.elements import IndexValues
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.loop_steps import LoopSteps
from tinyc.dialects.gpu.expand.threads import comment
from tinyc.dialects.gpu.expand.vector_elements import Inside
from tinyc.dialects.gpu.statements import ReduceRowsOp, ScanRowsOp
from tinyc.expr import extents
from tinyc.expr.axes import AxisExpr, constant
from tinyc.expr.extents import Dim
from tinyc.mlir import arith, gpu, ir


@dataclass
class Turn:
    """One turn of a thread along the inner axes of a phase: the indices of its run, and which of it is inside."""

    turn: ir.Value
    counter: ir.Value
    indices: list[IndexValues]
    inside: Inside | None


class StepThreads:
    """The steps that a thread takes part in; `totals` is how many of them at a time."""

    def __init__(self, expansion: Expansion, op: ReduceRowsOp | ScanRowsOp, steps: LoopSteps, unrolled: bool) -> None:
        self.elements, self.steps, self.threads = expansion.elements, steps, expansion.threads
        self.counters = self.elements.counters
        self.width, self.unrolled, self._name = op.width.value, unrolled, op.operation.name.rpartition(".")[2]
        self.in_rows = op.lanes.value == "x"
        x, y, _ = self.threads.cta_shape
        self.lane_count, self.group_count = (x, y) if self.in_rows else (y, x)
        lane, group = (self.threads.x, self.threads.y) if self.in_rows else (self.threads.y, self.threads.x)
        self.lane, self.group = lane, group
        self._at_lane = self.counters.counter(lane, self.lane_count)
        self._at_group = self.counters.counter(group, self.group_count)
        self.totals = 1 if self.in_rows else self.width
        self.is_there: ir.Value | None = None  # whether the steps that are computed now are not beyond the last one
        self._at_step = constant(0)
        self._beside = self.group  # what tells the steps of a thread from those beside them
        self.places: list[IndexValues] = []

    @contextlib.contextmanager
    def all_steps(self) -> Generator[None]:
        """Emit the loop in which the CTAs of the grid share the steps.

        Threads beyond the last step go along, for shuffles and barriers are all threads', and access nothing.
        """
        runs = extents.floordiv(self.steps.found.loops.steps, self.totals)
        block, grid = gpu.block_id(gpu.Dimension.x), gpu.grid_dim(gpu.Dimension.x)
        with self.elements.loop(block, extents.ceildiv(runs, self.group_count), grid) as number:
            comment(f"{self._name}: {self.lane_count} threads for each step")
            run = self.counters.expression(number) * self.group_count + self._at_group
            if extents.divide(runs, self.group_count) is None:
                at = self.counters.value(run)
                self.is_there = self.elements.within(at, runs)
                self._beside = arith.minsi(at, self.elements.extent(runs - 1))
                run = self.counters.counter(self._beside, runs)
            self._at_step = at = run * self.totals
            steps = [self.counters.value(at + lane) for lane in range(self.totals)]
            self.places = [self.elements.delinearized(step, self.steps.extents) for step in steps]
            yield

    def turns(self, phase: Phase) -> Dim:
        """How often a thread takes elements of a phase."""
        return extents.ceildiv(self._size(phase) + (self.width - 1 if self._is_shifted(phase) else 0), self._share)

    def _is_shifted(self, phase: Phase) -> bool:
        """Whether runs are aligned in memory and steps are not: a run begins before its step, by less than `width`."""
        is_odd = extents.divide(self._size(phase), self.width) is None
        return self.in_rows and (is_odd or not self.counters.is_multiple(self._beginning(phase), self.width))

    def _beginning(self, phase: Phase) -> AxisExpr:
        """Where in memory the elements of a phase begin in the step that is computed now, as a number of elements.

        It counts by what runs are aligned to: of several buffers that begin differently, the most have a say.
        """
        votes: Counter[AxisExpr] = Counter()
        for address in self.steps.beginnings(phase, self.places[0]):
            votes[self.counters.divided(address, self.width)[1]] += 1
        return votes.most_common(1)[0][0] if votes else self.counters.scaled(self._at_step, self._size(phase))

    def folded(
        self,
        phase: Phase,
        start: Sequence[ir.Value],
        step: Callable[[Turn, list[ir.Value]], list[ir.Value]],
        reverse: bool = False,
    ) -> list[ir.Value]:
        """Emit the turns of a phase, which carry values from `start` by `step(turn, values)`; return the last ones."""
        turns, values = self.turns(phase), list(start)
        if self.unrolled and isinstance(turns, int):
            for number in range(turns):
                values = step(self.turn(phase, self.elements.index(number), number, reverse), values)
            return values
        return self.elements.carried(
            [turns], values, lambda at, so_far: step(self.turn(phase, at[0], None, reverse), so_far)
        )

    @property
    def _share(self) -> int:
        """How many elements of a step its threads take in a turn."""
        return self.lane_count * (self.width if self.in_rows else 1)

    def _size(self, phase: Phase) -> Dim:
        return extents.product(self._shape(phase))

    def _shape(self, phase: Phase) -> tuple[Dim, ...]:
        """The extents of the axes inside of a step; what a scan runs over is not among them."""
        return phase.inner_extents if phase.scan_axis is not None else (*phase.inner_extents, *phase.reduced_extents)

    def turn(self, phase: Phase, turn: ir.Value, number: int | None = None, reverse: bool = False) -> Turn:
        """A turn of a phase, the one of that `number` if it is known; in `reverse`, the last elements come first."""
        at = self.counters.expression(turn) * self.lane_count + self._at_lane
        if reverse:
            at = constant(self.turns(phase) * self.lane_count - 1) - at
        shape = self._shape(phase)
        if not self.in_rows:
            places = [self._delinearized(at, shape)] * self.width
            indices = [self.steps.index(phase, each, place) for each, place in zip(self.places, places, strict=True)]
            return Turn(turn, self._beside, indices, self._inside(phase, turn, at, number))
        first = at * self.width
        if self._is_shifted(phase):
            first -= self.counters.divided(self._beginning(phase), self.width)[1]
            inside = self._shifted_inside(phase, turn, first)
        else:
            inside = self._inside(phase, turn, at, number)
        places = [self._delinearized(first + lane, shape) for lane in range(self.width)]
        return Turn(turn, self.lane, [self.steps.index(phase, self.places[0], place) for place in places], inside)

    def _inside(self, phase: Phase, turn: ir.Value, at: AxisExpr, number: int | None) -> Inside | None:
        """Whether a thread has something to take in a turn, where that is not known."""
        size = self._size(phase)
        whole = extents.divide(size, self._share) is not None
        if isinstance(size, int) and number is not None:
            whole = (number + 1) * self._share <= size
        runs = extents.floordiv(size, self._share // self.lane_count)
        conditions = [] if whole else [self.elements.within(self.counters.value(at), runs)]
        conditions += [] if self.is_there is None else [self.is_there]
        if not conditions:
            return None
        condition = functools.reduce(arith.andi, conditions)
        return Inside((condition,) * self.width, condition, None, (turn, self.lane), (at, None if whole else runs))

    def _shifted_inside(self, phase: Phase, turn: ir.Value, first: AxisExpr) -> Inside:
        """Which elements from `first` on are those of a step."""
        size, elements, counters = self._size(phase), self.elements, self.counters
        lanes = [elements.within(counters.value(first + lane), size) for lane in range(self.width)]
        some = arith.cmpi(arith.CmpIPredicate.slt, counters.value(first), elements.extent(size))
        if self.is_there is not None:
            lanes, some = [arith.andi(lane, self.is_there) for lane in lanes], arith.andi(some, self.is_there)
        return Inside(tuple(lanes), arith.andi(lanes[0], lanes[-1]), some, (turn, self.lane), (first, size))

    def _delinearized(self, linear: AxisExpr, shape: Sequence[Dim]) -> IndexValues:
        return self.elements.delinearized(self.counters.value(linear), shape)
